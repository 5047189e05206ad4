//! What the phrases of the tables say about the sentence they stand in.

/// Declares the classes together with the names they have in the tables.
macro_rules! classes {
    ($($(#[$doc:meta])+ $class:ident = $name:literal,)+) => {
        /// What a phrase says about the sentence it stands in.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(super) enum Class {
            $($(#[$doc])+ $class,)+
        }

        impl Class {
            /// One bit of its own.
            pub(super) const fn mask(self) -> u64 {
                1 << (self as u64)
            }

            /// All of them, in the order of their bits.
            #[cfg(test)]
            pub(super) const ALL: &'static [Self] = &[$(Self::$class),+];

            /// The place of its bit.
            pub(super) const fn place(self) -> usize {
                self as usize
            }

            /// What the tables call it.
            #[cfg(test)]
            pub(super) const fn name(self) -> &'static str {
                match self {
                    $(Self::$class => $name,)+
                }
            }

            pub(super) fn named(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$class),)+
                    _ => None,
                }
            }
        }
    };
}

classes! {
    /// A word by which the language is known.
    Common = "common",
    /// May stand before a rule: "please", "also".
    Lead = "lead",
    /// Joins clauses: what follows begins anew.
    Joint = "joint",
    /// Asks politely: "can you".
    Request = "request",
    /// Makes a rule where a clause begins, and says that it stands: "never", "don't".
    Forbid = "forbid",
    /// Begins like a rule and is none: "don't worry".
    Idle = "idle",
    /// Speaks of the work at hand: "let's", "I think", "can we". What is asked so is asked for once, unless it says that it
    /// stands.
    Now = "now",
    /// Makes a rule where a clause begins: "use", "I prefer".
    Opens = "opens",
    /// An imperative. It is a request for once, unless a scope says more.
    Verb = "verb",
    /// Says how far something goes: "only", "for this project", "at most".
    Scope = "scope",
    /// A scope that makes a rule of a plain statement, unless it is a tale: "two pages at most".
    Bound = "bound",
    /// Makes a sentence a tale: what happened, what is wrong, what somebody thinks.
    Tale = "tale",
    /// Asks for something (scripts without spaces): with a scope it is a rule.
    Command = "command",
    /// Makes a rule unless somebody tells about himself: "must", "is off limits".
    Duty = "duty",
    /// A weak duty: "we need to talk".
    Need = "need",
    /// A soft duty that needs no scope when it speaks of a thing: "comments should …".
    Ought = "ought",
    /// Behind "this" or "that": they point at something at hand and begin no longer subject.
    Points = "points",
    /// A duty that is a tale when it is about something at hand: "it stays red".
    Steady = "steady",
    /// A duty only together with a scope: "should", "I want".
    Soft = "soft",
    /// A soft duty that says nothing without a subject that speaks of all: "can", "goes".
    Mild = "mild",
    /// "Always", "never" in the middle of a sentence: a rule if an imperative leads it.
    Frequency = "frequency",
    /// What follows a frequency word in a rule without a command: "secrets never go …".
    Norm = "norm",
    /// Makes a rule at the end of a clause: "nothing else".
    Closes = "closes",
    /// Makes a rule wherever it stands, and says that it stands: "from now on".
    Stands = "stands",
    /// Who is spoken to.
    You = "you",
    /// Begins a sentence in which somebody tells about himself or others.
    First = "first",
    /// Begins a sentence about something at hand.
    Pronoun = "pronoun",
    /// "We": a convention, or a story.
    Plural = "plural",
    /// Begins a sentence about a thing.
    Article = "article",
    /// Speaks of all of a kind.
    Every = "every",
    /// Behind a duty word: it was a guess ("must be the cache").
    Guess = "guess",
    /// Behind a duty word: what one sees or does by the way ("you should see").
    Seen = "seen",
    /// A verb that tells: behind "no" or "nothing" there is no prohibition.
    Told = "told",
    /// Makes a telling verb a rule again: "is allowed".
    Allowed = "allowed",
    /// Behind "use … to": a command for once.
    Aims = "aims",
    /// A form that forbids behind a negation.
    Imperative = "imperative",
    /// A form that tells behind a negation although it looks like a command.
    Indicative = "indicative",
    /// Says who does something: the sentence is no bare infinitive.
    Finite = "finite",
    /// Ends like an infinitive and is none.
    Nouns = "nouns",
    /// A thing that has a limit or is one.
    Limit = "limit",
    /// Links a limit to its value.
    Copula = "copula",
    /// A day or a month.
    Date = "date",
    /// A number in words.
    Number = "number",
    /// Allows something: "you may".
    Permits = "permits",
    /// Says that what is allowed is new: "now", "again".
    Anew = "anew",
    /// Takes a rule back.
    Revokes = "revokes",
    /// Puts another rule in the place of one.
    Replaces = "replaces",
    /// Says that something is done or dropped.
    Finishes = "finishes",
    /// Makes a rule at the end of a sentence (scripts without spaces).
    Ends = "ends",
    /// Makes a rule at the beginning of a clause (scripts without spaces).
    Begins = "begins",
    /// Makes a question (scripts without spaces).
    Question = "question",
    /// May stand before a beginning (scripts without spaces).
    Polite = "polite",
    /// A short sentence that underlines the one before it.
    Tail = "tail",
    /// Stands before a full stop that ends nothing.
    Abbreviation = "abbreviation",
    /// Begins something to be done later.
    Todo = "todo",
    /// Stands in something to be done later.
    Inside = "inside",
    /// Stands in a line under which tasks are listed.
    Heading = "heading",
    /// Names no topic.
    Empty = "empty",
    /// Says that something goes for more than the work at hand: "throughout", "whenever".
    Lasts = "lasts",
    /// Speaks of one thing or one time: "this one", "again".
    Once = "once",
    /// Says whose something is to decide, or that it is settled: "is my call", "hands off".
    Owns = "owns",
    /// Wants to be asked or told first: "ask me", "without asking".
    Consults = "consults",
    /// What somebody who orders or books will not give up: how he pays, what it may cost, what he keeps.
    Stakes = "stakes",
    /// Says what somebody else said or wants: "my boss says".
    Reports = "reports",
}

impl Class {
    /// The classes of words that rules have, and that other sentences may have too.
    pub(super) const BINDING: u64 = Self::Forbid.mask()
        | Self::Opens.mask()
        | Self::Scope.mask()
        | Self::Bound.mask()
        | Self::Duty.mask()
        | Self::Need.mask()
        | Self::Ought.mask()
        | Self::Soft.mask()
        | Self::Frequency.mask()
        | Self::Norm.mask()
        | Self::Closes.mask()
        | Self::Stands.mask()
        | Self::Allowed.mask()
        | Self::Permits.mask()
        | Self::Limit.mask()
        | Self::Every.mask();
}
