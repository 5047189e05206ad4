use epitome::{CachePrices, Message, Meter, ModelTable, Preset, PresetName, Role, Session, Window};

use super::{Step, Terms, Turn, replay};
use crate::{Lifetime, PACE_MS, Pace, Recording, Totals};

const METER: Meter = Meter::Estimate;

/// A chat of so many questions, each answered with a hundred words.
fn chat(questions: usize) -> Vec<Message> {
    let mut messages = vec![
        Message::text(Role::System, "You keep the log of an observatory."),
        Message::text(Role::User, "Count the stars. Never guess."),
    ];
    for night in 0..questions {
        let text = format!(
            "Night {night}: file logs/night_{night}.txt has {} stars. ",
            night * 17
        );
        messages.push(Message::text(Role::Assistant, text.repeat(12)));
        messages.push(Message::text(
            Role::User,
            format!("Go on with night {}.", night + 1),
        ));
    }
    messages
}

fn played(recording: &Recording, preset: PresetName, window: u64) -> Vec<Turn> {
    let model = ModelTable::builtin().find("claude-sonnet-5").unwrap();
    let session = Session::new(Window::configured(window), METER)
        .with_preset(Preset::named(preset))
        .with_cache_prices(CachePrices::of(Some(model)))
        .without_guard();
    let terms = Terms {
        model,
        lifetime: Lifetime::FiveMinutes,
    };
    let replayed = replay(recording, session, &terms);
    for phase in &replayed.phases {
        assert!(
            phase.ratio(CachePrices::of(Some(model))) >= 1.0,
            "{phase:?}"
        );
    }
    replayed.turns
}

fn totals(turns: &[Turn]) -> Totals {
    let mut totals = Totals::default();
    totals.add(turns);
    totals
}

#[test]
fn what_fits_costs_the_same_on_both_sides() {
    let recording = Recording::new(chat(40), &[], METER).with_frame(5_000);
    assert_eq!((recording.requests(), recording.pace()), (40, Pace::Fixed));
    let turns = played(&recording, PresetName::Default, 1_000_000);
    for (number, turn) in turns.iter().enumerate() {
        assert_eq!(turn.step, Step::Sent);
        assert_eq!(turn.sent, turn.bare, "{number}");
        assert_eq!(turn.at_ms, (number as u64 + 1) * PACE_MS);
        assert!(turn.sent.spent.output_tokens > 0);
    }
    let first = turns[0].sent.spent;
    let before = recording.tokens_before(turns[0].messages);
    assert_eq!(first.input_tokens(), 5_000 + before);
    let totals = totals(&turns);
    assert!(totals.sent.spent.read_tokens > totals.sent.spent.written_tokens());
    assert_eq!(totals.kept_share(), None);
}

#[test]
fn what_does_not_fit_becomes_a_saw_tooth() {
    let recording = Recording::new(chat(400), &[], METER);
    for preset in PresetName::ALL {
        let window = 40_000;
        let turns = played(&recording, preset, window);
        let totals = totals(&turns);
        let name = preset.as_str();
        assert_eq!(totals.requests, 400);
        assert!(totals.bare.too_long > 0, "{name}");
        if preset == PresetName::Default {
            assert!(totals.compactions > 1, "{name}");
            assert_eq!(totals.sent.too_long, 0, "{name}");
            assert!(totals.sent.nanodollars < totals.bare.nanodollars, "{name}");
            let kept = totals.kept_share().unwrap();
            assert!((0.0..1.0).contains(&kept), "{kept}");
        }
        for turn in &turns {
            let Step::Compacted(made) = &turn.step else {
                continue;
            };
            assert!(made.tokens.1 < made.tokens.0, "{name}: {made:?}");
            assert!(made.anchors_in_view <= made.anchors, "{name}: {made:?}");
        }
    }
}

#[test]
fn times_of_the_recording_are_those_of_the_requests() {
    let messages = chat(3);
    // The third answer came after a night, and a clock went backwards.
    let times = [
        Some(0),
        Some(1_000),
        Some(9_000),
        Some(5_000),
        Some(20_000),
        None,
        Some(30_000),
        Some(80_000_000),
    ];
    let recording = Recording::new(messages, &times, METER).with_frame(9_000);
    let turns = played(&recording, PresetName::Default, 200_000);
    let at: Vec<u64> = turns.iter().map(|turn| turn.at_ms).collect();
    assert_eq!(at, [1_000, 9_000, 20_000]);
    assert_eq!(recording.pace(), Pace::Recorded);
    assert!(turns[2].sent.spent.read_tokens > 9_000);
}

#[test]
fn an_answer_in_several_messages_is_one_request() {
    let mut messages = chat(2);
    messages.insert(3, Message::text(Role::Assistant, "And more."));
    let recording = Recording::new(messages, &[], METER);
    assert_eq!(recording.requests(), 2);
    let bare = Recording::new(vec![Message::text(Role::Assistant, "Hello.")], &[], METER);
    assert_eq!((bare.requests(), bare.messages()), (0, 1));
}
