use epitome::{Kept, Shown, Trim};

use super::{Detail, StoredTrim};

fn trim(shown: Shown) -> Trim {
    Trim {
        block: 1,
        part: 2,
        shown,
    }
}

/// Records outlive versions: the first form is read and written still.
#[test]
fn a_stored_trim_is_read_as_it_was_written() {
    let kept = |between: &[(usize, usize)]| {
        trim(Shown::Kept(Kept {
            head_chars: 30,
            between: between.iter().map(|(start, end)| *start..*end).collect(),
            tail_chars: 40,
        }))
    };
    for (trim, record) in [
        (kept(&[]), "[1,2,30,40]"),
        (kept(&[(50, 60), (70, 80)]), "[1,2,30,40,[[50,60],[70,80]]]"),
        (
            trim(Shown::Placeholder("[Left out: 7]".to_owned())),
            r#"[1,2,"[Left out: 7]"]"#,
        ),
    ] {
        let stored = StoredTrim::of(&trim);
        assert_eq!(serde_json::to_string(&stored).unwrap(), record);
        let read: StoredTrim = serde_json::from_str(record).unwrap();
        assert_eq!(read, stored);
        assert_eq!(read.trim(), trim);
    }
}

/// A record written before reports were kept is still an epoch.
#[test]
fn a_record_without_a_report_is_read() {
    let record = r#"{"covered_links":3,"task_in_head":true,"notes_cap_tokens":0,"summary_tokens":9,
        "trimmed_tokens":0,"trims":[],"reason":"hard_line","sources":[1]}"#;
    let detail: Detail = serde_json::from_str(record).unwrap();
    assert_eq!(detail.report, None);
    assert!(!serde_json::to_string(&detail).unwrap().contains("report"));
}
