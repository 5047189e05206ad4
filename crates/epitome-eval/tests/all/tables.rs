use epitome_eval::{Kept, Place, Row, Share, Table};

fn row(session: &str, method: &'static str, part: usize, whole: usize) -> Row {
    let share = Share { part, whole };
    Row {
        session: session.to_owned(),
        place: Place::Percent(40),
        at: 7,
        prefix_tokens: 100 * whole as u64,
        budget: 2_000,
        method,
        kept: Kept {
            tokens: 10 * whole as u64,
            needs: share,
            grounded: Share { part: 0, whole },
            user_words: (session == "a").then_some(0.5),
            ..Kept::default()
        },
    }
}

#[test]
fn shares_are_summed_before_they_are_divided() {
    let rows = [
        row("a", "ledger", 1, 10),
        row("a", "builtin", 9, 10),
        row("b", "ledger", 3, 30),
        row("b", "builtin", 10, 30),
    ];
    let tables = Table::all(&rows);
    assert_eq!(tables.len(), 1);
    let table = &tables[0];
    assert_eq!(
        (table.budget, table.cuts, table.sessions),
        (Some(2_000), 2, 2)
    );
    assert_eq!((table.needs, table.median_prefix_tokens), (40, 3_000));
    let lines: Vec<(&str, f64)> = table.lines.iter().map(|l| (l.method, l.fnr)).collect();
    assert_eq!(lines, [("builtin", 19.0 / 40.0), ("ledger", 4.0 / 40.0)]);
    let builtin = &table.lines[0];
    assert_eq!((builtin.grounded, builtin.user_words), (0.0, 0.5));
    assert_eq!((builtin.tokens, builtin.searched), (200.0, None));
    // Drawing sessions gives anything between only the worse and only the better one.
    assert_eq!(builtin.interval, (10.0 / 30.0, 9.0 / 10.0));
}
