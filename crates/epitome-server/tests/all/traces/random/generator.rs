//! Cases from seeds.

use epitome_testkit::{Random, Wire};

/// One trace: plain data, so that it can be printed and played by any transport.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) seed: u64,
    /// Whether the proxies share a store. Without one there is one proxy, and it forgets when it ends.
    pub(crate) has_store: bool,
    pub(crate) proxies: usize,
    /// What the user told the proxies about the window of every model.
    pub(crate) configured_tokens: Option<u64>,
    /// Whether the server counts input and output together.
    pub(crate) counts_output: bool,
    pub(crate) models: Vec<Model>,
    /// The format of each conversation.
    pub(crate) talks: Vec<Wire>,
    pub(crate) events: Vec<Event>,
}

#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) name: &'static str,
    /// What the server really has.
    pub(crate) window_tokens: u64,
    /// What a proxy believes that was told nothing: the table, or the usual assumption.
    pub(crate) untold_tokens: u64,
    /// What the server counts, in percent of the plain count.
    pub(crate) counts_percent: u64,
}

#[derive(Clone, Debug)]
pub(crate) enum Event {
    Ask(Ask),
    /// A proxy ends and starts again.
    Restart(usize),
    /// The server of a model is started again with another window.
    Grow {
        model: usize,
        window_tokens: u64,
    },
}

