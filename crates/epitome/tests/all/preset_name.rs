use epitome::{Preset, PresetName};

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

#[test]
fn a_name_leads_to_the_design_of_that_name() {
    for name in PresetName::ALL {
        assert_eq!(name.design().name, name.as_str());
        assert_eq!(Preset::named(name), Preset::of(name.design()));
    }
}
