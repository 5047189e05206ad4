//! A design that the product does not know: all of it stands in one file here, and it runs like the others.

#[path = "seventh_design/diary.rs"]
mod diary;

use epitome::settings::{Settings, Value};
use epitome::{
    Decision, Event, FieldValue, Guard, Meter, Preset, PresetName, PruneSettings, Reason, Role,
    Session, Trigger, Window, guard_window,
};

use crate::support::{assistant, user};
use diary::{DESIGN, KEPT_MESSAGES, LINE_TOKENS};

/// A session that grew until its design wants something done.
fn grown(preset: Preset) -> Session {
    let mut session =
        Session::new(Window::configured(200_000), Meter::Estimate).with_preset(preset);
    session.push(user("Walk from Lisbon to Porto and note every village."));
    talk(&mut session);
    session
}

fn talk(session: &mut Session) {
    for day in 0..400 {
        if session.decide() != Decision::Proceed {
            return;
        }
        session.push(assistant(format!(
            "On day {day} the road led past Aldeia{day}, where {} goats stood at a well and a baker sold bread.",
            day * 3
        )));
        session.push(user("Go on to the next village, please."));
    }
}

#[test]
fn it_is_due_at_its_own_line() {
    let session = grown(Preset::of(&DESIGN));
    let line = u64::try_from(LINE_TOKENS).unwrap();
    assert_eq!(session.decide(), Decision::Compact(Reason::Threshold));
    assert!(session.due_tokens() >= line);
    let one_day_less = session.fork(session.messages().len() - 2);
    assert!(one_day_less.due_tokens() < line);
    assert_eq!(one_day_less.decide(), Decision::Proceed);
    let ours = grown(Preset::named(PresetName::Default));
    assert_eq!(ours.decide(), Decision::Proceed, "the others are not moved");
}

#[test]
fn it_compacts_in_its_own_place_and_words() {
    let mut session = grown(Preset::of(&DESIGN));
    let before: Vec<_> = session.messages().to_vec();
    session.compact(Reason::Threshold).unwrap();

    let view = session.view_messages();
    let (kept, shown) = (&before[before.len() - KEPT_MESSAGES..], view.len());
    assert_eq!(&view[shown - KEPT_MESSAGES..], kept);
    let page = &view[shown - KEPT_MESSAGES - 1];
    assert_eq!(page.role, Role::Assistant);
    let text = page.spoken().next().unwrap();
    assert!(
        text.starts_with(
            "Dear diary, page 1\nI was asked: Walk from Lisbon to Porto and note every village.\nI noted: "
        ),
        "{text}"
    );
    assert_eq!(text, session.compaction().unwrap().summary.text);

    talk(&mut session);
    session.compact(Reason::Threshold).unwrap();
    let text = &session.compaction().unwrap().summary.text;
    assert!(text.starts_with("Dear diary, page 2\n"), "{text}");
    session.undo().unwrap();
    session.undo().unwrap();
    assert_eq!(session.view_messages(), session.messages());
}

#[test]
fn a_text_of_somebody_else_is_dressed_too() {
    let mut session = grown(Preset::of(&DESIGN));
    let job = session.begin(Reason::Manual).unwrap();
    assert_eq!(job.design().name, "diary");
    assert_eq!(job.design().asking.temperature, Some(1.0));
    let prepared = job.accept("On day 4 the road led past Aldeia4.").unwrap();
    let text = &prepared.compaction().summary.text;
    assert!(text.starts_with("Dear diary, page 1\n"), "{text}");
    assert!(
        text.contains("I wrote: On day 4 the road led past Aldeia4."),
        "{text}"
    );
}

#[test]
fn it_tells_what_happens_in_its_own_words() {
    let mut session = grown(Preset::of(&DESIGN));
    session.compact(Reason::Threshold).unwrap();
    let events = session.take_events();
    let names: Vec<&str> = events.iter().map(|event| event.name(&DESIGN)).collect();
    assert_eq!(names, ["pen_taken", "page_written"]);
    let lines: Vec<String> = events
        .iter()
        .flat_map(|event| event.lines(&DESIGN))
        .collect();
    let count = session.compaction().unwrap().plan.span.len();
    assert_eq!(
        lines,
        [
            format!("Writing about {count} messages"),
            "Page 1 is written".to_owned()
        ]
    );
    let done = events.last().unwrap();
    assert_eq!(done.fields(&DESIGN), [("page", FieldValue::Number(1))]);
    let failed = Event::Failed {
        reason: Reason::SummaryFailed,
        error: "no answer".to_owned(),
    };
    assert_eq!(failed.lines(&DESIGN), ["The ink ran out: no answer"]);
    // What it says nothing about is told as everybody does.
    assert_eq!(failed.name(&DESIGN), failed.name(PresetName::Default));
}

#[test]
fn its_guard_and_its_pruning_are_its_own() {
    assert_eq!(guard_window(&DESIGN, 4_000), Ok(Guard::Fine));
    let pruning = PruneSettings::of(&DESIGN, 50_000);
    assert_eq!(pruning.entry_cap, epitome::EntryCap::Tokens(5_000));
    assert!(PresetName::ALL.iter().all(|name| name.design() != &DESIGN));
}

fn table(entries: &[(&str, Value)]) -> Value {
    let entry = |(name, value): &(&str, Value)| ((*name).to_owned(), value.clone());
    Value::Table(entries.iter().map(entry).collect())
}

#[test]
fn its_settings_are_rows_like_those_of_the_others() {
    let mut settings = Settings::of(&DESIGN);
    assert_eq!(settings.design(), &DESIGN);
    assert_eq!(settings.preset(), None);
    assert_eq!(Preset::from(&settings), Preset::of(&DESIGN));
    assert_eq!(settings.common.summary_temperature, Some(1.0));
    settings
        .apply(&table(&[
            ("pageLine", Value::Whole(5_000)),
            ("window", Value::Whole(9_000)),
        ]))
        .unwrap();
    assert_eq!(Preset::from(&settings).trigger, Trigger::AtLeast(5_000));
    assert_eq!(settings.window(), Some(Window::configured(9_000)));
    let told: Vec<String> = settings
        .entries()
        .map(|(key, value)| format!("{}={value}", key.name))
        .collect();
    assert!(told.contains(&"page_line=5000".to_owned()), "{told:?}");

    let before = settings.clone();
    for (wrong, said) in [
        (("page_line", Value::Whole(7)), "`page_line` is 7"),
        (("page_line", Value::Switch(true)), "a whole number"),
        (
            ("voice", Value::Text("nobody".to_owned())),
            "`assistant` or `user`",
        ),
        (
            ("page_lime", Value::Whole(700)),
            "did you mean `page_line`?",
        ),
        (
            ("auto_compact_threshold", Value::Whole(700)),
            "the preset `vibe`",
        ),
    ] {
        let error = settings.apply(&table(&[wrong])).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
        assert_eq!(settings, before);
    }
    settings
        .apply(&table(&[("voice", Value::Text("user".to_owned()))]))
        .unwrap();
    let mut session = Session::from_settings(&settings, Window::assumed(), Meter::Estimate);
    assert_eq!(session.window().tokens, 9_000);
    session.push(user("Walk from Lisbon to Porto and note every village."));
    talk(&mut session);
    assert!(session.due_tokens() >= 5_000);
    session.compact(Reason::Threshold).unwrap();
    let page = &session.view_messages()[0];
    assert_eq!(page.role, Role::User);
    assert!(page.spoken().next().unwrap().starts_with("Dear diary"));
}
