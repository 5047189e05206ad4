//! Session files of any bytes: whatever a reader makes of them, what is written is read back equal.

#![no_main]

use std::io::Cursor;

use epitome_files::{Counts, FileFormat, Stamp, Transcript, carried, read_file, write_file};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((choice, bytes)) = bytes.split_first() else {
        return;
    };
    let format = FileFormat::ALL[usize::from(*choice) % FileFormat::ALL.len()];
    let _ = FileFormat::sniff(bytes);
    let mut counts = Counts::default();
    let outcome = read_file(&mut Cursor::new(bytes), format, &mut |event| {
        counts.add(&event)
    });
    let Ok(transcript) = Transcript::collect(&mut Cursor::new(bytes), format) else {
        assert!(outcome.is_err());
        return;
    };
    let kept: usize = transcript
        .conversations
        .iter()
        .map(|one| one.messages.len())
        .sum();
    assert_eq!(kept as u64, counts.finish().messages);
    for conversation in &transcript.conversations {
        let _ = conversation.context();
        for to in FileFormat::ALL {
            let stamp = Stamp {
                session_id: "s",
                folder: "/",
                time_ms: 0,
            };
            let Ok(written) = write_file(conversation, *to, stamp) else {
                continue;
            };
            let again = Transcript::collect(&mut Cursor::new(&written.bytes), *to)
                .expect("what was written is read");
            let (expected, _) =
                carried(conversation, *to).expect("what was written can be carried");
            let read = again
                .conversations
                .first()
                .map(|one| one.messages.as_slice());
            assert_eq!(read.unwrap_or_default(), expected.messages);
        }
    }
});
