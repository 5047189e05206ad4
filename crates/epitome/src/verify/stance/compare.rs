//! Two sentences side by side.

use super::form::{self, bare, is_same};
use super::lexicon::ChoiceKind;
use super::number;
use super::swap::are_swapped;
use super::{Chosen, Sign, Stance, WORD_WEIGHT, Word};

/// Of what two sentences have a third at most is in one of them only where few words can turn them round.
const FULLY_SHARED_THIRDS: usize = 2;

/// Who has so much of a sentence word for word says it with a word changed, and not in words of his own.
const NEARLY_ALL_TENTHS: usize = 9;

/// Smaller numbers are the same by chance.
const MANY: u64 = 13;

/// On which side a sentence stands, seen from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::verify) enum Side {
    Same,
    Opposite,
    /// Its words are the same at each other's places.
    Exchanged,
    /// Nobody can tell.
    Unclear,
}

/// How two sentences stand to each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::verify) struct Compared {
    /// How much of both is the same, from 0 to 1.
    pub(in crate::verify) alike: f64,
    /// What the words weigh that both have.
    pub(in crate::verify) shared: usize,
    pub(in crate::verify) side: Side,
    /// Whether this one allows what the other forbids, or lets in what it leaves out.
    pub(in crate::verify) lifts: bool,
    /// Whether it is the other but for a name or a number, or for words that have changed places.
    pub(in crate::verify) is_altered: bool,
}

impl Compared {
    /// Whether the one says the opposite of the other.
    pub(in crate::verify) const fn is_opposite(&self) -> bool {
        matches!(self.side, Side::Opposite | Side::Exchanged)
    }
}

impl Stance {
    /// This one beside another.
    pub(in crate::verify) fn beside(&self, other: &Self) -> Compared {
        let mut votes = Votes::default();
        let (mut shared, mut all) = (0, 0);
        let mut own = 0;
        for word in &self.words {
            match other.found(word) {
                Some((found, is_turned)) => {
                    shared += word.weight();
                    all += word.weight() + found.weight();
                    votes.count(word, found, is_turned);
                }
                None => {
                    all += word.lone_weight();
                    let is_change = other.is_unchanged && form::is_change(&word.text);
                    own += usize::from(word.lone_weight() > 0 && !is_change);
                }
            }
        }
        let lone = other.words.iter().filter(|word| self.found(word).is_none());
        let its_lone = lone.map(Word::lone_weight).sum::<usize>();
        all += its_lone;
        let ends = self.ends(other, &mut votes);
        // "Only the last one": "all".
        let is_narrower = own == 0 && its_lone + WORD_WEIGHT * ends.lone >= WORD_WEIGHT;
        let is_widened = is_narrower && self.widens(other);
        let mut is_opposite = match votes.agreed + votes.against {
            0 => self.denies != other.denies,
            _ => votes.are_against(),
        };
        let is_open = votes.agreed + votes.against == 0 && shared > 0;
        // What only a count of denials turns round may deny once more in a word that nobody knows here.
        let has_own = own > usize::from(other.names_nothing || self.commands_alone(other));
        let mut is_guessed = has_own && is_opposite && !votes.is_undone;
        let is_reordered = votes.out_of_order > votes.in_order;
        is_opposite ^= is_reordered;
        let bounds = self.bound.zip(other.bound);
        let is_unbound = bounds.is_some_and(|(own, its)| own != its);
        is_opposite ^= ends.turned % 2 == 1 || is_unbound;
        is_guessed &= ends.turned == 0 && !is_unbound && !is_reordered;
        // "Short and without jokes", "long and with jokes": both are turned round, each by itself.
        is_opposite |= ends.is_plainly_turned && votes.against_contrast;
        let is_unclear = self.is_tangled
            || other.is_tangled
            || ends.is_unclear
            || votes.are_split()
            || is_open
            || is_guessed && 10 * 2 * shared < NEARLY_ALL_TENTHS * all
            || self.may_prefer(other)
            || other.may_prefer(self)
            || votes.are_few(shared) && 3 * 2 * shared < FULLY_SHARED_THIRDS * all
            || self.undoes_what_it_does(other)
            || other.undoes_what_it_does(self)
            || self.undoes_alone(other)
            || other.undoes_alone(self)
            || self.may_say_less(other)
            || other.may_say_less(self)
            || self.leaves_free() && other.leaves_free() && !ends.is_plainly_turned;
        let all = all + WORD_WEIGHT * (2 * ends.shared + ends.lone);
        let shared = shared + WORD_WEIGHT * ends.shared;
        let lifts = self.lifts(other);
        let is_exchanged = are_swapped(&self.placed, &other.placed);
        let is_altered = self.counts_otherwise(other) || self.names_another(other);
        is_opposite |= self.is_less_than(other) || is_altered || is_widened;
        Compared {
            alike: 2.0 * shared as f64 / all.max(1) as f64,
            shared,
            side: match is_opposite {
                _ if is_exchanged => Side::Exchanged,
                _ if lifts => Side::Opposite,
                _ if is_unclear => Side::Unclear,
                true => Side::Opposite,
                false => Side::Same,
            },
            lifts,
            is_altered: is_altered || is_exchanged,
        }
    }

