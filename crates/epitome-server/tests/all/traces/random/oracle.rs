//! What must hold, from the definitions of the design and what the server knows. Nothing of the product is used here.
//!
//! Where the definitions leave room the oracle is generous: it accuses only when no reading of them allows what was
//! seen.

use std::collections::{HashMap, HashSet};

use super::generator::{Answer, Case};

/// The reserve where a request does not say how much it wants.
const USUAL_RESERVE_TOKENS: u64 = 20_000;
/// A class is a window within a tenth.
const CLASS_PERCENT: u64 = 110;
/// What nobody counted yet may be taken for this much more.
const ESTIMATE_PERCENT: u64 = 130;
/// A request below this share of the hard line is below every prepare line.
const PREPARE_PERCENT: u64 = 60;
/// Reasons for which a request may go out above its window.
const HELPLESS: [&str; 2] = ["floor_above_window", "window_below_reserves"];

/// What was seen of one request of a client.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) talk: usize,
    pub(crate) model: usize,
    pub(crate) proxy: usize,
    pub(crate) max_tokens: u64,
    pub(crate) answer: Answer,
    /// The client's own request by the plain count and by the server's.
    pub(crate) plain_tokens: u64,
    pub(crate) true_tokens: u64,
    /// What must stay whatever is removed, by the plain count: its newest message.
    pub(crate) newest_tokens: u64,
    /// The window the server has now.
    pub(crate) window_tokens: u64,
    /// What the proxy said and what the client got.
    pub(crate) reason: String,
    pub(crate) status: u16,
    /// What reached the server, in order.
    pub(crate) sent: Vec<Sent>,
}

/// One request that reached the server.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) is_clients_own: bool,
    pub(crate) true_tokens: u64,
    /// What its documents count, each.
    pub(crate) documents: Vec<u64>,
    pub(crate) status: u16,
    pub(crate) violations: Vec<String>,
}

/// What many traces came to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) requests: usize,
    pub(crate) bare: usize,
    pub(crate) compacted: usize,
    pub(crate) overflows: usize,
    pub(crate) helpless: usize,
    /// How often each law had something to say.
    pub(crate) surely_below: usize,
    pub(crate) under_a_taught_window: usize,
    pub(crate) after_a_larger_success: usize,
}

impl Tally {
    pub(crate) fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.bare += other.bare;
        self.compacted += other.compacted;
        self.overflows += other.overflows;
        self.helpless += other.helpless;
        self.surely_below += other.surely_below;
        self.under_a_taught_window += other.under_a_taught_window;
        self.after_a_larger_success += other.after_a_larger_success;
    }
}

pub(crate) struct Oracle<'a> {
    case: &'a Case,
    pub(crate) tally: Tally,
    /// What a real refusal taught a proxy about a model, and what passed since.
    taught: HashMap<(usize, usize), Taught>,
    /// The windows for which each conversation was compacted: the largest that anybody may have believed then.
    compacted_for: Vec<Vec<u64>>,
    /// The models that refused each conversation as too long: what was made then is in force for them.
    refused_by: Vec<Vec<usize>>,
    /// Documents that each model has counted in an answer.
    counted_documents: HashSet<(usize, usize, u64)>,
    /// The largest request that each model took from any proxy.
    taken: HashMap<usize, u64>,
}

#[derive(Clone, Copy, Debug)]
struct Taught {
    window_tokens: u64,
    /// The largest request that succeeded since, if it was larger, and its output.
    passed: Option<(u64, u64)>,
    /// Whether the proxy still holds what it learned.
    is_remembered: bool,
}

impl<'a> Oracle<'a> {
    pub(crate) fn new(case: &'a Case) -> Self {
        Self {
            case,
            tally: Tally::default(),
            taught: HashMap::new(),
            compacted_for: vec![Vec::new(); case.talks.len()],
            refused_by: vec![Vec::new(); case.talks.len()],
            counted_documents: HashSet::new(),
            taken: HashMap::new(),
        }
    }

    /// A proxy was started again. Without a store it knows nothing, but it may be told again.
    pub(crate) fn restarted(&mut self, proxy: usize) {
        if !self.case.has_store {
            for ((known_by, _), taught) in &mut self.taught {
                if *known_by == proxy {
                    taught.is_remembered = false;
                    taught.passed = None;
                }
            }
        }
    }