/// A client sends a conversation with something new at its end.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) talk: usize,
    pub(crate) model: usize,
    pub(crate) proxy: usize,
    pub(crate) max_tokens: u64,
    pub(crate) adds: Vec<Adds>,
    pub(crate) answer: Answer,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Adds {
    /// An answer of this size and a short question.
    Answer(u64),
    /// A tool call and its result of this size.
    Step(u64),
    /// A question in so many tokens, which nothing may shorten.
    Question(u64),
    /// A document that counts so much more than it looks.
    Document(u64),
    /// The user talks about an overflow that happened elsewhere.
    TalkOfOverflow,
    /// Somebody speaks in a role that nobody knows, in so many tokens.
    Stranger(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// An answer, or the refusal of what does not fit.
    Usual,
    /// A streamed answer with searches, whose usage at the end is a sum.
    Searches,
    /// An answer that says it ended at the window.
    EndedAtWindow,
    /// 400: no credit.
    Credit,
    /// 400: a filter.
    Filter,
    /// 429 in words about tokens.
    RateLimit,
    /// 422 that sends the request back.
    Echo,
}

impl Answer {
    /// Whether the client is refused for a reason that has nothing to do with sizes.
    pub(crate) const fn is_refusal(self) -> bool {
        matches!(
            self,
            Self::Credit | Self::Filter | Self::RateLimit | Self::Echo
        )
    }
}

const ASSUMED_TOKENS: u64 = 128_000;
/// Windows that local servers have.
const LOCAL_WINDOWS: [u64; 5] = [6_000, 8_192, 12_000, 16_384, 32_768];

pub(crate) fn case(seed: u64) -> Case {
    let random = &mut Random::new(seed.wrapping_mul(0x5851_f42d_4c95_7f2d));
    let has_store = random.chance(30);
    let proxies = if has_store { random.between(1, 2) } else { 1 };
    let configured_tokens = random
        .chance(20)
        .then(|| *random.pick(&[8_000, 16_000, 24_000]));
    let models = models(random, configured_tokens);
    let mut talks: Vec<Wire> = (0..random.between(1, 3))
        .map(|_| *random.pick(&Wire::MESSAGES))
        .collect();
    let mut sizes = vec![0; talks.len()];
    let mut events = Vec::new();
    for _ in 0..random.between(5, 18) {
        if random.chance(6) {
            events.push(Event::Restart(random.below(proxies)));
        }
        if random.chance(8) && configured_tokens.is_none() {
            let model = random.below(models.len());
            events.extend(growth(random, &models, model, talks.len()));
            talks.push(*random.pick(&Wire::MESSAGES));
        }
        let ask = ask(random, proxies, models.len(), &mut sizes);
        events.push(Event::Ask(ask));
    }
    Case {
        seed,
        has_store,
        proxies,
        configured_tokens,
        counts_output: random.chance(60),
        models,
        talks,
        events,
    }
}

/// A server is started again with a larger window, and a conversation of its own shows that: its last question alone is
/// larger than the window was.
fn growth(random: &mut Random, models: &[Model], model: usize, talk: usize) -> Vec<Event> {
    let before = models[model].window_tokens;
    let grow = Event::Grow {
        model,
        window_tokens: before * 4,
    };
    if before > 17_000 {
        return vec![grow];
    }
    let percent = random.between(130, 250) as u64;
    let ask = Ask {
        talk,
        model,
        proxy: 0,
        max_tokens: 1_000,
        adds: vec![Adds::Question(before * percent / 100)],
        answer: Answer::Usual,
    };
    vec![grow, Event::Ask(ask)]
}

fn models(random: &mut Random, configured_tokens: Option<u64>) -> Vec<Model> {
    let mut names = vec![
        ("local-a", 0, ASSUMED_TOKENS),
        ("local-b", 0, ASSUMED_TOKENS),
        ("nobody-knows-me", ASSUMED_TOKENS, ASSUMED_TOKENS),
        ("gpt-4o", 128_000, 128_000),
        ("claude-haiku-4-5", 200_000, 200_000),
        ("claude-opus-4-6", 1_000_000, 1_000_000),
    ];
    let mut models = Vec::new();
    for _ in 0..random.between(1, 3) {
        // Local ones more often than the others: only they can be outgrown at little cost.
        let at = if random.chance(40) {
            0
        } else {
            random.below(names.len())
        };
        let (name, window, untold) = names.remove(at);
        let real = match window {
            0 => *random.pick(&LOCAL_WINDOWS),
            known => known,
        };
        models.push(Model {
            name,
            window_tokens: match configured_tokens {
                // What a user says is never too much.
                Some(tokens) => tokens * random.between(1, 2) as u64,
                None => real,
            },
            untold_tokens: untold,
            counts_percent: random.between(85, 115) as u64,
        });
    }
    models
}

fn ask(random: &mut Random, proxies: usize, models: usize, sizes: &mut [u64]) -> Ask {
    let talk = random.below(sizes.len());
    let size = &mut sizes[talk];
    let mut adds = Vec::new();
    // Some conversations come from elsewhere and are long already.
    let pieces = if *size == 0 && random.chance(40) {
        random.between(8, 20)
    } else {
        random.between(0, 3)
    };
    for _ in 0..pieces {
        let tokens = random.between(20, 1_200) as u64;
        let piece = if random.chance(50) {
            Adds::Answer(tokens)
        } else {
            Adds::Step(tokens)
        };
        *size += tokens;
        adds.push(piece);
    }
    if random.chance(6) {
        adds.push(Adds::TalkOfOverflow);
    }
    if random.chance(8) {
        adds.push(Adds::Stranger(random.between(20, 600) as u64));
    }
    if random.chance(4) {
        adds.push(Adds::Document(random.between(1_000, 9_000) as u64));
    }
    if random.chance(3) {
        adds.push(Adds::Question(random.between(3_000, 14_000) as u64));
    }
    // Now and then one result is larger than what came before it.
    if random.chance(5) {
        adds.push(Adds::Step(random.between(5_000, 20_000) as u64));
    }
    Ask {
        talk,
        model: random.below(models),
        proxy: random.below(proxies),
        max_tokens: *random.pick(&[1, 256, 1_000, 1_000, 1_000, 4_096, 8_000, 32_000]),
        adds,
        answer: match random.below(100) {
            0..4 => Answer::Searches,
            4..7 => Answer::EndedAtWindow,
            7..11 => Answer::Credit,
            11..14 => Answer::Filter,
            14..17 => Answer::RateLimit,
            17..21 => Answer::Echo,
            _ => Answer::Usual,
        },
    }
}
