//! Words that turn a sentence round, and words that tell nothing.

use super::super::denial::NEGATION_SIGNS;
use super::super::voice;
use super::super::word::is_unspaced;
use crate::pin;

/// Words that name the other end of what they are about; a word counts if it begins so.
const OTHER_END: &[&str] = &[
    // English
    "after",
    "afterward",
    "above",
    "exceed",
    "longer",
    "larger",
    "least",
    "minimum",
    "disabl",
    "deactivat",
    "optional",
    "unnecessar",
    "remov",
    "delet",
    "discard",
    "skip",
    "omit",
    "ignor",
    "exclud",
    "except",
    "unless",
    "forbid",
    "forbad",
    "prohibit",
    "banned",
    "refus",
    "neither",
    "unrestrict",
    "outside",
    // German
    "nachdem",
    "danach",
    "länger",
    "größer",
    "mindestens",
    "überschreit",
    "übersteig",
    "deaktivier",
    "abschalt",
    "ausschalt",
    "entfern",
    "lösch",
    "weglass",
    "weggelassen",
    "überspring",
    "außer",
    "untersag",
    "verzicht",
    "unnötig",
    "weder",
    // French
    "après",
    "supérieur",
    "dépass",
    "minimum",
    "désactiv",
    "supprim",
    "retir",
    "enlev",
    "sauf",
    "excepté",
    "défendu",
    "facultati",
    "inutile",
    "ignorer",
    // Spanish
    "después",
    "tras",
    "mínimo",
    "supera",
    "exced",
    "desactiv",
    "elimin",
    "borr",
    "quit",
    "salvo",
    "excepto",
    "omit",
    "opcional",
    "innecesari",
    // Russian
    "после",
    "длиннее",
    "выше",
    "минимум",
    "превыш",
    "отключ",
    "выключ",
    "удал",
    "убра",
    "убир",
    "кроме",
    "запрещ",
    "избега",
    "пропуск",
    "позднее",
    "позже",
];
/// The same, but only as whole words: their beginnings mean other things.
const OTHER_END_WHOLE: &[&str] = &[
    "over",
    "more",
    "off",
    "drop",
    "later",
    "ban",
    "über",
    "mehr",
    "nach",
    "aus",
    "später",
    "plus",
    "más",
    "mayor",
    "más",
    "более",
    "больше",
    "нельзя",
];
/// Denials that in some languages only echo another in the same sentence.
const ECHOES: &[&str] = &[
    "nada",
    "nadie",
    "nunca",
    "jamás",
    "ningún",
    "ninguna",
    "ninguno",
    "rien",
    "aucun",
    "aucune",
    "personne",
    "никогда",
    "ничего",
    "никто",
    "никому",
    "никаких",
    "никакие",
    "никакой",
];
/// Two words that turn a sentence round together, where the second by itself would not.
const TURNING: &[(&str, &str)] = &[
    ("au", "moins"),
    ("à", "moins"),
    ("al", "menos"),
    ("a", "menos"),
    ("por", "menos"),
    ("anything", "but"),
    ("free", "of"),
    ("free", "from"),
    ("no", "longer"),
];
/// Two words that do not, though the first or the second by itself does.
const PLAIN: &[(&str, &str)] = &[
    ("nothing", "but"),
    ("au", "plus"),
    ("nicht", "nur"),
    ("once", "more"),
    ("more", "over"),
    ("what's", "more"),
    ("plus", "tard"),
    ("look", "after"),
    ("nach", "dem"),
];
/// Two words behind which stands what something is set against.
const CONTRASTS: &[(&str, &str)] = &[
    ("instead", "of"),
    ("rather", "than"),
    ("plutôt", "que"),
    ("au", "lieu"),
    ("en", "lugar"),
    ("en", "vez"),
    ("а", "не"),
];
/// The same in one word.
const CONTRAST: &[&str] = &["statt", "anstatt", "anstelle", "вместо"];
/// Signs that turn a sentence round in scripts that do not separate words; the longest that fits counts.
const SIGNS: &[&str] = &[
    "没有", "禁止", "之后", "以后", "后再", "超过", "以上", "至少", "多于", "关闭", "停用", "禁用",
    "删除", "去掉", "移除", "除了", "除非", "避免", "以外", "没", "未", "无须", "无需", "不", "别",
    "勿",
];
/// Signs that hold one of those and do not turn anything.
const PLAIN_SIGNS: &[&str] = &[
    "不仅", "不断", "不同", "特别", "区别", "分别", "类别", "级别", "未来",
];
/// Syllables that turn a word round.
const TURNING_SYLLABLES: &[&str] = &[
    "un", "in", "im", "ir", "dis", "des", "dés", "de", "non", "не", "без", "бес", "dé",
];
/// What stands between clauses, beside signs.
const BUT: &[&str] = &[
    " but ",
    " aber ",
    " sondern ",
    " mais ",
    " pero ",
    " sino ",
    " но ",
    "但是",
    "但",
    " while ",
    " whereas ",
];
const BETWEEN: [char; 9] = [',', ';', ':', '.', '(', ')', '，', '；', '。'];
/// What stands for a denial inside a word.
const SHORT: [(&str, &str); 4] = [
    ("can't", "can not"),
    ("cannot", "can not"),
    ("won't", "will not"),
    ("n't", " not"),
];

