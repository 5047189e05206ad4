//! A request of any bytes: read, compacted as far as it goes, written, and read again.

use std::collections::HashMap;

use bytes::Bytes;
use epitome::{Message, Meter, Preset, PresetName, Reason, Session, Window};
use epitome_wire::{Body, Wire, decode, violations};

/// The first byte chooses the preset; the rest is the body.
pub fn run(wire: Wire, bytes: &[u8]) {
    let Some((choice, bytes)) = bytes.split_first() else {
        return;
    };
    let Ok(body) = Body::scan(Bytes::copy_from_slice(bytes), wire) else {
        return;
    };
    let Some(messages) = decoded(&body) else {
        return;
    };
    let before = kinds(wire, &messages);
    let name = PresetName::ALL[usize::from(*choice) % PresetName::ALL.len()];
    let mut session = Session::new(Window::configured(4_000), Meter::Estimate)
        .with_preset(Preset::named(name))
        .without_guard();
    for message in messages {
        session.push(message);
    }
    if session.compact(Reason::Manual).is_err() {
        return;
    }
    let summary = session.compaction().map(|found| found.summary.text.clone());
    let rendered = body.render(&session.view(), summary.as_deref().unwrap_or_default());
    if let Ok(spliced) = rendered {
        let out =
            Body::scan(Bytes::from(spliced.into_bytes()), wire).expect("what was written is read");
        let after = kinds(
            wire,
            &decoded(&out).expect("what was written is understood"),
        );
        for (kind, count) in after {
            let had = before.get(&kind).copied().unwrap_or(0);
            assert!(
                count <= had,
                "{kind}: {count} problems, the input had {had}"
            );
        }
    }
}

fn decoded(body: &Body) -> Option<Vec<Message>> {
    let message = |index| Some(decode(body.wire(), &body.read(index).ok()?).ok()?.message);
    (0..body.len()).map(message).collect()
}

/// How often the body breaks each rule of its provider.
fn kinds(wire: Wire, messages: &[Message]) -> HashMap<String, usize> {
    let mut kinds = HashMap::new();
    for violation in violations(wire, messages) {
        *kinds.entry(format!("{:?}", violation.kind)).or_default() += 1;
    }
    kinds
}
