//! Two engines, a witness that looks at the store after every step, and the models of all conversations.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use epitome::settings::{DesignSettings, Settings};
use epitome::{Message, PresetName};
use epitome_store::{ChangeKind, ConversationId, Conversations, Housekeeping, Leases, TenantId};
use epitome_testkit::stores;
use epitome_wire::Wire;

use super::lease::{Lease, Turn};
use super::model::{Happened, Model, Seen};
use super::perform::{NOBODY_ASKED, next_message, perform, possible};
use super::process::{Host, LEASE_MS, Making, Process, at_most};
use super::{Act, Op};

const ENGINES: usize = 2;
const MOST_CONVERSATIONS: usize = 3;
const MESSAGES_AT_FIRST: usize = 7;

/// A preset whose lines lie inside a window of 3,000 tokens.
fn settings(preset: PresetName) -> Settings {
    let mut settings = Settings::of(preset);
    // The model steps on while a summary is written.
    settings.common.wait = false;
    match &mut settings.design {
        DesignSettings::Default(_) | DesignSettings::Table(_) => {}
        DesignSettings::Vibe(own) => own.auto_compact_threshold = 1_500,
        DesignSettings::Openclaw(own) => {
            own.reserve_tokens = 1_500;
            own.reserve_tokens_floor = 0;
            own.keep_recent_tokens = 600;
        }
        DesignSettings::Micro(own) => own.compaction_threshold_tokens = 1_500,
        DesignSettings::Spacebot(own) => {
            own.background_threshold = 0.5;
            own.aggressive_threshold = 0.6;
            own.emergency_threshold = 0.8;
        }
        DesignSettings::Layer(own) => {
            own.system_reserve = 100;
            own.output_reserve = 100;
            own.threshold_percent = 0.5;
        }
    }
    settings
}

/// What is expensive to make and is used by one case after the other.
pub(super) struct Hosts {
    location: String,
    idle: Vec<Host>,
    lives: usize,
    /// How often each kind of thing happened.
    pub(super) tally: BTreeMap<&'static str, usize>,
}

/// How far the clock of an engine is off. Where leases go by the clock of a server that changes nothing; engines on one file
/// are on one machine and have one clock.
fn skew_ms(life: usize) -> i64 {
    match (stores::kind(), life % 3) {
        (stores::Kind::Sqlite, _) | (_, 0) => 0,
        (stores::Kind::Postgres, 1) => 7_200_000,
        (stores::Kind::Postgres, _) => -7_200_000,
    }
}

impl Hosts {
    pub(super) fn new(location: String) -> Self {
        Self {
            location,
            idle: Vec::new(),
            lives: 0,
            tally: BTreeMap::new(),
        }
    }

    fn start(&mut self, making: &Making) -> Living {
        self.lives += 1;
        let host = self.idle.pop();
        let host = host.unwrap_or_else(|| Host::start(&self.location, self.lives));
        let holder = format!("engine {}", self.lives);
        Living {
            life: self.lives,
            process: Process::start(host, &holder, making, skew_ms(self.lives)),
        }
    }
}

struct Living {
    life: usize,
    process: Process,
}

struct Tracked {
    id: ConversationId,
    model: Model,
    lease: Lease,
}

pub(super) struct World<'a> {
    hosts: &'a mut Hosts,
    making: Making,
    witness: Process,
    engines: Vec<Living>,
    tracked: Vec<Tracked>,
    deleted: Vec<ConversationId>,
    messages_made: usize,
}

impl<'a> World<'a> {
    pub(super) fn new(hosts: &'a mut Hosts, preset: PresetName, wire: Wire) -> Self {
        let making = Making {
            settings: settings(preset),
            wire,
            now_ms: Arc::new(AtomicI64::new(1_000_000)),
        };
        let witness = hosts.start(&making).process;
        let mut engines: Vec<_> = (0..ENGINES).map(|_| hosts.start(&making)).collect();
        // All cases share the file, but no two share a name.
        let id = ConversationId::new(&format!("case-{}", hosts.lives)).unwrap();
        let process = &mut engines[0].process;
        let first = process.conversation(&id);
        let mut last = None;
        for number in 0..MESSAGES_AT_FIRST {
            let message = next_message(last.as_ref(), number, 8);
            process.run(first.push(&message)).unwrap();
            last = Some(message);
        }
        let seen = process.run(Seen::of(&first));
        Self {
            hosts,
            making,
            witness,
            engines,
            tracked: vec![Tracked {
                id,
                model: Model::new(seen),
                lease: Lease::Free,
            }],
            deleted: Vec::new(),
            messages_made: MESSAGES_AT_FIRST,
        }
    }