    /// The word in whatever form, and whether in one that is turned round: "formal", "informal".
    fn found(&self, word: &Word) -> Option<(&Word, bool)> {
        let text = &*word.text;
        let own = self.words.iter();
        let whole = own.clone().find(|own| own.is_same(word));
        let deed = |is_it: fn(&Word, &Word) -> bool| {
            own.clone().find(|own| own.does(word) && is_it(own, word))
        };
        // What does the same before what does the opposite.
        let same = || deed(|own, its| own.end.map(|end| end.place) == its.end.map(|end| end.place));
        let whole = whole.or_else(same).or_else(|| deed(|_, _| true));
        let whole = whole.map(|own| (own, false));
        let turned = || {
            own.clone().find(|own| {
                bare(&own.text).is_some_and(|bare| is_same(bare, text))
                    || bare(text).is_some_and(|bare| is_same(&own.text, bare))
            })
        };
        whole.or_else(|| turned().map(|own| (own, true)))
    }

    fn denies_something(&self) -> bool {
        self.has_denial || self.words.iter().any(|word| word.sign == Sign::Minus)
    }

    /// Whether it undoes something of which the other may only say that it is not done, or the other way round.
    fn undoes_alone(&self, other: &Self) -> bool {
        let mut deeds = self
            .words
            .iter()
            .filter_map(|word| word.end.map(|end| (word, end)));
        // "Leave it on" says that it is on.
        let is_helping = |one: &Word| {
            let mut others = self.words.iter().filter(|other| other.end.is_some());
            others.any(|other| !other.does(one))
        };
        deeds.any(|(word, end)| {
            let is_known = || other.found(word).is_some();
            let stays = || end.stays && !is_helping(word);
            (end.undoes() || stays()) && other.denies_something() && !is_known()
        })
    }

    /// Whether it does something and undoes it later, of which the other says one: "keep it for a week, then delete it".
    fn undoes_what_it_does(&self, other: &Self) -> bool {
        let has_both = |one: &Self| {
            let mut deeds = one.words.iter();
            deeds.any(|word| {
                let mut others = one.words.iter();
                others.any(|its| word.does(its) && word.end != its.end)
            })
        };
        !self.has_denial && has_both(self) && !has_both(other)
    }