    pub(crate) fn saw(&mut self, seen: &Seen) -> Result<(), String> {
        self.tally.requests += 1;
        let words = |law: &str| format!("{law}: {seen:?}");
        self.valid(seen).map_err(|law| words(&law))?;
        self.left_alone(seen).map_err(|law| words(&law))?;
        self.below_what_was_taught(seen)
            .map_err(|law| words(&law))?;
        self.answered(seen).map_err(|law| words(&law))?;
        self.learn(seen);
        Ok(())
    }

    /// (d) Nothing that goes out breaks a rule of the format.
    fn valid(&self, seen: &Seen) -> Result<(), String> {
        if seen.sent.is_empty() {
            return Err("nothing was sent".into());
        }
        match seen.sent.iter().find(|sent| !sent.violations.is_empty()) {
            Some(sent) => Err(format!("(d) invalid: {:?}", sent.violations)),
            None => Ok(()),
        }
    }

    /// (a) What is surely below the prepare line goes out as it is, unless a compaction of its class is in force; and
    /// (c) what passed once passes again.
    fn left_alone(&mut self, seen: &Seen) -> Result<(), String> {
        let first = &seen.sent[0];
        if first.is_clients_own {
            self.tally.bare += 1;
        } else {
            self.tally.compacted += 1;
        }
        let smallest = self.beliefs(seen).min().unwrap_or(0);
        let in_force = self.compacted_for[seen.talk]
            .iter()
            .any(|window| smallest * 100 <= window * CLASS_PERCENT);
        if in_force || self.refused_by[seen.talk].contains(&seen.model) {
            return Ok(());
        }
        let size = seen.plain_tokens.max(seen.true_tokens) * ESTIMATE_PERCENT / 100;
        if size * 100 < self.line_tokens(smallest, seen.max_tokens) * PREPARE_PERCENT {
            self.tally.surely_below += 1;
            if !first.is_clients_own {
                let line = self.line_tokens(smallest, seen.max_tokens);
                return Err(format!(
                    "(a) touched below the line: {size} of {line} in {smallest}"
                ));
            }
        }
        let passed = self
            .taught
            .get(&(seen.proxy, seen.model))
            .and_then(|taught| taught.passed);
        let is_alone = self.others_taught(seen).next().is_none();
        if let Some((tokens, output)) = passed
            && is_alone
            && size <= tokens
            && seen.max_tokens <= output
        {
            self.tally.after_a_larger_success += 1;
            if !first.is_clients_own {
                return Err(format!("(c) {tokens} passed, and {size} was touched"));
            }
        }
        Ok(())
    }

    /// (b) What a refusal taught is heeded.
    fn below_what_was_taught(&mut self, seen: &Seen) -> Result<(), String> {
        if self.case.configured_tokens.is_some() {
            return Ok(());
        }
        let taught = self.taught.get(&(seen.proxy, seen.model));
        let Some(taught) = taught.filter(|taught| taught.is_remembered && taught.passed.is_none())
        else {
            return Ok(());
        };
        // What another proxy on the same store was allowed since may be known here too.
        let others = self.taught.iter().filter(|(key, _)| key.1 == seen.model);
        let taken = self.taken.get(&seen.model).copied().unwrap_or(0);
        let is_shared = self.case.has_store && self.case.proxies > 1;
        if self.case.has_store && others.into_iter().any(|(_, other)| other.passed.is_some())
            || is_shared && taken > taught.window_tokens
        {
            return Ok(());
        }
        self.tally.under_a_taught_window += 1;
        let first = &seen.sent[0];
        if first.true_tokens <= taught.window_tokens {
            return Ok(());
        }
        // Recovery has the last word in what the proxy says: that nothing could be removed before it is seen from what
        // must stay.
        let floor = seen.newest_tokens * ESTIMATE_PERCENT / 100;
        let is_floor = floor > self.line_tokens(taught.window_tokens, seen.max_tokens);
        if is_floor || HELPLESS.contains(&seen.reason.as_str()) {
            self.tally.helpless += 1;
            return Ok(());
        }
        // A document counts what nobody can know before it was counted.
        let is_new = |tokens: &u64| {
            !self
                .counted_documents
                .contains(&(seen.talk, seen.model, *tokens))
        };
        if first.documents.iter().any(is_new) {
            return Ok(());
        }
        Err(format!(
            "(b) {} tokens after a refusal that named {}",
            first.true_tokens, taught.window_tokens
        ))
    }

