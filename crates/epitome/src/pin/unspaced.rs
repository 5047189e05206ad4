//! Rules in scripts that do not separate words, and in Korean, whose words change at their ends.

use super::class::Class;
use super::languages::PIECES;
use super::reading::{Reading, Strength};
use super::state::Change;

/// The longest rule; beyond this it is a paste.
const LONGEST: usize = 200;
/// The shortest: 絶対だめ.
const SHORTEST: usize = 4;
/// One letter of these scripts in this many characters makes a sentence one of theirs: the rest may be names.
const SHARE: usize = 6;

/// Characters by which these languages negate, forbid and wish.
const NEGATIONS: &[char] = &[
    '不', '别', '別', '勿', '莫', '禁', '没', '無', '无', '望', '须', '須', '必', '应', '該', '该',
    '只', 'な', '願', '欲', '말', '안', '않', '못', '금', '만', '주',
];

/// Whether a sentence is written in one of these scripts.
pub(super) fn is_script(sentence: &str) -> bool {
    if sentence.is_ascii() {
        return false;
    }
    let (mut own, mut all) = (0, 0);
    for character in sentence.chars() {
        own += usize::from(is_own(character));
        all += 1;
    }
    own > 0 && own * SHARE >= all
}

/// Whether a character is of one of these scripts.
pub(crate) const fn is_own(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}')
}

/// Whether a sentence has a character that may negate it in these scripts.
pub(super) fn negates(sentence: &str) -> bool {
    is_script(sentence) && sentence.contains(NEGATIONS)
}

/// What a sentence of these scripts says.
pub(super) fn read(sentence: &str) -> Reading {
    let count = sentence.chars().count();
    if !(SHORTEST..=LONGEST).contains(&count) {
        return Reading::default();
    }
    let text = sentence.trim_end_matches(|c: char| !c.is_alphanumeric());
    let asks = sentence.ends_with(['?', '？']);
    let mut explicit = false;
    let mut plain = false;
    let mut may_bind = text.contains(NEGATIONS);
    let mut change = None;
    let (mut is_scoped, mut commands) = (false, false);
    let mut begins = true;
    // The end of a phrase that looks like a rule and is none, or may stand before one.
    let mut skipped_to = 0;
    for (at, character) in text.char_indices() {
        if at < skipped_to {
            continue;
        }
        let rest = text.get(at..).unwrap_or_default();
        let mut found: Option<(Class, &str)> = None;
        for (class, piece) in PIECES.get(&character).into_iter().flatten() {
            let fits = rest.starts_with(piece)
                && match class {
                    Class::Begins => begins,
                    Class::Ends | Class::Question => rest.len() == piece.len(),
                    _ => true,
                };
            if fits
                && found.is_none_or(|(best, longest)| (piece.len(), *class) > (longest.len(), best))
            {
                found = Some((*class, piece));
            }
        }
        match found {
            Some((Class::Idle, piece)) => skipped_to = at + piece.len(),
            Some((Class::Polite, piece)) => {
                commands |= piece.starts_with(['请', '請']);
                skipped_to = at + piece.len();
                continue;
            }
            Some((Class::Question, _)) => return Reading::default(),
            Some((Class::Revokes, _)) => change = Some(Change::Revokes),
            Some((Class::Replaces, _)) => change = Some(Change::Replaces),
            Some((Class::Finishes, _)) => change = Some(Change::Finishes),
            Some((Class::Scope, _)) => is_scoped = true,
            Some((Class::Command, piece)) => {
                commands |= rest.len() == piece.len() || at == 0;
                may_bind = true;
            }
            Some((Class::Begins | Class::Ends, _)) => plain = true,
            Some((_, _)) => explicit = true,
            None => {}
        }
        begins = matches!(
            character,
            '，' | '、' | ',' | '：' | ':' | '；' | ' ' | '。' | '（' | '(' | '！'
        );
    }
    if asks {
        return Reading::default();
    }
    plain |= is_scoped && commands;
    let strength = match (explicit, plain) {
        (true, _) => Some(Strength::Explicit),
        (false, true) => Some(Strength::Plain),
        (false, false) => None,
    };
    Reading {
        strength,
        in_force: strength,
        change,
        may_bind: may_bind || is_scoped || strength.is_some(),
    }
}
