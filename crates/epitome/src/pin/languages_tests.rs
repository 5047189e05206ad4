use super::class::Class;
use super::languages::{GENERAL, Tongue, UNSPACED};

#[test]
fn every_line_of_every_table_is_read() {
    let tables = Tongue::ALL.map(Tongue::table);
    let tables = tables.into_iter().chain(UNSPACED).chain([GENERAL]);
    for line in tables
        .flat_map(str::lines)
        .filter(|line| !line.starts_with('#'))
    {
        let class = line
            .split_once(": ")
            .and_then(|(name, _)| Class::named(name));
        assert!(class.is_some(), "{line}");
    }
}
