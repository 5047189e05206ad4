use bytes::Bytes;
use epitome::Digest;

use super::{Keys, Value};
use crate::{ConversationId, Error, TenantId};

const ONE: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
const OTHER: &str = "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100";

fn keys(text: &str) -> Keys {
    Keys::parse(text).unwrap()
}

#[test]
fn keys_are_read_and_not_shown() {
    let two = keys(&format!("# new\n{ONE}\n# old\n{OTHER}\n"));
    assert_eq!(format!("{two:?}"), "Keys(2)");
    assert_eq!(two.writing(), keys(ONE).writing());
    assert_ne!(two.writing(), keys(OTHER).writing());
    assert_eq!(keys(&format!("{ONE},{OTHER}")).0.len(), 2);
    for bad in [
        "",
        "# nothing",
        "12",
        &ONE[1..],
        &format!("{ONE}0"),
        &ONE.replace('0', "g"),
    ] {
        let error = Keys::parse(bad).unwrap_err();
        assert!(matches!(error, Error::BadKey { .. }), "{bad:?}");
        assert!(!error.to_string().contains("0011"), "{error}");
    }
}

#[test]
fn values_come_back_in_their_place_only() {
    let keys = keys(ONE);
    let (tenant, theirs) = (TenantId::local(), TenantId::new("theirs").unwrap());
    let digest = Digest::of(b"one");
    let other = Digest::of(b"other");
    let value = Value::Entry(&digest);
    let sealed: Bytes = keys
        .seal(&tenant, value, b"secret words")
        .unwrap()
        .into_owned()
        .into();
    assert!(!sealed.windows(6).any(|part| part == b"secret"));
    assert_eq!(
        keys.open(&tenant, value, sealed.clone()).unwrap(),
        "secret words"
    );
    // Another time it is another text.
    let again = keys.seal(&tenant, value, b"secret words").unwrap();
    assert_ne!(again.as_ref(), sealed.as_ref());
    for (tenant, value) in [
        (&theirs, value),
        (&tenant, Value::Entry(&other)),
        (&tenant, Value::Words(&digest)),
    ] {
        let error = keys.open(tenant, value, sealed.clone()).unwrap_err();
        assert!(matches!(error, Error::Corrupt(_)), "{error:?}");
    }
    for at in 0..sealed.len() {
        let mut bytes = sealed.to_vec();
        bytes[at] ^= 1;
        let opened = keys.open(&tenant, value, bytes.into());
        assert!(
            !matches!(opened, Ok(clear) if clear == "secret words"),
            "{at}"
        );
    }
    let error = Keys::none().open(&tenant, value, sealed.clone());
    assert!(matches!(error, Err(Error::KeyNeeded)));
    let error = Keys::parse(OTHER).unwrap().open(&tenant, value, sealed);
    assert!(matches!(error, Err(Error::WrongKey { .. })));
}

#[test]
fn texts_and_clear_values_that_look_encrypted() {
    let tenant = TenantId::local();
    let id = ConversationId::new("c").unwrap();
    let value = Value::Title(&id);
    for keys in [Keys::none(), keys(ONE)] {
        for text in [
            "",
            "a title",
            "\u{1}epitome:",
            "\u{1}epitome:=",
            "\u{1}epitome:AAAA",
        ] {
            let stored = keys.seal_text(&tenant, value, text).unwrap().into_owned();
            assert_eq!(keys.open_text(&tenant, value, stored).unwrap(), text);
            let mut bytes = vec![0xff];
            bytes.extend(&text.as_bytes()[text.len().min(1)..]);
            let stored = keys.seal(&tenant, value, &bytes).unwrap().into_owned();
            assert_eq!(keys.open(&tenant, value, stored.into()).unwrap(), bytes);
        }
    }
    // What was written in clear is read with a key as well.
    let clear = keys(ONE).open_text(&tenant, value, "a title".to_owned());
    assert_eq!(clear.unwrap(), "a title");
}

#[test]
fn pins_are_the_same_each_time() {
    let two = keys(&format!("{ONE} {OTHER}"));
    let tenant = TenantId::local();
    let sealed = |keys: &Keys, text: &str| {
        let sealed = keys.seal_text(&tenant, Value::Pin, text).unwrap();
        sealed.into_owned()
    };
    assert_eq!(sealed(&two, "never push"), sealed(&two, "never push"));
    assert_ne!(sealed(&two, "never push"), sealed(&two, "never pull"));
    let others = two.other_texts(&tenant, Value::Pin, "never push").unwrap();
    assert_eq!(
        others,
        ["never push".to_owned(), sealed(&keys(OTHER), "never push")]
    );
}

#[test]
fn what_is_current() {
    let (one, two) = (keys(ONE), keys(&format!("{OTHER} {ONE}")));
    let tenant = TenantId::local();
    let text = one
        .seal_text(&tenant, Value::Pin, "x")
        .unwrap()
        .into_owned();
    let bytes = one.seal(&tenant, Value::Secret, b"x").unwrap().into_owned();
    assert!(one.is_current_text(&text) && one.is_current(&bytes));
    assert!(!two.is_current_text(&text) && !two.is_current(&bytes));
    assert!(!one.is_current_text("x") && !one.is_current(b"x"));
    assert!(Keys::none().is_current_text("x") && Keys::none().is_current(b"x"));
}
