use super::path_end;

#[test]
fn a_path_is_known_by_its_last_two_parts() {
    let cases = [
        ("/home/dev/ledger/src/app.rs", "src/app.rs"),
        ("app.rs", "app.rs"),
        ("a3/b2c4d5e6f7", "a3/b2c4d5e6f7"),
        ("a3/b2c4d5e6f7/", "a3/b2c4d5e6f7/"),
        ("objects/a3/b2c4d5e6f7/", "a3/b2c4d5e6f7/"),
        ("cli/.entire/REVIEW.md", "cli/.entire/REVIEW.md"),
        ("/", "/"),
    ];
    for (path, end) in cases {
        assert_eq!(path_end(path), end, "{path}");
    }
}
