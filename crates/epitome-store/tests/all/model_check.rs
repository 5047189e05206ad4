//! Random interleavings of a few clients over one store, beside a sequential model of what it must do: after every step the
//! store answers as the model does.
//!
//! `EPITOME_CASES=200000` makes 10,000 runs of it. A failure says the seed of its run and all that was done in it.

#[path = "model_check/calls.rs"]
mod calls;
#[path = "model_check/model.rs"]
mod model;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use epitome_store::{
    AnyStore, Changes, Compactions, ConversationId, Conversations, Entries, Store as _, TenantId,
};
use epitome_testkit::{Random, cases, postgres};
use sqlx::PgPool;

use self::calls::{Call, HOUR_MS, PLACES, every_node};
use self::model::{Answer, Model};
use crate::fixtures::{conversation, entry, node, tenant};

/// Runs beside each other, each with a tenant of its own.
const TOGETHER: u32 = 4;

/// The latest moment at which a client dies in the middle of a call.
const LATEST_US: usize = 1_500;

/// Whose clock leases go by.
enum Clock {
    Callers,
    Servers { now_ms: i64, leases: PgPool },
}

impl Clock {
    /// What time it is for the store when a caller believes it to be `callers_ms`.
    fn at_ms(&self, callers_ms: i64) -> i64 {
        match self {
            Self::Callers => callers_ms,
            Self::Servers { now_ms, .. } => *now_ms,
        }
    }

    /// Two hours go by: setting a clock forward and moving every end back is the same.
    async fn pass(&mut self, tenant: &TenantId) {
        if let Self::Servers { now_ms, leases } = self {
            *now_ms += 2 * HOUR_MS;
            sqlx::query("UPDATE leases SET until_ms = until_ms - $1 WHERE tenant = $2")
                .bind(2 * HOUR_MS)
                .bind(tenant.as_str())
                .execute(&*leases)
                .await
                .unwrap();
        }
    }
}

/// One that knows of the others only through the store.
pub(crate) struct Client {
    name: String,
    store: AnyStore,
    /// By how much its clock is wrong, and what has gone by on it.
    clock_ms: i64,
    fences: BTreeMap<ConversationId, u64>,
}

impl Client {
    fn now_ms(&self, step: i64) -> i64 {
        self.clock_ms + step
    }

    /// Ends in the middle of a call, and begins again without its memory. What it was doing is done or undone then.
    async fn die(
        &mut self,
        location: &str,
        call: &Call,
        tenant: &TenantId,
        step: i64,
        moment: Duration,
    ) {
        let _ = tokio::time::timeout(moment, call.ask(&self.store, tenant, step)).await;
        self.store.close().await;
        self.fences.clear();
        self.store = AnyStore::open(location).await.unwrap();
    }
}

/// Whether all that a client can see is as the model says. `place` is looked at closely.
async fn agrees(
    store: &AnyStore,
    tenant: &TenantId,
    model: &Model,
    place: &str,
    tip: &str,
) -> Result<(), String> {
    let same = |what: &str, found: String, expected: String| match found == expected {
        true => Ok(()),
        false => Err(format!("{what}\n found    {found}\n expected {expected}")),
    };
    let id = conversation(place);
    let every = every_node();
    let mut found = store.find_nodes(tenant, &every).await.unwrap();
    found.sort_by_key(|node| node.digest);
    let expected: Vec<_> = model.nodes.values().cloned().collect();
    same("nodes", format!("{found:?}"), format!("{expected:?}"))?;
    let found = store.compactions_at(tenant, &every).await.unwrap();
    same(
        "in force",
        format!("{found:?}"),
        format!("{:?}", model.in_force()),
    )?;
    let found = store.compactions_of(tenant, &id).await.unwrap();
    same(
        "compactions",
        format!("{found:?}"),
        format!("{:?}", model.compactions_of(&id)),
    )?;
    let found = store.conversation(tenant, &id).await.unwrap();
    same(
        "conversation",
        format!("{found:?}"),
        format!("{:?}", model.listed(&id)),
    )?;
    let found = store.tip(tenant, &id).await.unwrap();
    same(
        "tip",
        format!("{found:?}"),
        format!("{:?}", model.tip(&id).cloned()),
    )?;
    let found = store.changes(tenant, &id).await.unwrap();
    let expected = model.changes.get(&id).cloned().unwrap_or_default();
    same("changes", format!("{found:?}"), format!("{expected:?}"))?;
    let found = store.history(tenant, node(tip)).await.unwrap();
    let expected = model.path(node(tip)).len();
    let expected: Vec<_> = (1..=expected).map(|length| entry(&tip[..length])).collect();
    same("history", format!("{found:?}"), format!("{expected:?}"))
}

struct Run<'a> {
    location: &'a str,
    tenant: TenantId,
    clock: Clock,
    clients: Vec<Client>,
    model: Model,
    random: Random,
    done: Vec<String>,
}

