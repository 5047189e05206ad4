use super::{FOR_BENCHES, FOR_FUZZ, FOR_TESTS, Need, packages_of, reason};

#[test]
fn every_row_says_what_to_install_and_for_whom() {
    for need in FOR_TESTS.iter().chain(FOR_BENCHES).chain(FOR_FUZZ) {
        assert!(!need.packages.is_empty(), "{}", need.name);
        assert!(!need.suites.is_empty(), "{}", need.name);
    }
}

#[test]
fn packages_are_asked_for_once() {
    let python = Need {
        name: "Python",
        detect: "true",
        packages: &["python3", "python3-venv"],
        suites: &["sdk"],
    };
    let other = Need {
        name: "Other",
        detect: "true",
        packages: &["python3", "git"],
        suites: &["other"],
    };
    assert_eq!(
        packages_of(&[&python, &other]),
        ["git", "python3", "python3-venv"]
    );
    assert_eq!(
        reason(&python),
        "Python is missing (Debian: apt-get install python3 python3-venv)"
    );
}
