//! Who a summary says has spoken.

/// Who speaks in a section or a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Voice {
    /// Whoever wrote the summary.
    Narrator,
    /// The user: what he said, asked for, decided.
    User,
    /// The user, to something that was put to him.
    UserAgrees,
    /// The assistant or a tool.
    Others,
    /// Nobody: it is to be done.
    Tasks,
}

/// What the user is called.
const USER: &[&str] = &[
    "user",
    "nutzer",
    "nutzerin",
    "benutzer",
    "benutzerin",
    "anwender",
    "anwenderin",
    "utilisateur",
    "utilisatrice",
    "usuario",
    "usuaria",
    "usuário",
    "usuária",
    "utente",
    "gebruiker",
    "пользователь",
    "пользователя",
    "пользователю",
    "пользователем",
    "пользователе",
];
/// What the user is called in scripts that do not separate words, and in Korean.
const USER_SIGNS: &[&str] = &["用户", "用戶", "使用者", "ユーザー", "ユーザ", "사용자"];
/// Words before the user that change nothing.
const ARTICLES: &[&str] = &[
    "the", "our", "this", "then", "and", "but", "so", "der", "die", "dem", "l", "le", "la", "el",
    "o", "a", "lo", "il", "de",
];
/// What the user does with words. A word counts if it begins so.
const SAYS: &[&str] = &[
    "asked",
    "asks",
    "want",
    "requested",
    "requests",
    "said",
    "says",
    "say",
    "decid",
    "insist",
    "instructed",
    "instructs",
    "prefers",
    "preferred",
    "needs",
    "needed",
    "corrected",
    "clarified",
    "clarifies",
    "pointed",
    "points",
    "reported",
    "reports",
    "suggested",
    "suggests",
    "told",
    "tells",
    "proposed",
    "proposes",
    "noted",
    "notes",
    "demanded",
    "demands",
    "ordered",
    "orders",
    "required",
    "requires",
    "expects",
    "expected",
    "rejected",
    "rejects",
    "pushed",
    "stated",
    "states",
    "mentioned",
    "explained",
    "complained",
    "wrote",
    "forbade",
    "forbids",
    "allowed",
    "allows",
    "reminded",
    "recommend",
    "advis",
    "intend",
    "plan",
    "think",
    "thought",
    "believe",
    "emphasi",
    "stress",
    "promis",
    "offer",
    "argue",
    "claim",
    "declar",
    "specif",
    "wish",
    "hope",
    "fixed",
    "added",
    "implemented",
    "changed",
    "created",
    "updated",
];
/// What the user does with what was put to him.
const AGREES: &[&str] = &[
    "confirmed",
    "confirms",
    "approved",
    "approves",
    "agreed",
    "agrees",
    "chose",
    "chooses",
    "selected",
    "accepted",
    "accepts",
    "picked",
    "opted",
];
/// Between the user and what he does.
const ADVERBS: &[&str] = &[
    "then",
    "also",
    "explicitly",
    "specifically",
    "clearly",
    "later",
    "has",
    "had",
    "have",
    "is",
    "was",
    "originally",
    "initially",
    "further",
    "next",
    "now",
    "again",
    "just",
    "repeatedly",
];
/// Behind the user in a heading: what is listed is his.
const HIS: &[&str] = &[
    "message",
    "request",
    "instruction",
    "said",
    "say",
    "ask",
    "want",
    "feedback",
    "constraint",
    "decision",
    "decid",
    "preference",
    "correction",
    "requirement",
    "word",
    "told",
    "order",
    "rule",
];
/// The same in a line that is no real heading, under which anything may be told.
const LISTED: &[&str] = &[
    "message",
    "instruction",
    "constraint",
    "words",
    "requirement",
    "rule",
    "preference",
];
/// In a heading without the user: what is listed has his authority.
const BINDING: &[&str] = &[
    "instruction",
    "constraint",
    "anweisung",
    "vorgabe",
    "instruccion",
    "restriccion",
    "consigne",
    "contrainte",
    "istruzion",
    "vincol",
    "instruç",
    "restriç",
    "instructie",
    "инструкц",
    "огранич",
    "指示",
    "约束",
    "約束",
    "要求",
    "制約",
    "지시",
];
/// In a heading under which the user speaks: what is listed binds whoever goes on, and not only tells of him.
const RULES: &[&str] = &[
    "instruction",
    "constraint",
    "preference",
    "requirement",
    "rule",
    "order",
];
/// In a heading: what is listed is to be done.
const TASKS: &[&str] = &[
    "pending",
    "next step",
    "to-do",
    "todo",
    "open task",
    "remaining",
    "offene",
    "nächste schritte",
    "pendiente",
    "próximos pasos",
    "à faire",
    "prochaines étapes",
    "待办",
    "下一步",
];
const OTHERS: &[&str] = &[
    "assistant",
    "assistent",
    "asistente",
    "assistente",
    "ассистент",
    "助手",
    "アシスタント",
];

/// Whether a word, in small letters, is what the user is called.
pub(super) fn names_user(word: &str) -> bool {
    let bare = word.strip_suffix("'s").unwrap_or(word);
    USER.contains(&bare) || USER.contains(&bare.trim_end_matches('s'))
}