    fn ends(&self, other: &Self, votes: &mut Votes) -> Ends {
        let mut ends = Ends::default();
        for own in &self.ends {
            match other.ends.iter().find(|its| its.is_of(*own)) {
                Some(its) => {
                    ends.shared += 1;
                    // "Two weeks" are "14 days".
                    let is_measured =
                        self.numbers != other.numbers && self.comes_to_the_same(other);
                    let is_measure = own.end.kind == ChoiceKind::Many && is_measured;
                    let is_turned = own.excludes(*its) && !is_measure;
                    ends.turned += usize::from(is_turned);
                    let is_wanted = |one: &Chosen| one.sign == Sign::Plus && one.is_plain;
                    let is_plain = is_wanted(own) && is_wanted(its);
                    ends.is_plainly_turned |= is_turned && is_plain;
                    if !is_turned && own.is_unwanted == its.is_unwanted {
                        let is_only = self.manner.only != other.manner.only && own.sign != its.sign;
                        let is_contrast = own.is_contrast || its.is_contrast || is_only;
                        votes.take([own.sign, its.sign], WORD_WEIGHT, is_contrast);
                    }
                }
                None => ends.only_in_one(*own),
            }
        }
        for its in &other.ends {
            if !self.ends.iter().any(|own| own.is_of(*its)) {
                ends.only_in_one(*its);
            }
        }
        ends
    }

    /// Whether this one makes less of what the other demands, or of whom it lets in.
    const fn is_less_than(&self, other: &Self) -> bool {
        let is_plain = !self.has_denial && !other.has_denial;
        // What is allowed within limits, or once something is done, is the demand in other words.
        let is_free = self.bound.is_none() && !self.has_order;
        is_plain
            && (is_free && self.manner.weakens(other.manner) || self.manner.opens(other.manner))
    }

    /// Whether it speaks of all where the other speaks of one kind only.
    const fn widens(&self, other: &Self) -> bool {
        let is_plain = !self.has_denial && !other.has_denial;
        let is_all = self.manner.all && !self.manner.only;
        is_plain && is_all && other.manner.only && !other.manner.all
    }

    /// Whether both name one number, and not the same.
    fn counts_otherwise(&self, other: &Self) -> bool {
        match (self.numbers.as_slice(), other.numbers.as_slice()) {
            ([own], [its]) => !number::may_be_same(*own, *its) && !self.comes_to_the_same(other),
            _ => false,
        }
    }

    /// Whether it begins with a verb that the other does not have, and denies nothing: "rewrite it".
    fn commands_alone(&self, other: &Self) -> bool {
        let first = self.words.first();
        let is_lone = |word: &Word| other.found(word).is_none();
        self.begins_with_word && !self.has_denial && first.is_some_and(is_lone)
    }

    /// Whether it prefers something without a word between the two, of which the other sets one against the other.
    fn may_prefer(&self, other: &Self) -> bool {
        let sets = |one: &Self| {
            let ends = one.ends.iter().any(|end| end.is_contrast);
            ends || one.words.iter().any(|word| word.is_contrast)
        };
        self.manner.prefers_by_case && !sets(self) && sets(other)
    }

    /// Whether both speak of the same amount.
    fn comes_to_the_same(&self, other: &Self) -> bool {
        let mut amounts = self.amounts.iter();
        amounts.any(|amount| other.amounts.contains(amount))
    }

    /// Whether both speak of the same amount, and of more than a few.
    pub(in crate::verify) fn shares_amount(&self, other: &Self) -> bool {
        let mut amounts = self.amounts.iter().filter(|amount| **amount >= MANY);
        amounts.any(|amount| other.amounts.contains(amount))
    }

    /// Whether it is the other sentence but for a name, in the place of which stands another.
    fn names_another(&self, other: &Self) -> bool {
        let only_own = |one: &Self, other: &Self| {
            let mut own = one.words.iter().filter(|word| other.found(word).is_none());
            let only = own.next().map(|word| word.text.clone());
            only.filter(|word| own.next().is_none() && one.names.contains(word))
        };
        if self.names.is_empty() || other.names.is_empty() {
            return false;
        }
        let names = only_own(self, other).zip(only_own(other, self));
        names.is_some_and(|(own, its)| !form::may_be_short(&own, &its))
    }

