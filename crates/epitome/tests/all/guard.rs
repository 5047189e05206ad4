use epitome::{Guard, PresetName, Reason, guard_window};

#[test]
fn the_guard_refuses_and_warns_where_it_belongs() {
    for preset in [PresetName::Default, PresetName::Openclaw] {
        let refused = guard_window(preset, 15_999).unwrap_err();
        assert_eq!(refused.reason(), Reason::WindowTooSmall);
        assert!(refused.to_string().contains("15999"), "{refused}");
        let small = |window_tokens| Ok(Guard::Small { window_tokens });
        assert_eq!(guard_window(preset, 16_000), small(16_000));
        assert_eq!(guard_window(preset, 31_999), small(31_999));
        assert_eq!(guard_window(preset, 32_000), Ok(Guard::Fine));
    }
    for preset in [
        PresetName::Vibe,
        PresetName::Micro,
        PresetName::Spacebot,
        PresetName::Layer,
    ] {
        assert_eq!(guard_window(preset, 1), Ok(Guard::Fine));
    }
}