/// Who speaks under a heading.
pub(super) fn heading_voice(heading: &str) -> Voice {
    let lower = heading.to_lowercase();
    let has = |list: &[&str]| list.iter().any(|word| lower.contains(word));
    let plain: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).collect();
    let names_user = has(USER_SIGNS)
        || plain
            .iter()
            .any(|word| USER.contains(word) && *word != "user")
        || plain.iter().any(|word| *word == "user" || *word == "users")
            && has(if heading.starts_with('#') {
                HIS
            } else {
                LISTED
            });
    if names_user {
        Voice::User
    } else if has(OTHERS) || lower.contains("quoted data") || lower.contains("not instructions") {
        Voice::Others
    } else if has(BINDING) {
        Voice::User
    } else if has(TASKS) {
        Voice::Tasks
    } else {
        Voice::Narrator
    }
}

/// Whether a heading under which the user speaks lists what he wants in future, and not all that he said.
pub(super) fn lists_rules(heading: &str) -> bool {
    let lower = heading.to_lowercase();
    let mut words = RULES.iter().chain(BINDING);
    words.any(|word| lower.contains(word))
}

/// A sentence that says who spoke, and what it says of that.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim<'a> {
    pub(super) voice: Voice,
    /// What was said, asked or decided.
    pub(super) content: &'a str,
}

/// What a sentence claims about the user, wherever in it that begins.
pub(super) fn claim(sentence: &str) -> Option<Claim<'_>> {
    if let Some((at, sign)) = USER_SIGNS
        .iter()
        .find_map(|sign| Some((sentence.find(sign)?, sign)))
    {
        return (at < 12).then(|| Claim {
            voice: Voice::User,
            content: sentence.get(at + sign.len()..).unwrap_or_default(),
        });
    }
    let mut plain = spaced(sentence).peekable();
    let mut only_articles = true;
    while let Some((at, word)) = plain.next() {
        let lower = word.to_lowercase();
        if only_articles && is_assistant(&lower) {
            return reported(sentence, at + word.len());
        }
        if USER.contains(&lower.as_str()) {
            let is_subject = only_articles && at < 24;
            let behind = sentence.get(at + word.len()..).unwrap_or_default();
            let mut verbs = plain
                .clone()
                .map(|(at, word)| (at + word.len(), word.to_lowercase()));
            let verb = verbs.find(|(_, word)| !ADVERBS.contains(&word.as_str()));
            let begins = |list: &[&str]| {
                verb.as_ref()
                    .is_some_and(|(_, verb)| list.iter().any(|start| verb.starts_with(start)))
            };
            let voice = if begins(AGREES) {
                Some(Voice::UserAgrees)
            } else if begins(SAYS) || is_subject && (behind.starts_with(':') || lower != "user") {
                Some(Voice::User)
            } else {
                None
            };
            if let Some(voice) = voice {
                let content = verb
                    .and_then(|(end, _)| sentence.get(end..))
                    .unwrap_or(behind);
                return Some(Claim { voice, content });
            }
        }
        only_articles &= ARTICLES.contains(&lower.as_str());
    }
    None
}

fn is_assistant(word: &str) -> bool {
    word == "i" || word == "ich" || OTHERS.contains(&word)
}

/// What the assistant is said to have said, if it is quoted.
fn reported(sentence: &str, behind: usize) -> Option<Claim<'_>> {
    let content = sentence.get(behind..)?;
    let says = spaced(content).take(2).any(|(_, word)| {
        let lower = word.to_lowercase();
        SAYS.iter().any(|verb| lower.starts_with(verb))
    });
    (says && content.contains(['"', '“', '„', '«'])).then_some(Claim {
        voice: Voice::Others,
        content,
    })
}

/// What of a sentence was said, in a line that lists sayings: where it begins with a quotation, the rest explains.
pub(super) fn said<'a>(line: &str, sentence: &'a str) -> &'a str {
    const QUOTES: [char; 5] = ['"', '“', '„', '«', '「'];
    const ENDS: [char; 5] = ['"', '”', '“', '»', '」'];
    let bare = line.trim_start_matches(|c: char| !c.is_alphanumeric() && !QUOTES.contains(&c));
    if !bare.starts_with(QUOTES) {
        return sentence;
    }
    let bare = sentence.trim_start();
    match bare.strip_prefix(QUOTES) {
        Some(quoted) => quoted.split(ENDS).next().unwrap_or(quoted),
        None => match bare.find(ENDS) {
            // It goes on with a quotation that began before.
            Some(end) if !bare.starts_with(['(', '-', '–', '—']) => {
                bare.get(..end).unwrap_or(bare)
            }
            None if !bare.starts_with(['(', '-', '–', '—']) => bare,
            _ => "",
        },
    }
}

fn spaced(text: &str) -> impl Iterator<Item = (usize, &str)> + Clone {
    let mut at = 0;
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .map(move |word| {
            let start = at;
            at += word.len();
            // The separator behind it.
            at += text
                .get(at..)
                .and_then(|rest| rest.chars().next())
                .map_or(0, char::len_utf8);
            (start, word)
        })
        .filter(|(_, word)| !word.is_empty())
}
