//! Who may look at what.

use epitome_testkit::{ModelConfig, Wire};
use http::Method;

use super::{KEY_A, KEY_B, PROVIDER_KEY_A, for_two, get_as, operator, post_as};
use crate::support::{Folder, Proxy, conversation, pair, request, user};

async fn page(proxy: &Proxy, cookie: &str, path: &str) -> (u16, String) {
    let received = proxy
        .send(&Method::GET, path, &[("cookie", cookie)], "")
        .await;
    let text = String::from_utf8_lossy(&received.body).into_owned();
    (received.status, text)
}

/// What logging in with a token leaves.
async fn logged_in(proxy: &Proxy, token: &str) -> Option<String> {
    let form = format!("token={token}");
    let received = proxy.send(&Method::POST, "/epitome/login", &[], form).await;
    let cookie = received.header("set-cookie").split(';').next().unwrap();
    (received.status == 303).then(|| cookie.to_owned())
}

#[tokio::test]
async fn the_operator_sees_all_and_a_tenant_itself() {
    let folder = Folder::new();
    let (_model, proxy) = pair(ModelConfig::default(), |config| for_two(config, &folder)).await;
    let mut names = Vec::new();
    for key in [KEY_A, KEY_B] {
        let body = request(Wire::OpenaiChat, "m", [user(format!("words of {key}"))]);
        let received = post_as(&proxy, key, Wire::OpenaiChat, &body).await;
        names.push(conversation(&received));
    }
    folder.wait_for("alpha").await;
    folder.wait_for("beta").await;
    let listed = operator(&proxy, "/epitome/v1/tenants").await.json();
    let listed = listed["tenants"].as_array().unwrap();
    assert_eq!(listed.len(), 2, "{listed:?}");
    for (at, name) in ["alpha", "beta"].into_iter().enumerate() {
        assert_eq!(listed[at]["tenant"], name);
        assert_eq!(listed[at]["requests"], 1);
        for (other, conversation) in names.iter().enumerate() {
            let path = format!("/epitome/v1/conversations/{conversation}?tenant={name}");
            let status = operator(&proxy, &path).await.status;
            assert_eq!(status, if at == other { 200 } else { 404 }, "{path}");
        }
    }
    let unknown = operator(&proxy, "/epitome/v1/overview?tenant=gamma").await;
    assert_eq!(unknown.status, 404, "{unknown:?}");
    // A tenant sees itself, whatever it asks for.
    let own = get_as(&proxy, KEY_B, "/epitome/v1/tenants").await.json();
    assert_eq!(own["tenants"].as_array().unwrap().len(), 1);
    assert_eq!(own["tenants"][0]["tenant"], "beta");
    let foreign = get_as(&proxy, KEY_B, "/epitome/v1/overview?tenant=alpha").await;
    assert_eq!(
        foreign.json(),
        unknown.json(),
        "another one looks like none"
    );
    let figures = get_as(&proxy, KEY_B, "/epitome/v1/overview").await.json();
    assert_eq!(
        (&figures["requests"], &figures["health"]["requests"]),
        (&1.into(), &1.into())
    );
    let settings = get_as(&proxy, KEY_B, "/epitome/v1/settings").await.json();
    assert_eq!(settings["settings"], serde_json::json!([]));
    let headers = [("x-epitome-key", KEY_B)];
    let switched = proxy
        .send(&Method::POST, "/epitome/v1/observe?on=1", &headers, "")
        .await;
    assert_eq!(switched.status, 403);
    // A bearer is as good, and one that nobody knows is not made good by a key.
    for (bearer, status) in [(KEY_B, 200), (PROVIDER_KEY_A, 200), ("sk-guess", 401)] {
        let bearer = format!("Bearer {bearer}");
        let headers = [("authorization", bearer.as_str())];
        let path = "/epitome/v1/tenants";
        let received = proxy.send(&Method::GET, path, &headers, "").await;
        assert_eq!(received.status, status, "{bearer}");
    }
}

#[tokio::test]
async fn a_session_shows_one_tenant_and_holds_no_key() {
    let folder = Folder::new();
    let (_model, proxy) = pair(ModelConfig::default(), |config| for_two(config, &folder)).await;
    for key in [KEY_A, KEY_B] {
        let body = request(Wire::OpenaiChat, "m", [user(format!("words of {key}"))]);
        post_as(&proxy, key, Wire::OpenaiChat, &body).await;
    }
    folder.wait_for("alpha").await;
    folder.wait_for("beta").await;
    assert_eq!(logged_in(&proxy, "ep-guess").await, None);
    let session = logged_in(&proxy, KEY_B).await.unwrap();
    assert!(
        !session.contains(KEY_B) && !session.contains(&proxy.token),
        "{session}"
    );
    let (status, shown) = page(&proxy, &session, "/epitome/conversations").await;
    assert_eq!(status, 200);
    assert!(
        shown.contains(&format!("words of {KEY_B}")) && !shown.contains(KEY_A),
        "{shown}"
    );
    assert!(!shown.contains("alpha"));
    let (_, shown) = page(&proxy, &session, "/epitome/settings").await;
    assert!(!shown.contains("Only watch</button>"), "{shown}");
    // The operator chooses whom to look at.
    let own = logged_in(&proxy, &proxy.token).await.unwrap();
    let (_, shown) = page(&proxy, &own, "/epitome/conversations").await;
    assert!(
        shown.contains(KEY_A) && shown.contains("<option>beta</option>"),
        "{shown}"
    );
    let headers = [("cookie", own.as_str())];
    let chosen = proxy
        .send(&Method::POST, "/epitome/tenant", &headers, "tenant=beta")
        .await;
    let choice = chosen.header("set-cookie").split(';').next().unwrap();
    let both = format!("{own}; {choice}");
    let (_, shown) = page(&proxy, &both, "/epitome/conversations").await;
    assert!(shown.contains(KEY_B) && !shown.contains(KEY_A), "{shown}");
    // A choice alone shows nothing.
    assert_eq!(page(&proxy, choice, "/epitome/conversations").await.0, 401);
}
