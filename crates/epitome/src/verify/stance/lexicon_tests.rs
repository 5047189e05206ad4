//! What the order of the tables leans on.

use super::OTHER_SCRIPTS;

#[test]
fn phrases_of_other_scripts_begin_with_their_own_letters() {
    for table in OTHER_SCRIPTS {
        let lines = table.lines().filter(|line| !line.starts_with('#'));
        for (_, phrases) in lines.filter_map(|line| line.split_once(':')) {
            for phrase in phrases.split([',', '|', ';']).map(str::trim) {
                let begins_with_ascii = phrase.starts_with(|c: char| c.is_ascii());
                assert!(!begins_with_ascii, "{phrase:?} would never be looked for");
            }
        }
    }
}
