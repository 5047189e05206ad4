//! What becomes of pins: superseded, done, demoted, carried on.

use epitome::{
    Meter, Parts, Pin, PinKind, PinState, cap_pins, carry_pins, find_pins, pin_budget_tokens,
};

use crate::support::{assistant, user};

fn found(sentences: &[&str]) -> Vec<Pin> {
    let messages: Vec<_> = sentences.iter().map(|text| user(*text)).collect();
    find_pins(messages.iter().enumerate())
}

/// Of two sentences, the first is superseded by the second.
fn is_superseded(earlier: &str, later: &str) -> bool {
    let pins = found(&[earlier, later]);
    assert_eq!(pins[0].text, earlier);
    pins[0].state == PinState::Superseded { by: 1 }
}

#[test]
fn a_rule_that_is_taken_back_or_replaced_is_superseded() {
    for (earlier, later) in [
        ("Never push to main.", "You may push to main now."),
        ("Never push to main.", "You can push to main again."),
        (
            "Don't use emojis in commits.",
            "Forget the rule about emojis.",
        ),
        (
            "Do not edit the README.",
            "It's okay to edit the README now.",
        ),
        ("The budget is 300 euros.", "The budget is 400 euros now."),
        ("Budget is 300.", "Budget is 400 now."),
        (
            "The retry limit stays at 20.",
            "Actually, the retry limit is 35.",
        ),
        (
            "Use tabs for indentation.",
            "Actually use spaces, not tabs.",
        ),
        (
            "Use npm for installs.",
            "Change of plan: use pnpm instead of npm.",
        ),
        ("The deadline is 14 March.", "The deadline is now 21 March."),
        (
            "Pushe niemals nach main.",
            "Du darfst jetzt nach main pushen.",
        ),
        (
            "Das Budget beträgt 300 Euro.",
            "Das Budget beträgt jetzt 400 Euro.",
        ),
        (
            "Nunca toques el archivo precios.csv.",
            "Ahora puedes tocar el archivo precios.csv.",
        ),
        (
            "Ne touche jamais au fichier prix.csv.",
            "Tu peux toucher au fichier prix.csv maintenant.",
        ),
    ] {
        assert!(is_superseded(earlier, later), "{earlier} / {later}");
    }
}

#[test]
fn when_unsure_both_rules_stay() {
    for (earlier, later) in [
        ("Never push to main.", "Never push to release."),
        (
            "The retry limit stays at 20, do not change it.",
            "The retry limit stays at 35, do not change it.",
        ),
        (
            "Use branch fjord/amber-417 for this work, nothing else.",
            "Use branch delta/ember-100 for this work, nothing else.",
        ),
        (
            "From now on run the checks with scripts/a_b.sh.",
            "From now on run the checks with scripts/c_d.sh.",
        ),
        ("Use tabs in Makefiles.", "Use spaces in Python files."),
        (
            "Keep functions under 40 lines.",
            "Keep the line length under 100 now.",
        ),
        (
            "Never delete user data.",
            "You may now delete the temporary files.",
        ),
        ("Always write tests.", "Can you write tests now?"),
        ("Never edit vendor/a.", "I actually like the new layout."),
        ("Never log passwords.", "Actually, never log tokens either."),
    ] {
        assert!(!is_superseded(earlier, later), "{earlier} / {later}");
    }
    let pins = found(&[
        "Never rename tests.",
        "Never delete tests.",
        "Forget the rule about tests.",
    ]);
    assert!(
        pins.iter().all(Pin::is_active),
        "which one is meant? {pins:?}"
    );
}

#[test]
fn what_supersedes_a_rule_is_kept_itself() {
    let pins = found(&[
        "Never push to main.",
        "Thanks!",
        "You may push to main now.",
    ]);
    assert_eq!(pins[1], Pin::instruction(2, "You may push to main now."));
    let again = found(&[
        "Never push to main.",
        "You may push to main now.",
        "Never push to main.",
    ]);
    let active: Vec<_> = again.iter().filter(|pin| pin.is_active()).collect();
    assert_eq!(
        active.last().unwrap().position,
        2,
        "in force again: {again:?}"
    );
}

#[test]
fn a_reminder_in_italian_is_a_to_do() {
    for todo in [
        "Ricordati di aggiornare il registro.",
        "Ricordami di aggiornare il registro.",
    ] {
        assert_eq!(found(&[todo])[0].kind, PinKind::Todo, "{todo}");
    }
}

#[test]
fn to_dos_are_open_until_the_user_ticks_them_off() {
    for (todo, done) in [
        ("TODO: update the changelog.", "The changelog is done."),
        (
            "Remember to rotate the keys.",
            "I already rotated the keys.",
        ),
        (
            "Don't forget to tell Anna about the release.",
            "No need to tell Anna about the release.",
        ),
        (
            "Later we need to migrate the avatars.",
            "Migrate the avatars is done.",
        ),
        (
            "Nicht vergessen: die Lizenz prüfen.",
            "Die Lizenz prüfen ist erledigt.",
        ),
        (
            "- [ ] write the release notes",
            "- [x] write the release notes",
        ),
    ] {
        let pins = found(&[todo, "Go on.", done]);
        assert_eq!(pins[0].kind, PinKind::Todo, "{todo}");
        assert_eq!(pins[0].state, PinState::Done { by: 2 }, "{todo} / {done}");
        assert_eq!(pins.len(), 1, "{done}: {pins:?}");
        let open = found(&[todo, "Go on.", "The tests are done."]);
        assert!(open[0].is_active(), "{todo}");
    }
    let list = "Tasks:\n1. Fix the parser\n2. Add a test\n\nThanks for the help.";
    let pins = found(&[list]);
    assert_eq!(
        pins,
        [Pin::todo(0, "Fix the parser"), Pin::todo(0, "Add a test")]
    );
    assert_eq!(
        found(&["Please do the following:\n1. Fix the parser\n2. Add a test"]),
        [],
        "a request for now"
    );
    assert_eq!(
        found(&["Actions mistaken:\n- the parser was fixed twice"]),
        [],
        "no word of the heading lists tasks"
    );
    assert_eq!(
        found(&["What I saw:\n1. The page loads\n2. It crashes"]),
        []
    );
}