impl Run<'_> {
    async fn step(&mut self, step: i64) -> Result<(), String> {
        if self.random.chance(8) {
            self.pass().await;
        }
        let at = self.random.below(self.clients.len());
        let place = *self.random.pick(&PLACES);
        let tip: String = (0..self.random.between(1, 5))
            .map(|_| *self.random.pick(&["x", "y"]))
            .collect();
        let call = Call::any(&mut self.random, &self.clients[at], &self.model, step);
        self.done
            .push(format!("{} {call:?}", self.clients[at].name));
        let reader = self.clients[self.random.below(self.clients.len())]
            .store
            .clone();
        let mut after = self.model.clone();
        let expected = call.play(&mut after, &self.clock);
        if self.random.chance(4) {
            let moment = Duration::from_micros(self.random.below(LATEST_US) as u64);
            self.clients[at]
                .die(self.location, &call, &self.tenant, step, moment)
                .await;
            self.done.push("and dies".to_owned());
            return self.as_one_of(after, &call, step).await;
        }
        let found = call.ask(&self.clients[at].store, &self.tenant, step).await;
        if found != expected {
            return Err(format!("answered {found:?}, expected {expected:?}"));
        }
        if let (Call::Acquire(id, ..), Answer::Fence(Some(fence))) = (&call, found) {
            self.clients[at].fences.insert(id.clone(), fence);
        }
        self.model = after;
        agrees(&reader, &self.tenant, &self.model, place, &tip).await
    }

    /// Nobody knows whether the last words of the dead were heard: as a whole, or not at all.
    async fn as_one_of(&mut self, after: Model, call: &Call, step: i64) -> Result<(), String> {
        let store = self.clients[0].store.clone();
        let before = self.model.clone();
        let mut asked = None;
        // A lease cannot be looked at, so somebody else asks for it; and all of them end, because nobody sees until when.
        if let Call::Acquire(id, ..) | Call::Renew(id, ..) | Call::Release(id, _) = call {
            let now_ms = self.clients[0].clock_ms;
            let coroner = Call::Acquire(id.clone(), "coroner".to_owned(), now_ms, now_ms);
            let found = coroner.ask(&store, &self.tenant, step).await;
            asked = Some((coroner, found));
        }
        let mut reasons = Vec::new();
        for mut model in [after, before] {
            if let Some((coroner, found)) = &asked
                && coroner.play(&mut model, &self.clock) != *found
            {
                reasons.push(format!("the lease: {found:?}"));
                continue;
            }
            let mut seen = Ok(());
            for place in PLACES {
                seen = seen.and(agrees(&store, &self.tenant, &model, place, "x").await);
            }
            match seen {
                Err(reason) => reasons.push(reason),
                Ok(()) => {
                    self.model = model;
                    return self.after_a_death(asked.is_some(), call, step).await;
                }
            }
        }
        let reasons = reasons.join("\n");
        Err(format!("neither as before nor as after: {reasons}"))
    }

    /// What cannot be seen is made certain: leases end, and what was sent is sent again, because marks of what was deleted
    /// cannot be looked at either.
    async fn after_a_death(&mut self, leases: bool, call: &Call, step: i64) -> Result<(), String> {
        if leases {
            self.pass().await;
        }
        if !matches!(call, Call::Push(_) | Call::Commit(..)) {
            return Ok(());
        }
        let expected = call.play(&mut self.model, &self.clock);
        let found = call.ask(&self.clients[0].store, &self.tenant, step).await;
        match found == expected {
            true => Ok(()),
            false => Err(format!("again: answered {found:?}, expected {expected:?}")),
        }
    }

    async fn pass(&mut self) {
        self.done.push("two hours go by".to_owned());
        self.clock.pass(&self.tenant).await;
        let clients = self.clients.iter_mut();
        clients.for_each(|one| one.clock_ms += 2 * HOUR_MS);
    }
}

async fn run(location: &str, seed: u64, servers_clock: Option<PgPool>) {
    let mut random = Random::new(seed);
    let mut clients = Vec::new();
    for number in 0..random.between(2, 3) {
        clients.push(Client {
            name: format!("client {number}"),
            store: AnyStore::open(location).await.unwrap(),
            clock_ms: random.below(3_600_000) as i64,
            fences: BTreeMap::new(),
        });
    }
    let steps = random.between(5, 40) as i64;
    let clock = match servers_clock {
        Some(leases) => Clock::Servers { now_ms: 0, leases },
        None => Clock::Callers,
    };
    let mut run = Run {
        location,
        tenant: tenant(&format!("run-{seed}")),
        clock,
        clients,
        model: Model::default(),
        random,
        done: Vec::new(),
    };
    for step in 1..=steps {
        if let Err(reason) = run.step(step).await {
            panic!(
                "seed {seed}, step {step}: {reason}\nafter\n{}",
                run.done.join("\n")
            );
        }
    }
    for place in PLACES {
        let seen = agrees(
            &run.clients[0].store,
            &run.tenant,
            &run.model,
            place,
            "xyxyx",
        )
        .await;
        seen.unwrap_or_else(|reason| panic!("seed {seed}, at the end: {reason}"));
    }
    for client in run.clients {
        client.store.close().await;
    }
}

async fn check(location: String, servers_clock: Option<PgPool>) {
    let runs = cases::cases(20);
    let next = Arc::new(AtomicU32::new(0));
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..TOGETHER {
        let (location, servers_clock, next) =
            (location.clone(), servers_clock.clone(), next.clone());
        tasks.spawn(async move {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= runs {
                    return;
                }
                let seed = cases::seed().wrapping_mul(1_000_003) + u64::from(number);
                run(&location, seed, servers_clock.clone()).await;
            }
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended.unwrap();
    }
    println!("{runs} runs agree with the model");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_does_what_the_model_does() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log.db");
    check(format!("sqlite:{}", file.display()), None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_does_what_the_model_does() {
    if let Some(database) = postgres::database().await {
        let pool = PgPool::connect(database.url()).await.unwrap();
        check(
            format!("{}&max_connections=2", database.url()),
            Some(pool.clone()),
        )
        .await;
        pool.close().await;
    }
}
