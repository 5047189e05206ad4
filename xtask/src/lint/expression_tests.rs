use super::is_satisfied;

fn check(expression: &str, expect: Result<bool, &str>) {
    let is_allowed = |id: &str| ["MIT", "Apache-2.0", "Unicode-3.0", "A WITH x"].contains(&id);
    assert_eq!(
        is_satisfied(expression, &is_allowed),
        expect.map_err(str::to_owned),
        "{expression}"
    );
}

#[test]
fn expressions() {
    check("MIT", Ok(true));
    check("ISC", Ok(false));
    check("ISC OR MIT", Ok(true));
    check("ISC/MIT", Ok(true));
    check("MIT AND ISC", Ok(false));
    check("(MIT OR ISC) AND Unicode-3.0", Ok(true));
    check("(MIT OR ISC) AND Zlib", Ok(false));
    check("MIT OR ISC AND Zlib", Ok(true));
    check("ISC AND Zlib OR MIT", Ok(true));
    check("Apache-2.0 WITH LLVM-exception", Ok(false));
    check(
        "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR ISC",
        Ok(true),
    );
    check("A WITH x", Ok(true));
}

#[test]
fn broken_expressions_are_errors() {
    check("", Err("a licence is missing at the end"));
    check("MIT AND", Err("a licence is missing at the end"));
    check("OR MIT", Err("a licence is missing before `OR`"));
    check("(MIT", Err("a parenthesis is not closed"));
    check("MIT ISC", Err("`ISC` is not expected here"));
    check("MIT WITH", Err("an exception is missing at the end"));
}