    /// A request that fits as it is gets an answer; a refusal that has nothing to do with sizes is passed on.
    fn answered(&self, seen: &Seen) -> Result<(), String> {
        if seen.answer.is_refusal() {
            let tries = if seen.answer == Answer::Echo { 2 } else { 1 };
            if seen.sent.len() > tries {
                return Err(format!("(e) tried {} times", seen.sent.len()));
            }
            if seen.status == 200 {
                return Err("(e) a refusal became an answer".into());
            }
            return Ok(());
        }
        let fits = self.fits(seen, seen.true_tokens);
        if fits && seen.status != 200 {
            return Err(format!("(e) it fits, and the client got {}", seen.status));
        }
        if seen.sent.len() > 2 {
            return Err(format!("(e) tried {} times", seen.sent.len()));
        }
        Ok(())
    }

    fn fits(&self, seen: &Seen, tokens: u64) -> bool {
        let output = if self.case.counts_output {
            seen.max_tokens
        } else {
            0
        };
        tokens + output <= seen.window_tokens
    }

    fn learn(&mut self, seen: &Seen) {
        let key = (seen.proxy, seen.model);
        for sent in &seen.sent {
            if sent.status == 200 {
                let taken = self.taken.entry(seen.model).or_default();
                *taken = sent.true_tokens.max(*taken);
                let counted = sent.documents.iter();
                let counted = counted.map(|tokens| (seen.talk, seen.model, *tokens));
                self.counted_documents.extend(counted);
                if let Some(taught) = self.taught.get_mut(&key)
                    && sent.true_tokens > taught.window_tokens
                    && taught
                        .passed
                        .is_none_or(|(tokens, _)| sent.true_tokens > tokens)
                {
                    taught.passed = Some((sent.true_tokens, seen.max_tokens));
                }
            } else if !seen.answer.is_refusal() && sent.violations.is_empty() {
                self.tally.overflows += 1;
                self.refused_by[seen.talk].push(seen.model);
                // Numbers that are more than twice what the proxy can count itself teach nothing (a document counts
                // much more than its text); between the two nobody can say.
                let makes_sense = seen.true_tokens * 2 <= seen.plain_tokens * 3;
                self.taught.insert(
                    key,
                    Taught {
                        window_tokens: seen.window_tokens,
                        passed: None,
                        is_remembered: makes_sense,
                    },
                );
            }
        }
        let largest = self.beliefs(seen).max().unwrap_or(0);
        // One that the output alone forced serves that request only.
        let size = seen.plain_tokens.max(seen.true_tokens) * ESTIMATE_PERCENT / 100;
        let is_forced_by_output = size * 100 < self.line_tokens(largest, 0) * PREPARE_PERCENT;
        if seen.sent.iter().any(|sent| !sent.is_clients_own) && !is_forced_by_output {
            self.compacted_for[seen.talk].push(largest);
        }
    }

    /// The windows that this proxy may take the model's to be.
    fn beliefs(&self, seen: &Seen) -> impl Iterator<Item = u64> {
        let own = self.taught.get(&(seen.proxy, seen.model));
        let untold = match self.case.configured_tokens {
            Some(tokens) => vec![tokens],
            None => {
                let model = &self.case.models[seen.model];
                // Whether the proxy still holds what it learned or was told something larger: both are possible.
                let taught = own
                    .filter(|taught| taught.passed.is_none())
                    .map(|taught| taught.window_tokens);
                let is_firm = own.is_some_and(|own| own.is_remembered && own.passed.is_none());
                let table = (!is_firm).then_some(model.untold_tokens);
                let others = self.others_taught(seen);
                taught.into_iter().chain(table).chain(others).collect()
            }
        };
        untold.into_iter()
    }

    /// What other proxies on the same store learned of this model, unless this one knows better.
    fn others_taught(&self, seen: &Seen) -> impl Iterator<Item = u64> {
        let own = self.taught.get(&(seen.proxy, seen.model));
        let passed = own
            .and_then(|own| own.passed)
            .map_or(0, |(tokens, _)| tokens);
        self.taught
            .iter()
            .filter(|((proxy, model), _)| *proxy != seen.proxy && *model == seen.model)
            .map(|(_, taught)| taught.window_tokens)
            .filter(move |window| *window >= passed)
            .collect::<Vec<_>>()
            .into_iter()
    }

    /// A hard line that is nowhere above the true one.
    const fn line_tokens(&self, window: u64, max_tokens: u64) -> u64 {
        let quarter = window / 4;
        let usual = if USUAL_RESERVE_TOKENS < quarter {
            USUAL_RESERVE_TOKENS
        } else {
            quarter
        };
        let asked = if self.case.counts_output || max_tokens < quarter {
            max_tokens
        } else {
            quarter
        };
        let reserve = if asked > usual { asked } else { usual };
        window.saturating_sub(reserve)
    }
}