    /// Does one thing and compares everything with the model.
    pub(super) fn step(&mut self, op: &Op) {
        let at = op.conversation % self.tracked.len();
        match &op.act {
            Act::Wait => self.wait(),
            Act::Delete => self.delete(op.engine, at),
            Act::Fork(percent) => self.fork(op.engine, at, *percent),
            Act::Crash(act, waits) => self.crash(op.engine, at, act, *waits),
            // Whoever was asked answers.
            Act::Answer(_) => {
                let id = self.tracked[at].id.as_str();
                let is_asked = |who: &usize| self.engines[*who].process.pen.is_asked(id);
                let order = [op.engine, 1 - op.engine];
                let who = order.into_iter().find(is_asked).unwrap_or(op.engine);
                self.act(who, at, &op.act);
            }
            act => self.act(op.engine, at, act),
        }
    }

    /// Everything is still as the models say, and nobody is kept from working for good.
    pub(super) fn end(mut self) {
        self.wait();
        for at in 0..self.tracked.len() {
            self.compare(at, &[Happened::nothing()]);
            let id = self.tracked[at].id.clone();
            let granted = self.witness.run(self.ask_for_lease(&id));
            assert!(granted, "a job is stuck");
        }
        for id in &self.deleted {
            let store = self.witness.store();
            let found = self.witness.run(store.conversation(&TenantId::local(), id));
            assert_eq!(found.unwrap(), None, "what was deleted came back");
        }
        let engines = self.engines.into_iter().map(|one| one.process);
        for process in engines.chain([self.witness]) {
            self.hosts.idle.extend(process.retire());
        }
    }

    /// Every lease runs out, by whatever clock it goes.
    fn wait(&self) {
        self.making.now_ms.fetch_add(LEASE_MS, Ordering::Relaxed);
        stores::let_time_pass(&self.hosts.location, LEASE_MS);
    }

    fn act(&mut self, who: usize, at: usize, act: &Act) {
        let id = self.tracked[at].id.clone();
        let message = self.next_message(at, act);
        let Living { life, process } = &mut self.engines[who];
        let life = *life;
        let conversation = process.conversation(&id);
        let was_preparing = process.run(conversation.is_preparing());
        let wire = self.making.wire;
        let doing = perform(act, &conversation, &process.pen, &message, wire);
        let done = process.run(Box::pin(doing));
        if matches!(act, Act::Answer(_)) {
            if done.name == NOBODY_ASKED {
                return;
            }
            process.land(&conversation);
        }
        let is_preparing = process.run(conversation.is_preparing());
        if done.is_superseded {
            let own = process.run(Seen::without_log(&conversation));
            let stored = self.witness.open_anew(&id);
            let stored = self.witness.run(Seen::of(&stored));
            own.assert_same(&stored, "after somebody else wrote");
        }
        let changes = self.tracked[at].model.seen.log.len();
        self.compare(at, &done.allowed);
        let changes = self.tracked[at].model.seen.log[changes..].iter();
        let turn = Turn {
            life,
            was_preparing,
            is_preparing,
            is_compacted: changes
                .map(|one| one.0)
                .any(|kind| kind == ChangeKind::Compacted),
            is_superseded: done.is_superseded,
            now_ms: self.now_ms(),
            until_ms: self.now_ms() + LEASE_MS,
        };
        let lease = &mut self.tracked[at].lease;
        let is_taken_over = matches!(lease, Lease::Held { life: other, .. } if *other != life);
        *lease = lease.after(act, turn);
        self.tally(done.name);
        if is_taken_over && turn.is_preparing && !was_preparing {
            self.tally("taken over");
        }
        if turn.is_compacted && matches!(act, Act::Answer(_)) {
            self.tally("shown as soon as it was written");
        }
        if !matches!(act, Act::Push(_)) || done.is_superseded {
            self.probe_lease(at);
        }
    }

    fn fork(&mut self, who: usize, at: usize, percent: usize) {
        if self.tracked.len() >= MOST_CONVERSATIONS {
            return;
        }
        let id = self.tracked[at].id.clone();
        let process = &mut self.engines[who].process;
        let conversation = process.conversation(&id);
        let forked = process.run(Seen::without_log(&conversation));
        let entries = forked.entries.len() * percent / 100;
        let fork = process.run(conversation.fork(entries)).unwrap();
        process.keep(&fork);
        let seen = process.run(Seen::of(&fork));
        self.tracked.push(Tracked {
            id: fork.id().clone(),
            model: Model::fork(&forked, seen, entries),
            lease: Lease::Free,
        });
        self.compare(at, &[Happened::nothing()]);
        self.compare(self.tracked.len() - 1, &[Happened::nothing()]);
        self.tally("fork");
    }

