use http::{HeaderMap, HeaderName, HeaderValue};

use super::{Door, Doors, Peer};
use crate::config::{KeyDigest, QuotaLimits, TenantConfig, TenantSettings};

fn tenant(name: &str, keys: &[&str], provider_keys: &[&str], principals: &[&str]) -> TenantConfig {
    let digests = |keys: &[&str]| keys.iter().map(|key| KeyDigest::of(key)).collect();
    TenantConfig {
        id: name.parse().unwrap(),
        keys: digests(keys),
        provider_keys: digests(provider_keys),
        principals: principals.iter().map(|name| (*name).to_owned()).collect(),
        limits: QuotaLimits::default(),
    }
}

fn doors() -> Doors {
    let settings = TenantSettings {
        tenants: vec![
            tenant("a", &["key-a", "old-a"], &["sk-a"], &["ann", "Zo\u{eb}"]),
            tenant("b", &["key-b"], &["sk-b"], &["bob"]),
        ],
        trusted_peers: vec!["10.0.0.0/8".parse().unwrap()],
        ..TenantSettings::default()
    };
    let at = |id: &epitome_store::TenantId| settings.tenants.iter().position(|one| one.id == *id);
    Doors::new(&settings, at)
}

fn headers(list: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in list {
        let value = HeaderValue::from_bytes(value.as_bytes()).unwrap();
        headers.append(HeaderName::from_static(name), value);
    }
    headers
}

#[test]
fn a_request_is_whose_its_headers_say_and_nobodys_where_they_disagree() {
    const A: Option<usize> = Some(0);
    const B: Option<usize> = Some(1);
    let (near, far) = ("10.1.2.3", "192.0.2.1");
    type Case<'c> = (&'c [(&'static str, &'c str)], &'c str, Option<usize>);
    let cases: &[Case<'_>] = &[
        (&[], near, None),
        (&[("x-epitome-key", "key-a")], far, A),
        (&[("x-epitome-key", "old-a")], far, A),
        (&[("x-epitome-key", "key-b")], far, B),
        (&[("x-epitome-key", "key-c")], far, None),
        (&[("x-epitome-key", "")], far, None),
        // A key of one kind is none of the other.
        (&[("x-epitome-key", "sk-a")], far, None),
        (&[("authorization", "Bearer key-a")], far, None),
        (&[("authorization", "Bearer sk-a")], far, A),
        (&[("authorization", "bearer  sk-a ")], far, A),
        (&[("authorization", "Basic sk-a")], far, None),
        (&[("authorization", "sk-a")], far, None),
        (&[("authorization", "Bearer ")], far, None),
        (&[("x-api-key", "sk-b")], far, B),
        (&[("x-api-key", "sk-x")], far, None),
        (
            &[("authorization", "Bearer sk-a"), ("x-api-key", "sk-a")],
            far,
            A,
        ),
        (
            &[("authorization", "Bearer sk-a"), ("x-api-key", "sk-b")],
            far,
            None,
        ),
        (
            &[("authorization", "Bearer sk-a"), ("x-api-key", "sk-x")],
            far,
            None,
        ),
        // Who is known by a key of ours may send any provider key.
        (&[("x-epitome-key", "key-b"), ("x-api-key", "sk-a")], far, B),
        // A key that nobody knows is not made good by another one.
        (
            &[("x-epitome-key", "key-c"), ("x-api-key", "sk-a")],
            far,
            None,
        ),
        (
            &[("x-epitome-key", "key-a"), ("x-epitome-key", "key-a")],
            far,
            None,
        ),
        (
            &[("x-epitome-key", "key-a"), ("x-epitome-key", "key-b")],
            far,
            None,
        ),
        // Names are believed from trusted peers only.
        (&[("x-forwarded-user", "ann")], near, A),
        (&[("x-forwarded-user", "Zo\u{eb}")], near, A),
        (&[("x-forwarded-user", "bob")], near, B),
        (&[("x-forwarded-user", "ann")], far, None),
        (&[("x-forwarded-user", "ann")], "::ffff:192.0.2.1", None),
        (&[("x-forwarded-user", "ann")], "::ffff:10.1.2.3", A),
        (&[("x-forwarded-user", "Ann")], near, None),
        (&[("x-forwarded-user", "")], near, None),
        (
            &[("x-forwarded-user", "ann"), ("x-forwarded-user", "bob")],
            near,
            None,
        ),
        (&[("x-forwarded-user", "ann, bob")], near, None),
        (
            &[("x-forwarded-user", "ann"), ("x-epitome-key", "key-a")],
            near,
            A,
        ),
        (
            &[("x-forwarded-user", "ann"), ("x-epitome-key", "key-b")],
            near,
            None,
        ),
        (
            &[("x-forwarded-user", "eve"), ("x-api-key", "sk-a")],
            near,
            None,
        ),
        // What a stranger says of itself is not heard, and his key is.
        (
            &[("x-forwarded-user", "ann"), ("x-epitome-key", "key-b")],
            far,
            B,
        ),
        (
            &[("x-forwarded-user", "ann"), ("x-api-key", "sk-b")],
            far,
            B,
        ),
    ];
    let doors = doors();
    for (list, peer, expected) in cases {
        let peer = Some(Peer(peer.parse().unwrap()));
        let found = doors.of_request(&headers(list), peer);
        assert_eq!(found, expected.map(Door), "{list:?} from {peer:?}");
    }
    let named = headers(&[("x-forwarded-user", "ann")]);
    assert_eq!(
        doors.of_request(&named, None),
        None,
        "a peer that is not known"
    );
}

#[test]
fn who_asks_is_not_told_to_providers() {
    let mut sent = headers(&[("x-forwarded-user", "ann"), ("x-api-key", "sk-a")]);
    doors().hide(&mut sent);
    assert_eq!(sent.len(), 1);
    assert!(sent.contains_key("x-api-key"));
}

#[test]
fn a_session_is_of_one_key_and_one_secret() {
    let doors = doors();
    let session = doors.session("key-a", "secret").unwrap();
    assert!(!session.contains("key-a"));
    assert_eq!(doors.of_session(&session, "secret"), Some(Door(0)));
    assert_eq!(doors.of_session(&session, "other"), None);
    assert_eq!(doors.of_session("", "secret"), None);
    assert_eq!(doors.session("key-c", "secret"), None);
    let other = doors.session("sk-b", "secret").unwrap();
    assert_eq!(doors.of_session(&other, "secret"), Some(Door(1)));
}
