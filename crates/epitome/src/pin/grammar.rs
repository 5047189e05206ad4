//! What word tables cannot say: how languages form a prohibition, and what makes a command one for once.

use super::class::Class;
use super::clauses::Sentence;
use super::languages::Tongue;

/// Negations of things, not of deeds: behind these a sentence may go on to tell.
const NOMINAL: &[&str] = &[
    "no",
    "nothing",
    "nobody",
    "zero",
    "only",
    "without",
    "not",
    "kein",
    "keine",
    "keinen",
    "nichts",
    "niemand",
    "nur",
    "ningún",
    "ninguna",
    "nadie",
    "nada",
    "solo",
    "sólo",
    "aucun",
    "aucune",
    "rien",
    "personne",
    "seul",
    "seule",
    "nenhum",
    "nenhuma",
    "ninguém",
    "só",
    "apenas",
    "nessun",
    "nessuna",
    "nessuno",
    "niente",
    "geen",
    "niets",
    "niemand",
    "alleen",
    "никаких",
    "никакой",
    "ничего",
    "никто",
    "только",
];
/// Words behind a nominal negation in which a telling verb is looked for.
const TELLING_WORDS: usize = 5;

/// Whether a clause that begins with a negation at `at` only tells: "no tests were run".
pub(super) fn tells(sentence: &Sentence, tongue: Tongue, at: usize) -> bool {
    let is_told = |at: usize| sentence.is(at, tongue, Class::Told);
    NOMINAL.contains(&sentence.word(at))
        && (at + 1..=at + TELLING_WORDS).any(is_told)
        && !sentence.has(tongue, Class::Allowed)
}

/// The word that negates a part of a sentence, in each language.
pub(super) fn is_negation(word: &str) -> bool {
    matches!(
        word,
        "not" | "nicht" | "no" | "pas" | "não" | "non" | "niet" | "не"
    )
}

/// Whether a command at `at` says what not to do: "make no assumptions", but not "check why it does not work".
pub(super) fn is_negated(sentence: &Sentence, tongue: Tongue, at: usize) -> bool {
    if tongue != Tongue::English {
        return false;
    }
    let mut negations = (at + 1..sentence.len()).filter(|at| {
        matches!(
            sentence.word(*at),
            "no" | "not" | "nothing" | "none" | "nobody" | "nowhere" | "without"
        )
    });
    let asks = sentence
        .words()
        .any(|word| matches!(word, "why" | "whether" | "if" | "how" | "what" | "where"));
    !asks
        && negations.any(|negation| {
            let is_plain = sentence.word(negation) != "without"
                || !["the", "it", "that", "this", "a", "an", "my"]
                    .contains(&sentence.word(negation + 1));
            is_plain && !sentence.is(negation - 1, tongue, Class::Points)
        })
}

/// Whether the word at `at` says what happened, by its form.
pub(super) fn is_past(sentence: &Sentence, tongue: Tongue, at: usize) -> bool {
    let word = sentence.word(at);
    let looks_so = match tongue {
        Tongue::English => {
            let before = sentence.word(at.wrapping_sub(1));
            let is_passive = matches!(
                before,
                "be" | "is"
                    | "are"
                    | "not"
                    | "get"
                    | "gets"
                    | "being"
                    | "the"
                    | "a"
                    | "an"
                    | "only"
                    | "as"
            );
            word.ends_with("ed") && !word.ends_with("eed") && !is_passive && at > 0
        }
        Tongue::Spanish => word.ends_with('ó') || word.ends_with("aron") || word.ends_with("ieron"),
        Tongue::Portuguese => {
            word.ends_with("ou") || word.ends_with("aram") || word.ends_with("eram")
        }
        Tongue::Russian => ["ил", "ала", "ила", "али", "или", "ило", "ал", "лся", "лась"]
            .iter()
            .any(|ending| word.ends_with(ending)),
        Tongue::German | Tongue::French | Tongue::Italian | Tongue::Dutch => false,
    };
    looks_so && word.chars().count() >= 5 && word.chars().all(char::is_alphabetic)
}

/// Whether a word looks like a verb of the third person, which tells: "the queue always fills up".
pub(super) fn is_finite(word: &str, tongue: Tongue) -> bool {
    tongue == Tongue::English
        && word.ends_with('s')
        && !word.ends_with("ss")
        && word.chars().count() > 3
}

