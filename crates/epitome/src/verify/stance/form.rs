//! Words in whatever form: without accents, and as forms of one.

use crate::letters::small;
use crate::pin;

/// What a word begins with at least that is the same word in another form.
const SAME_CHARS: usize = 3;
/// From so many letters on as many may follow.
const LONG_CHARS: usize = 5;
/// From so many letters on any ending may follow.
const SURE_CHARS: usize = 4;
/// What two forms of a word may differ in at their ends.
const ENDING_CHARS: usize = 4;
/// Letters of a word in front of which a syllable turns it round.
const BARE_CHARS: usize = 5;
/// Letters that a name has at most that is short for another.
const SHORT_CHARS: usize = 4;
/// Letters that a participle keeps without its first syllable.
const PARTICIPLE_CHARS: usize = 4;
/// Syllables that turn a word round.
const TURNING_SYLLABLES: &[&str] = &[
    "un", "in", "im", "ir", "dis", "des", "de", "non", "не", "без", "бес",
];
/// What German participles and infinitives have inside or in front: "eingereicht", "einzureichen".
const SEPARABLE: &[&str] = &[
    "ein", "aus", "an", "auf", "ab", "vor", "nach", "weg", "um", "zu", "bei", "mit", "hinzu",
    "fest", "durch", "zurück",
];
const VOWELS: &str = "aeiouyаеиоуыэюяьй";

/// Small letters without accents: many type none.
pub(super) fn folded(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii() {
            plain.push(c.to_ascii_lowercase());
        } else {
            small(c, |c| fold(c, &mut plain));
        }
    }
    plain
}

/// Adds a small letter outside ASCII without its accent.
fn fold(c: char, plain: &mut String) {
    match c {
        '’' => plain.push('\''),
        'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' => plain.push('a'),
        'è' | 'é' | 'ê' | 'ë' => plain.push('e'),
        'ì' | 'í' | 'î' | 'ï' => plain.push('i'),
        'ò' | 'ó' | 'ô' | 'õ' | 'ö' => plain.push('o'),
        'ù' | 'ú' | 'û' | 'ü' => plain.push('u'),
        'ç' => plain.push('c'),
        'ñ' => plain.push('n'),
        'ß' => plain.push_str("ss"),
        'œ' => plain.push_str("oe"),
        'ё' => plain.push('е'),
        c => plain.push(c),
    }
}

/// A word without what only its tense puts in front or inside.
pub(super) fn rooted(word: &str) -> String {
    let is_participle = word.ends_with('t') || word.ends_with("en") || word.ends_with("ten");
    let without = |syllable: &str, word: &str| {
        let rest = word.strip_prefix(syllable)?;
        (rest.chars().count() >= PARTICIPLE_CHARS).then(|| rest.to_owned())
    };
    if let Some(infinitive) = without_pronoun(word) {
        return infinitive.to_owned();
    }
    if !is_participle {
        return word.to_owned();
    }
    if let Some(rest) = without("ge", word) {
        return rest;
    }
    let inside = SEPARABLE.iter().find_map(|first| {
        let rest = word.strip_prefix(first)?;
        let rest = without("ge", rest).or_else(|| without("zu", rest))?;
        Some(format!("{first}{rest}"))
    });
    inside.unwrap_or_else(|| word.to_owned())
}

/// A Spanish infinitive without the pronoun behind it: "subirlos".
fn without_pronoun(word: &str) -> Option<&str> {
    const PRONOUNS: &[&str] = &["los", "las", "les", "lo", "la", "le", "se", "me", "nos"];
    const INFINITIVES: &[&str] = &["ar", "er", "ir"];
    let verbs = PRONOUNS
        .iter()
        .filter_map(|pronoun| word.strip_suffix(pronoun));
    let mut verbs = verbs.filter(|verb| verb.len() >= PARTICIPLE_CHARS);
    verbs.find(|verb| INFINITIVES.iter().any(|ending| verb.ends_with(ending)))
}

/// Whether two words are forms of one.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let (one, other) = (pin::stem(one), pin::stem(other));
    let mut same = 0;
    let mut rests = [one, other];
    while let [Some(own), Some(its)] = rests.map(sound)
        && own.0 == its.0
    {
        same += 1;
        rests = [own.1, its.1];
    }
    let longest = rests.iter().map(|rest| rest.chars().count()).max();
    let longest = longest.unwrap_or_default();
    // "Main" and "mail" begin alike too.
    let is_ending =
        |rest: &&str| rest.is_empty() || *rest == "s" || rest.starts_with(|c| VOWELS.contains(c));
    // The longer what they share, the longer an ending may be.
    let is_most = match same {
        LONG_CHARS.. => longest <= same,
        _ => same * 20 >= (same + longest) * 11,
    };
    same >= SAME_CHARS
        && longest <= ENDING_CHARS + usize::from(same > LONG_CHARS)
        && is_most
        && (same >= SURE_CHARS || rests.iter().all(is_ending))
}

/// The first consonant or vowel of a word and what follows. Before an E or an I Spanish and French write others for the
/// same: "tocar", "toques".
fn sound(word: &str) -> Option<(char, &str)> {
    let mut letters = word.chars();
    let first = letters.next()?;
    let rest = letters.as_str();
    let is_soft = |rest: &str| rest.starts_with(['e', 'i']);
    Some(match first {
        'q' | 'g' => match rest.strip_prefix('u').filter(|rest| is_soft(rest)) {
            Some(behind) => (if first == 'q' { 'c' } else { 'g' }, behind),
            None => (first, rest),
        },
        'z' => ('c', rest),
        // "Prueba", "probar"; "cierra", "cerrar".
        'u' if rest.starts_with('e') => ('o', rest.get(1..).unwrap_or_default()),
        'i' if rest.starts_with('e') => ('e', rest.get(1..).unwrap_or_default()),
        _ => (first, rest),
    })
}

/// How words begin that say that something is changed, without accents.
const CHANGES: &[&str] = &[
    "chang",
    "modif",
    "edit",
    "alter",
    "rewrit",
    "touch",
    "adjust",
    "ander",
    "verander",
    "bearbeit",
    "uberarbeit",
    "anpass",
    "anfass",
    "retouch",
    "touche",
    "cambi",
    "toca",
    "toqu",
    "altera",
    "измен",
    "меня",
    "помен",
    "редактир",
    "трог",
    "правь",
    "перепис",
    "改",
    "修",
    "动",
];

/// Whether a word says that something is changed.
pub(super) fn is_change(word: &str) -> bool {
    CHANGES.iter().any(|change| word.starts_with(change))
}

/// Whether one name may be short for the other: "JS", "JavaScript".
pub(super) fn may_be_short(one: &str, other: &str) -> bool {
    let shorter = one.chars().count().min(other.chars().count());
    shorter <= SHORT_CHARS && one.chars().next() == other.chars().next()
}

/// A word without the syllable that turns it round.
pub(super) fn bare(word: &str) -> Option<&str> {
    let bare = TURNING_SYLLABLES
        .iter()
        .filter_map(|syllable| word.strip_prefix(syllable))
        .min_by_key(|bare| bare.len())?;
    (bare.chars().count() >= BARE_CHARS).then_some(bare)
}

/// The letters by which a word is looked up in whatever form.
pub(super) fn beginning(word: &str) -> &str {
    let end = word.char_indices().nth(SAME_CHARS);
    end.map_or(word, |(at, _)| word.get(..at).unwrap_or(word))
}
