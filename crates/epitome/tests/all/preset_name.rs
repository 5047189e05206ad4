use epitome::PresetName;

#[test]
fn presets_are_known_by_name() {
    for preset in PresetName::ALL {
        assert_eq!(preset.to_string().parse(), Ok(preset));
    }
    let error = "claude".parse::<PresetName>().unwrap_err().to_string();
    for preset in PresetName::ALL {
        assert!(error.contains(preset.as_str()), "{error}");
    }
    assert_eq!(PresetName::default(), PresetName::Default);
}
