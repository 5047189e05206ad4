use http::{HeaderMap, HeaderName, HeaderValue};

use super::{Hosts, Own, Stranger, is_own_address, stranger};

fn headers(list: &[(&'static str, &'static str)]) -> HeaderMap {
    list.iter()
        .map(|(name, value)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        })
        .collect()
}

/// Headers, and what they make of a request.
type Case = (&'static [(&'static str, &'static str)], Option<Stranger>);

#[test]
fn programs_of_this_machine_are_served_and_foreign_pages_are_not() {
    let own = Own::new([7; 8], Hosts::Named([].into()));
    let cases: &[Case] = &[
        (&[], None),
        (&[("host", "127.0.0.1:7700")], None),
        (&[("host", "localhost:7700")], None),
        (&[("host", "LocalHost")], None),
        (&[("host", "[::1]:7700")], None),
        (&[("host", "agent.localhost:7700")], None),
        (
            &[("host", "evil.example:7700")],
            Some(Stranger::ForeignHost),
        ),
        (
            &[("host", "127.0.0.1.evil.example")],
            Some(Stranger::ForeignHost),
        ),
        (
            &[("host", "localhost.evil.example")],
            Some(Stranger::ForeignHost),
        ),
        (&[("host", "user@127.0.0.1")], Some(Stranger::ForeignHost)),
        (&[("host", "127.0.0.1/evil")], Some(Stranger::ForeignHost)),
        (&[("host", "")], Some(Stranger::ForeignHost)),
        (
            &[("host", "127.0.0.1"), ("origin", "http://localhost:3000")],
            None,
        ),
        (
            &[("host", "127.0.0.1"), ("origin", "http://[::1]:3000")],
            None,
        ),
        (
            &[("host", "127.0.0.1"), ("origin", "vscode-webview://1a2b")],
            None,
        ),
        (
            &[("host", "127.0.0.1"), ("origin", "https://evil.example")],
            Some(Stranger::ForeignPage),
        ),
        (
            &[("host", "127.0.0.1"), ("origin", "null")],
            Some(Stranger::ForeignPage),
        ),
        (
            &[
                ("host", "127.0.0.1"),
                ("origin", "http://localhost@evil.example"),
            ],
            Some(Stranger::ForeignPage),
        ),
        (
            &[("host", "127.0.0.1"), ("sec-fetch-site", "cross-site")],
            Some(Stranger::ForeignPage),
        ),
        (&[("host", "127.0.0.1"), ("sec-fetch-site", "none")], None),
        (
            &[
                ("host", "127.0.0.1"),
                ("origin", "http://localhost:3000"),
                ("sec-fetch-site", "cross-site"),
            ],
            None,
        ),
        (
            &[("via", "1.1 epitome-0707070707070707")],
            Some(Stranger::Loop),
        ),
        (
            &[(
                "via",
                "1.0 fred, 1.1 epitome-0707070707070707, 1.1 p.example",
            )],
            Some(Stranger::Loop),
        ),
        (&[("via", "1.1 epitome-0808080808080808")], None),
    ];
    for (list, expected) in cases {
        assert_eq!(
            stranger(&"/v1/messages".parse().unwrap(), &headers(list), &own),
            *expected,
            "{list:?}"
        );
    }
}

/// A page of the proxy behind TLS is served whichever `Host` the proxy in front writes, and a name that somebody took is none.
#[test]
fn a_proxy_with_a_name_answers_to_it() {
    let names = || ["epitome.example".parse().unwrap()].into();
    let near = Own::new([7; 8], Hosts::Named(names()));
    let far = Own::new([7; 8], Hosts::NamedOrAddress(names()));
    let foreign = Some(Stranger::ForeignHost);
    let page = Some(Stranger::ForeignPage);
    const OWN_PAGE: (&str, &str) = ("origin", "https://epitome.example");
    // Headers, and what they make of a request on a loopback address and elsewhere.
    type Both = (
        &'static [(&'static str, &'static str)],
        Option<Stranger>,
        Option<Stranger>,
    );
    let cases: &[Both] = &[
        (&[("host", "epitome.example")], None, None),
        (&[("host", "Epitome.Example.:443")], None, None),
        (&[("host", "127.0.0.1:7700")], None, None),
        (&[("host", "evil.example")], foreign, foreign),
        (
            &[("host", "epitome.example.evil.example")],
            foreign,
            foreign,
        ),
        (&[("host", "10.0.0.7:7700")], foreign, None),
        (&[("host", "epitome.example"), OWN_PAGE], None, None),
        (&[("host", "127.0.0.1:7700"), OWN_PAGE], None, None),
        (
            &[
                ("host", "epitome.example"),
                ("origin", "https://evil.example"),
            ],
            page,
            page,
        ),
        (
            &[("host", "evil.example"), ("origin", "https://evil.example")],
            foreign,
            foreign,
        ),
        (
            &[
                ("host", "10.0.0.7:7700"),
                ("origin", "http://10.0.0.7:7700"),
            ],
            foreign,
            None,
        ),
        (
            &[
                ("host", "10.0.0.7:7700"),
                ("origin", "http://10.0.0.8:7700"),
            ],
            foreign,
            page,
        ),
    ];
    for (list, here, elsewhere) in cases {
        let path = "/epitome/observe".parse().unwrap();
        assert_eq!(stranger(&path, &headers(list), &near), *here, "{list:?}");
        assert_eq!(
            stranger(&path, &headers(list), &far),
            *elsewhere,
            "{list:?}"
        );
    }
    for wrong in [
        "",
        "https://a.example",
        "a.example:443",
        "me@a.example",
        "a b",
    ] {
        assert!(wrong.parse::<crate::config::HostName>().is_err(), "{wrong}");
    }
}

#[test]
fn every_name_that_is_given_counts() {
    let own = Own::new([7; 8], Hosts::Named([].into()));
    let mut two = headers(&[("host", "127.0.0.1")]);
    two.append("host", HeaderValue::from_static("evil.example"));
    let path = "/v1/messages".parse().unwrap();
    assert_eq!(stranger(&path, &two, &own), Some(Stranger::ForeignHost));
    let whole = "http://evil.example/v1/messages".parse().unwrap();
    let one = headers(&[("host", "127.0.0.1")]);
    assert_eq!(stranger(&whole, &one, &own), Some(Stranger::ForeignHost));
}

#[test]
fn a_proxy_knows_itself_as_upstream() {
    let listen = "127.0.0.1:7700".parse().unwrap();
    let own = [
        "http://127.0.0.1:7700",
        "http://localhost:7700/v1",
        "http://[::1]:7700",
    ];
    let others = [
        "http://127.0.0.1:8000",
        "https://api.example.com",
        "http://example.com:7700",
    ];
    for upstream in own {
        assert!(
            is_own_address(&upstream.parse().unwrap(), listen),
            "{upstream}"
        );
    }
    for upstream in others {
        assert!(
            !is_own_address(&upstream.parse().unwrap(), listen),
            "{upstream}"
        );
    }
}

#[test]
fn paths_that_climb_are_refused_however_they_are_spelled() {
    let own = Own::new([7; 8], Hosts::Named([].into()));
    let of = |path: &str| stranger(&path.parse().unwrap(), &headers(&[]), &own);
    for path in [
        "/v1/../admin",
        "/v1/./messages",
        "/v1/%2e%2e/admin",
        "/v1/%2E./admin",
        "/v1/..%2fadmin",
        "/v1/..%5Cadmin",
        "/v1/..;x=1/admin",
        "/v1/files/..",
        "/v1/files/..?after=1",
    ] {
        assert_eq!(of(path), Some(Stranger::Climbing), "{path}");
    }
    for path in [
        "/v1/models/gpt-4.1",
        "/v1/models/..gpt",
        "/v1/files/a...b",
        "/v1/files/.hidden",
        "/v1/files/100%25",
        "/v1/messages?path=/../x",
    ] {
        assert_eq!(of(path), None, "{path}");
    }
}