    /// Whether this one allows, in every case, what the other forbids, or lets in what it leaves out.
    const fn lifts(&self, other: &Self) -> bool {
        let allows = self.manner.is_free()
            && self.only_without
            && !self.has_case
            && !self.has_order
            && self.bound.is_none();
        let forbids = other.has_denial
            && !other.only_without
            && !other.manner.may
            && !other.waives
            && !other.has_order;
        allows && (forbids || self.manner.opens(other.manner))
    }

    /// Whether it says that something need not be, or may be done without something.
    const fn leaves_free(&self) -> bool {
        self.waives || self.manner.is_free() && self.only_without && self.has_without
    }

    /// Whether a denial of this one belongs to a limit or an order that the other does not have: what it says without
    /// them is open.
    const fn may_say_less(&self, other: &Self) -> bool {
        let is_limit = other.bound.is_some() && self.bound.is_none();
        self.has_denied_bound && other.bound.is_none()
            || self.has_order && self.denies && is_limit
            || self.has_order && self.denies && !other.has_order
    }
}

/// How the words that two sentences share stand to each other, by what they weigh.
#[derive(Default)]
struct Votes {
    agreed: usize,
    against: usize,
    in_order: usize,
    out_of_order: usize,
    /// The same for what is set against something else.
    agreed_contrast: bool,
    against_contrast: bool,
    /// Whether one does what the other undoes.
    is_undone: bool,
}

impl Votes {
    fn count(&mut self, own: &Word, its: &Word, is_turned: bool) {
        let weight = own.weight();
        let sign = if is_turned {
            its.sign.other()
        } else {
            its.sign
        };
        // Who does the opposite says so plainly: "leave it in", "take it out".
        let place = |word: &Word| word.end.map(|end| end.place);
        let is_undone = own.does(its) && place(own) != place(its);
        let is_contrast = own.is_contrast || its.is_contrast || is_undone;
        self.is_undone |= is_undone;
        self.take([own.sign, sign], weight, is_contrast);
        if let (Some(own), Some(its)) = (own.when, its.when) {
            self.in_order += usize::from(own == its);
            self.out_of_order += usize::from(own != its);
        }
    }

    fn take(&mut self, signs: [Sign; 2], weight: usize, is_contrast: bool) {
        match signs {
            [Sign::Open, _] | [_, Sign::Open] => {}
            [own, its] if own == its => {
                self.agreed += weight;
                self.agreed_contrast |= is_contrast;
            }
            _ => {
                self.against += weight;
                self.against_contrast |= is_contrast;
            }
        }
    }

    /// Whether more speaks against than for it. What is set against something else decides.
    const fn are_against(&self) -> bool {
        match (self.agreed_contrast, self.against_contrast) {
            (false, true) => true,
            (true, false) => false,
            _ => self.against > self.agreed,
        }
    }

    /// Whether less speaks against it than is on no side, of the words that both have.
    const fn are_few(&self, shared: usize) -> bool {
        self.against > 0 && self.agreed == 0 && !self.against_contrast && self.against * 2 <= shared
    }

    /// Whether as much speaks for the one as for the other.
    const fn are_split(&self) -> bool {
        self.agreed == self.against
            && self.agreed > 0
            && self.agreed_contrast == self.against_contrast
    }
}

/// How the choices of two sentences stand to each other.
#[derive(Default)]
struct Ends {
    shared: usize,
    /// Of these, others.
    turned: usize,
    /// Whether one of these is wanted in the one, and another in the other.
    is_plainly_turned: bool,
    /// Those that only one of the two has.
    lone: usize,
    /// Whether one of them denies what the other may say in other words.
    is_unclear: bool,
}

impl Ends {
    /// Takes up what the other sentence may say in other words.
    const fn only_in_one(&mut self, one: Chosen) {
        self.lone += 1;
        let is_quality = matches!(one.end.kind, ChoiceKind::Pair);
        self.is_unclear |= one.is_denied && is_quality;
    }
}