    /// A conversation goes, whatever engines have of it in memory and are doing with it. One that others are put together
    /// from stays.
    fn delete(&mut self, who: usize, at: usize) {
        if self.tracked.len() < 2 {
            return;
        }
        let id = self.tracked[at].id.clone();
        let tenant = TenantId::local();
        let process = &self.engines[who].process;
        let deleting = process.store().delete_conversation(&tenant, &id, 1);
        match process.run(deleting) {
            Ok(Some(_)) => {}
            Err(epitome_store::Error::Forked { .. }) => {
                self.compare(at, &[Happened::nothing()]);
                return self.tally("kept for its forks");
            }
            other => panic!("{other:?}"),
        }
        let message = self.next_message(at, &Act::Delete);
        for Living { process, .. } in &mut self.engines {
            if let Some(held) = process.forget(&id) {
                let pushed = process.run(held.push(&message));
                assert!(pushed.is_err(), "it was deleted");
            }
        }
        self.tracked.remove(at);
        self.deleted.push(id);
        for at in 0..self.tracked.len() {
            self.compare(at, &[Happened::nothing()]);
        }
        self.tally("deleted");
    }

    /// The engine begins something and dies: before, after, or in the middle.
    fn crash(&mut self, who: usize, at: usize, act: &Act, waits: usize) {
        let id = self.tracked[at].id.clone();
        let message = self.next_message(at, act);
        let Living { life, mut process } = self.engines.remove(who);
        let conversation = process.conversation(&id);
        let wire = self.making.wire;
        process.run(async {
            let doing = perform(act, &conversation, &process.pen, &message, wire);
            let is_done = at_most(waits, Box::pin(doing)).await.is_some();
            if is_done && matches!(act, Act::Answer(_)) {
                // The work goes on a little way.
                for _ in 0..waits * 3 {
                    tokio::task::yield_now().await;
                }
            }
        });
        drop(conversation);
        process.crash();
        let next = self.hosts.start(&self.making);
        self.engines.insert(who, next);
        let lease = self.tracked[at].lease;
        self.tracked[at].lease = lease.after_crash(life, act, self.now_ms());
        self.compare(at, &possible(act, wire, &message));
        self.tally("crash");
    }

    fn next_message(&mut self, at: usize, act: &Act) -> Message {
        let kind = match act {
            Act::Push(kind) => *kind,
            _ => 0,
        };
        self.messages_made += 1;
        let messages = self.tracked[at].model.seen.session.messages();
        let last = messages.last().map(|last| &**last);
        next_message(last, self.messages_made, kind)
    }

    /// Reads the conversation as the store has it, and looks at it through every engine that has it open.
    fn compare(&mut self, at: usize, allowed: &[Happened]) {
        let id = self.tracked[at].id.clone();
        let stored = self.witness.open_anew(&id);
        let stored = self.witness.run(Seen::of(&stored));
        stored.assert_valid(self.making.wire);
        stored.assert_nothing_twice();
        for Living { process, .. } in &self.engines {
            let Some(own) = process.known(&id) else {
                continue;
            };
            let own = process.run(Seen::without_log(&own));
            assert!(stored.entries.starts_with(&own.entries), "never stored");
            if own.is_as_new_as(&stored) {
                own.assert_same(&stored, "put together again");
            } else {
                own.assert_valid(self.making.wire);
            }
        }
        self.tracked[at].model.go_on(stored, allowed);
    }

    /// What the model says about the lease is what the store says.
    fn probe_lease(&mut self, at: usize) {
        let Tracked { id, lease, .. } = &self.tracked[at];
        let (id, lease) = (id.clone(), *lease);
        let expected = match lease {
            Lease::Free => true,
            Lease::Held { until_ms, .. } if until_ms > self.now_ms() => false,
            _ => return,
        };
        let granted = self.witness.run(self.ask_for_lease(&id));
        assert_eq!(granted, expected, "{lease:?}");
    }

    async fn ask_for_lease(&self, id: &ConversationId) -> bool {
        let (tenant, now_ms) = (TenantId::local(), self.now_ms());
        let store = self.witness.store();
        let asked = store.acquire_lease(&tenant, id, "witness", now_ms, now_ms + 1);
        let fence = asked.await.unwrap();
        if let Some(fence) = fence {
            store.release_lease(&tenant, id, fence).await.unwrap();
        }
        fence.is_some()
    }

    fn now_ms(&self) -> i64 {
        self.making.now_ms.load(Ordering::Relaxed)
    }

    fn tally(&mut self, name: &'static str) {
        *self.hosts.tally.entry(name).or_default() += 1;
    }
}