/// Small letters with every denial as a word.
pub(super) fn spelled_out(lower: &str) -> String {
    let mut text = lower.to_owned();
    for (short, long) in SHORT {
        if text.contains(short) {
            text = text.replace(short, long);
        }
    }
    text
}

/// How often signs turn a text round.
pub(super) fn unspaced_turns(lower: &str) -> usize {
    if !lower.chars().any(is_unspaced) {
        return 0;
    }
    let mut turns = 0;
    let mut rest = lower;
    while let Some(first) = rest.chars().next() {
        let starts = |sign: &&&str| rest.starts_with(**sign);
        let plain = PLAIN_SIGNS.iter().find(starts);
        let sign = SIGNS.iter().chain(NEGATION_SIGNS).find(starts);
        let length = match (plain, sign) {
            (Some(plain), _) => plain.len(),
            (None, Some(sign)) => {
                turns += 1;
                sign.len()
            }
            (None, None) => first.len_utf8(),
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    turns
}

/// Whether a word names the other end.
pub(super) fn turns(word: &str) -> bool {
    OTHER_END_WHOLE.contains(&word) || OTHER_END.iter().any(|start| word.starts_with(start))
}

/// Whether a denial may only echo another one.
pub(super) fn echoes(word: &str) -> bool {
    ECHOES.contains(&word)
}

pub(super) fn is_pair_that_turns(before: &str, word: &str) -> bool {
    TURNING.contains(&(before, word))
}

pub(super) fn is_pair_that_does_not(before: &str, word: &str) -> bool {
    PLAIN.contains(&(before, word))
}

/// Whether something is set against what follows.
pub(super) fn is_contrast(before: &str, word: &str) -> bool {
    CONTRAST.contains(&word) || CONTRASTS.contains(&(before, word))
}

/// Whether a word tells something by itself.
pub(super) fn tells(word: &str) -> bool {
    let is_number = word.starts_with(|c: char| c.is_ascii_digit());
    let is_long = is_number || word.contains(is_unspaced) || word.chars().count() > 2;
    is_long && !pin::names_nothing(word) && !voice::names_user(word)
}

/// A word without the syllable that turns it round.
pub(super) fn bare(word: &str) -> Option<&str> {
    let bare = TURNING_SYLLABLES
        .iter()
        .filter_map(|syllable| word.strip_prefix(syllable))
        .min_by_key(|bare| bare.len())?;
    (bare.chars().count() >= super::BARE_CHARS).then_some(bare)
}

/// The clauses of a sentence.
pub(super) fn clauses(sentence: &str) -> Vec<&str> {
    let mut found: Vec<&str> = vec![sentence];
    for but in BUT {
        found = found.iter().flat_map(|part| part.split(but)).collect();
    }
    let parts = found.iter().flat_map(|part| part.split(BETWEEN));
    parts.filter(|part| !part.trim().is_empty()).collect()
}
