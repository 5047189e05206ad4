use super::{bare, shown};

#[test]
fn neither_user_nor_password_is_left() {
    let cases = [
        (
            "https://me:secret@host.example:8443/base?x=1",
            "https://host.example:8443/base?x=1",
        ),
        ("http://secret@127.0.0.1/", "http://127.0.0.1/"),
        ("https://api.example/v1/a@b", "https://api.example/v1/a@b"),
    ];
    for (address, expected) in cases {
        assert_eq!(bare(&address.parse().unwrap()).to_string(), expected);
    }
}

#[test]
fn what_is_shown_holds_no_secret() {
    for address in [
        "https://me:secret@host.example/base?key=secret",
        "ftp://secret@host.example",
        "postgres://me:se/cret@secret@host.example/db",
    ] {
        let shown = shown(address);
        assert!(shown.contains("host.example"), "{shown}");
        assert!(!shown.contains("secret"), "{shown}");
    }
    assert_eq!(
        shown("sqlite:/var/lib/epitome.db"),
        "sqlite:/var/lib/epitome.db"
    );
}