/// Whether a command at `at` is for once: "use grep to find the callers", "keep reading".
pub(super) fn is_for_once(sentence: &Sentence, tongue: Tongue, at: usize) -> bool {
    if tongue != Tongue::English {
        return false;
    }
    let is_scoped = sentence.has(tongue, Class::Scope);
    match sentence.word(at) {
        "use" => {
            let aims = |at: usize| {
                sentence.word(at) == "to"
                    && (sentence.is(at + 1, tongue, Class::Verb)
                        || sentence.is(at + 1, tongue, Class::Aims))
            };
            (at + 2..at + 8).any(aims) && !is_scoped
        }
        "keep" => {
            let next = sentence.word(at + 1);
            next.ends_with("ing") || matches!(next, "that" | "this" | "these" | "those")
        }
        "skip" => sentence.len() <= at + 4,
        "pin" | "spell" | "go" | "rely" | "omit" | "leave" => !is_scoped && sentence.len() < 4,
        _ => false,
    }
}

/// Prohibitions that are formed, not listed.
pub(super) fn forbids(sentence: &Sentence, tongue: Tongue, starts: &[usize]) -> bool {
    starts.iter().any(|&start| match tongue {
        Tongue::English => {
            matches!(sentence.word(start), "stop" | "quit")
                && sentence.word(start + 1).ends_with("ing")
        }
        Tongue::German | Tongue::Dutch => forbids_by_infinitive(sentence, tongue, start),
        Tongue::French => {
            let word = sentence.word(start);
            // A clause that begins with `ne` has no subject: it is a command.
            word.starts_with("n'") && !sentence.is(start, tongue, Class::Indicative)
                || word == "pas" && sentence.word(start + 1).starts_with("d'")
        }
        Tongue::Spanish | Tongue::Portuguese | Tongue::Italian | Tongue::Russian => {
            let negation = match tongue {
                Tongue::Spanish => "no",
                Tongue::Portuguese => "não",
                Tongue::Italian => "non",
                _ => "не",
            };
            sentence.word(start) == negation && {
                let verb = verb_behind(sentence, start);
                sentence.is(verb, tongue, Class::Imperative)
                    || (is_command(sentence.word(verb), tongue)
                        && !sentence.is(verb, tongue, Class::Indicative))
            }
        }
    })
}

/// Commands that are formed, not listed: "alle Tests auf Englisch benennen" ends in an infinitive and does not say who
/// does it.
pub(super) fn instructs(sentence: &Sentence, tongue: Tongue) -> bool {
    tongue == Tongue::German
        && ends_in_infinitive(sentence, tongue)
        && sentence.has(tongue, Class::Scope)
        && !sentence.has(tongue, Class::Finite)
}

/// Where the verb behind a negation stands; pronouns in between are skipped.
fn verb_behind(sentence: &Sentence, start: usize) -> usize {
    let pronouns = [
        "lo", "la", "los", "las", "me", "te", "se", "le", "les", "nos", "mi", "ti", "ci", "o", "a",
    ];
    if pronouns.contains(&sentence.word(start + 1)) {
        start + 2
    } else {
        start + 1
    }
}

/// Whether a form looks like a command behind a negation.
fn is_command(verb: &str, tongue: Tongue) -> bool {
    let endings: &[&str] = match tongue {
        Tongue::Spanish => &["es", "as", "ar", "er", "ir", "éis", "áis"],
        Tongue::Portuguese => &["ar", "er", "ir"],
        Tongue::Italian => &[
            "are", "ere", "ire", "rre", "arlo", "arla", "erlo", "irlo", "arli", "arle", "ate",
            "ete", "ite",
        ],
        Tongue::Russian => &[
            "й",
            "йте",
            "ите",
            "и",
            "ьте",
            "йся",
            "йтесь",
            "ть",
            "ться",
            "сти",
        ],
        _ => &[],
    };
    verb.chars().count() > 3 && endings.iter().any(|ending| verb.ends_with(ending))
}

/// "Die Tests nicht ändern", "De tests niet wijzigen".
fn forbids_by_infinitive(sentence: &Sentence, tongue: Tongue, start: usize) -> bool {
    let negates = |word: &str| {
        matches!(
            word,
            "nicht" | "nichts" | "nie" | "niemals" | "niet" | "niets" | "nooit" | "geen"
        ) || word.starts_with("kein")
    };
    let negation = sentence.words().skip(start).position(negates);
    negation.is_some_and(|at| at > 0)
        && ends_in_infinitive(sentence, tongue)
        && !sentence.has(tongue, Class::Finite)
}

fn ends_in_infinitive(sentence: &Sentence, tongue: Tongue) -> bool {
    let last = sentence.len().saturating_sub(1);
    let word = sentence.word(last);
    word.chars().count() > 4
        && ["en", "ern", "eln"]
            .iter()
            .any(|ending| word.ends_with(ending))
        && !word.starts_with("ge")
        && !sentence.is(last, tongue, Class::Nouns)
}