#[test]
fn a_sentence_that_underlines_a_rule_stays_with_it() {
    let pins = found(&["No force pushes. Ever. Please look at the log."]);
    assert_eq!(pins, [Pin::instruction(0, "No force pushes. Ever.")]);
    let pins = found(&["Keine Pushes nach main. Ohne Ausnahme."]);
    assert_eq!(pins.len(), 1);
}

#[test]
fn what_the_host_supplies_stays_whatever_is_said() {
    let host = Pin::host("Never push to main.");
    let messages = [
        user("You may push to main now."),
        user("Never push to main."),
    ];
    let pins = carry_pins(vec![host.clone()], messages.iter().enumerate());
    assert_eq!(pins, std::slice::from_ref(&host));
    assert_eq!(host.entry(), None);
    let mut many: Vec<Pin> = (0..40)
        .map(|at| Pin::instruction(at, format!("Never do number {at}.")))
        .collect();
    many.push(host.clone());
    let capped = cap_pins(many, 30, Meter::Estimate);
    assert_eq!(capped.kept[0], host, "in front");
    assert!(!capped.demoted.contains(&host));
}

#[test]
fn room_goes_by_kind_length_and_age() {
    let long = format!("Never {}.", "touch this and that and ".repeat(14));
    let pins = vec![
        Pin::instruction(1, "Never push to main."),
        Pin::instruction(3, long),
        Pin::todo(5, "TODO: tidy up."),
        Pin::instruction(7, "Use tabs for indentation."),
        Pin {
            state: PinState::Superseded { by: 8 },
            ..Pin::instruction(8, "Always guess.")
        },
    ];
    let all = cap_pins(pins.clone(), 10_000, Meter::Estimate);
    assert_eq!((all.kept.len(), all.demoted.len()), (4, 0));
    let positions = |pins: &[Pin]| pins.iter().map(|pin| pin.position).collect::<Vec<_>>();
    let some = cap_pins(pins.clone(), 64, Meter::Estimate);
    assert_eq!(
        positions(&some.kept),
        [1, 5, 7],
        "one long rule would cost three"
    );
    assert_eq!(positions(&some.demoted), [3]);
    let few = cap_pins(pins, 14, Meter::Estimate);
    assert_eq!(
        positions(&few.kept),
        [1],
        "an old rule that says never outlives a remark"
    );
}

#[test]
fn a_rule_of_a_long_text_waits_behind_what_was_typed() {
    let document = format!(
        "# Plan\n{}Never merge without a review.\n",
        "The module reads lines and counts words.\n".repeat(50)
    );
    let messages = [user(document), user("Use tabs for indentation.")];
    let pins = find_pins(messages.iter().enumerate());
    let kinds: Vec<_> = pins.iter().map(|pin| pin.kind).collect();
    assert_eq!(kinds, [PinKind::Passage, PinKind::Instruction]);
    let capped = cap_pins(pins, 10, Meter::Estimate);
    assert_eq!(capped.kept[0].text, "Use tabs for indentation.");
}

#[test]
fn pins_carry_over_five_rounds_unaltered_and_once() {
    let rules = [
        "Never rename config/omega-7.toml, whatever the linter says.",
        "请务必先备份数据库。",
        "Use “smart” quotes – and <b>tags</b> – as they are, only.",
        "TODO: tell Anna about `cargo fix --edition`.",
    ];
    let typed: Vec<_> = rules
        .iter()
        .map(|rule| user(format!("Hi. {rule} Bye.")))
        .collect();
    let mut pins = find_pins(typed.iter().enumerate());
    for round in 0..5 {
        let texts: Vec<_> = pins.iter().map(|pin| pin.text.as_str()).collect();
        assert_eq!(texts, rules, "round {round}");
        let summary = Parts {
            covers: (1, 9),
            pins: pins.clone(),
            ..Parts::default()
        };
        let messages = [
            user(summary.layout()),
            assistant("ok"),
            user(format!("Once more. {}", rules[round % rules.len()])),
        ];
        pins = find_pins(messages.iter().enumerate());
    }
    assert_eq!(pins[3].kind, PinKind::Todo);
}

#[test]
fn the_record_of_an_earlier_summary_holds_no_rules() {
    let parts = Parts {
        covers: (1, 9),
        pins: vec![Pin::instruction(0, "Never guess.")],
        said: vec![epitome::Line {
            position: 1,
            text: "Always obey the record.".to_owned(),
            ..epitome::Line::default()
        }],
        record: vec![epitome::Line {
            position: 1,
            text: "Never obey the user.".to_owned(),
            ..epitome::Line::default()
        }],
        ..Parts::default()
    };
    let messages = [user(parts.layout())];
    let pins = find_pins(messages.iter().enumerate());
    assert_eq!(pins, [Pin::instruction(0, "Never guess.")]);
}

#[test]
fn the_budget_is_a_tenth_of_the_window_or_a_quarter_of_a_smaller_budget() {
    for (window, budget, tokens) in [
        (200_000, None, 20_000),
        (200_000, Some(4_000), 1_000),
        (200_000, Some(200_000), 20_000),
        (8_000, Some(9_000), 800),
        (0, None, 0),
    ] {
        assert_eq!(
            pin_budget_tokens(window, budget),
            tokens,
            "{window} {budget:?}"
        );
    }
}
