//! Words that are told apart by what they do where a sentence is read, beside the tables.

/// Words that deny as a condition of something else.
pub(super) const CONDITIONS: &[&str] = &[
    "without",
    "unless",
    "except",
    "ohne",
    "ausser",
    "sans",
    "sauf",
    "sin",
    "salvo",
    "excepto",
    "без",
    "кроме",
    "未",
    "没",
    "除",
    "on",
    "by",
    "eigenmachtig",
    "de",
    "por",
    "самостоятельно",
    "擅",
];

/// What need not be may be: what denies one of these forbids nothing.
pub(super) const NEEDS: &[&str] = &[
    "need",
    "needs",
    "needed",
    "necessary",
    "required",
    "unnecessary",
    "optional",
    "muss",
    "mussen",
    "musst",
    "brauch",
    "brauche",
    "brauchst",
    "braucht",
    "brauchen",
    "notig",
    "notwendig",
    "unnotig",
    "erforderlich",
    "besoin",
    "necessaire",
    "necessite",
    "necessitent",
    "requiert",
    "requires",
    "require",
    "bedarf",
    "benotigt",
    "necesita",
    "necesitan",
    "requiere",
    "требует",
    "требуется",
    "требуются",
    "inutile",
    "obligatoire",
    "necesario",
    "necesaria",
    "falta",
    "obligatorio",
    "нужно",
    "нужен",
    "нужна",
    "нужны",
    "надо",
    "обязательно",
    "необязательно",
    "必",
    "需",
    "用",
];

/// Words that stand for whatever it may be.
pub(super) const NOTHING: &[&str] = &[
    "nothing",
    "anything",
    "nichts",
    "etwas",
    "rien",
    "nada",
    "ничего",
    "ничто",
];

/// Words that begin a condition.
pub(super) const CASES: &[&str] = &[
    "if",
    "when",
    "while",
    "wenn",
    "falls",
    "solange",
    "si",
    "quand",
    "tant",
    "cuando",
    "mientras",
    "если",
    "когда",
    "пока",
    "如",
    "若",
    "当",
];

/// Words by which somebody says what he wants.
pub(super) const WANTS: &[&str] = &[
    "want",
    "wants",
    "will",
    "mochte",
    "veux",
    "veut",
    "quiero",
    "quiere",
    "хочу",
    "хочет",
];

/// What "nobody but" begins with where it is denied once more.
pub(super) const NOBODY: &[&str] = &["никто", "никому", "nadie"];

/// What stands between the two in "I prefer A to B".
pub(super) const TO: &[&str] = &["to", "a", "au", "aux", "al", "que", "qu"];
