use super::query::MAX_QUERY_TERMS;
use super::{Counted, Expression, Need, of_query, of_text};
use crate::TenantId;

/// The words without the marks.
fn unmarked(text: &str) -> String {
    let tenant = TenantId::local();
    let mark = format!("{}_", super::mark(&tenant));
    text.replace(&mark, "").trim_end().to_owned()
}

fn check_text(text: &str, expected: &str) {
    let words = of_text(&TenantId::local(), text);
    assert_eq!(unmarked(&words), expected, "{text:?}");
}

fn check_query(query: &str, need: Need, expected: Option<&str>) {
    let expression = of_query(&TenantId::local(), query, need);
    let expression = expression.map(|one| unmarked(&one));
    assert_eq!(expression.as_deref(), expected, "{query:?}");
}

#[test]
fn words_of_texts() {
    check_text("", "");
    check_text("The port, 8443.", "The port 8443");
    check_text("src/net/tls.rs:12", "src net tls rs 12");
    check_text("parse_http_header", "parse_http_header parse http header");
    check_text("parseHTTPHeader2", "parseHTTPHeader2 parse HTTP Header2");
    check_text("__init__", "__init__ init");
    check_text("sha256 MAX_LEN", "sha256 MAX_LEN MAX LEN");
    check_text("naïve cafe\u{301}", "naïve cafe");
    check_text("部署失败", "部 署 失 败 部署 署失 失败");
    check_text("ポート8443を", "ポ ー ト ポー ート 8443 を");
    check_text("हिन्दी भाषा।", "हिन्दी भाषा");
    let long = "aB".repeat(100);
    check_text(&long, &"aB".repeat(32));
}

#[test]
fn plain_words_are_taken_apart_as_others_are() {
    for run in [
        "a",
        "_",
        "__",
        "A",
        "aB",
        "AB",
        "ABc",
        "aBC",
        "aBCd",
        "a_B",
        "_aB_",
        "HTTPHeader2_x",
        "x9Y",
        "9Y",
        "Y9",
        "aB_",
    ] {
        let mut plain = Vec::new();
        super::each_ascii(run, &mut |word| plain.push(word.to_owned()));
        let word = super::Word::new(run);
        let all: Vec<String> = std::iter::once(word.whole).chain(word.parts).collect();
        assert_eq!(plain, all, "{run}");
    }
}

#[test]
fn words_of_queries() {
    use Need::{All, Any};
    check_query("", All, None);
    check_query("\"*-()^: \u{0}", Any, None);
    check_query("port 8443", All, Some(r#"("port" AND "8443")"#));
    check_query("port 443", Any, Some(r#"("port" * OR "443")"#));
    check_query("a-b NEAR", All, Some(r#"("a" AND "b" AND "NEAR")"#));
    check_query("maxLen", All, Some(r#"("maxLen" OR ("max" AND "Len"))"#));
    check_query("部", All, Some(r#""部""#));
    check_query("署失败", All, Some(r#"("署失" AND "失败")"#));
    check_query("署失败", Any, Some(r#"("署失" OR "失败")"#));
}

#[test]
fn queries_are_bounded() {
    let long = "word ".repeat(10_000);
    let expression = of_query(&TenantId::local(), &long, Need::All).unwrap();
    assert!(expression.matches('"').count() <= 2 * MAX_QUERY_TERMS);
    let unspaced = "部署".repeat(10_000);
    let expression = of_query(&TenantId::local(), &unspaced, Need::Any).unwrap();
    assert!(expression.matches('"').count() <= 2 * MAX_QUERY_TERMS);
}

#[test]
fn tenants_have_words_of_their_own() {
    let other = TenantId::new("Local").unwrap();
    assert_ne!(of_text(&TenantId::local(), "a"), of_text(&other, "a"));
}

#[test]
fn words_are_counted_without_case_and_accents() {
    let counted = Counted::of("The théme: theThe Straße ÇA ça Ǖ ЙОД");
    let expected = [
        ("ca", 2),
        ("straße", 1),
        ("the", 3),
        ("theme", 1),
        ("thethe", 1),
        ("u", 1),
        ("йод", 1),
    ];
    let counts: Vec<_> = counted
        .counts
        .iter()
        .map(|(word, count)| (word.as_str(), *count))
        .collect();
    assert_eq!(counts, expected);
    assert_eq!(counted.total, 10);
}

#[test]
fn an_expression_is_met_by_what_it_needs() {
    let check = |query: &str, need, present: &[bool], expected| {
        let expression = Expression::of(query, need).unwrap();
        assert_eq!(expression.terms().len(), present.len(), "{query:?}");
        let met = expression.is_met(present.iter().copied());
        assert_eq!(met, expected, "{query:?} {present:?}");
    };
    check("a b", Need::All, &[true, true], true);
    check("a b", Need::All, &[true, false], false);
    check("a b", Need::Any, &[false, true], true);
    check("a b", Need::Any, &[false, false], false);
    // The whole identifier, or all of its parts.
    check("x maxLen", Need::All, &[true, true, false, false], true);
    check("x maxLen", Need::All, &[true, false, true, true], true);
    check("x maxLen", Need::All, &[true, false, true, false], false);
    check("署失败", Need::All, &[true, false], false);
}
