//! What a host hangs on compactions is asked and told while requests go through.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use epitome_engine::Hooks;
use epitome_engine::hooks::Verdict;
use epitome_store::CompactionState;
use epitome_testkit::Wire;

use super::rig::{Outcome, Rig, Talk, server};
use crate::support::{Folder, eventually};

const WINDOW: u64 = 30_000;
/// Much longer than a test may take: whoever waited for it would never be done.
const FOR_EVER: Duration = Duration::from_secs(86_400);
/// When a test that waits is given up.
const GIVEN_UP: Duration = Duration::from_secs(120);

/// How often which hook ran.
#[derive(Clone, Debug, Default)]
struct Counts {
    before: Arc<AtomicUsize>,
    asked: Arc<AtomicUsize>,
    after: Arc<AtomicUsize>,
}

impl Counts {
    fn before(&self) -> usize {
        self.before.load(Ordering::SeqCst)
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    fn after(&self) -> usize {
        self.after.load(Ordering::SeqCst)
    }

    /// Hooks that count what they are told.
    fn telling(&self) -> Hooks {
        let mut hooks = Hooks::default();
        let before = Arc::clone(&self.before);
        hooks.on_before("before", move |_, _| {
            before.fetch_add(1, Ordering::SeqCst);
            async { Ok(()) }
        });
        let after = Arc::clone(&self.after);
        hooks.on_after("after", move |_, context| {
            assert!(context.session_key.is_some());
            after.fetch_add(1, Ordering::SeqCst);
            async { Ok(()) }
        });
        hooks
    }

    /// The same, and one that is asked and always says this.
    fn asking(&self, verdict: Verdict) -> Hooks {
        let mut hooks = self.telling();
        let asked = Arc::clone(&self.asked);
        hooks.on_before_compact("asked", move |preparation, _| {
            assert!(!preparation.messages_to_summarize.is_empty());
            asked.fetch_add(1, Ordering::SeqCst);
            let verdict = verdict.clone();
            async { Ok(verdict) }
        });
        hooks
    }
}

async fn started(hooks: Hooks, folder: &Folder) -> Rig {
    Rig::start(server(WINDOW), |config| {
        config.window_tokens = Some(WINDOW);
        config.store = folder.location();
        config.hooks = hooks;
    })
    .await
}

fn talk() -> Talk {
    Talk::new(Wire::OpenaiChat, "scripted", 5)
}

/// One turn more, answered and within its window.
async fn turn(rig: &Rig, talk: &mut Talk, tokens: u64) -> Outcome {
    talk.answered(tokens);
    let outcome = rig.ask(talk).await;
    outcome.assert_answered("a turn");
    assert!(outcome.true_tokens() <= WINDOW);
    outcome
}

/// Turns until the hook has been asked; none of them is compacted.
async fn until_asked(rig: &Rig, talk: &mut Talk, counts: &Counts) {
    for _ in 0..100 {
        let outcome = turn(rig, talk, 500).await;
        assert!(outcome.is_bare(), "compacted before anybody was asked");
        // Time for whoever works in the background.
        tokio::time::sleep(Duration::from_millis(20)).await;
        if counts.asked() > 0 {
            return;
        }
    }
    panic!("nobody was asked");
}

/// Nothing is prepared that a hook does not want, and nothing of it is shown; where there is no other way the proxy
/// still compacts by itself, and says so afterwards.
pub(super) async fn a_hook_that_cancels_is_obeyed_in_the_background() {
    // The same conversation, with and without leave.
    let (counts, folder) = (Counts::default(), Folder::new());
    let rig = started(counts.asking(Verdict::Continue), &folder).await;
    let mut with_leave = talk();
    until_asked(&rig, &mut with_leave, &counts).await;
    prepared(&folder, 1).await;
    rig.proxy.stop().await;

    let (counts, folder) = (Counts::default(), Folder::new());
    let cancel = Verdict::Cancel {
        reason: "not now".to_owned(),
    };
    let rig = started(counts.asking(cancel), &folder).await;
    let mut talk = talk();
    until_asked(&rig, &mut talk, &counts).await;
    for _ in 0..3 {
        let outcome = turn(&rig, &mut talk, 10).await;
        assert!(outcome.is_bare(), "compacted although a hook said no");
    }
    assert_eq!(folder.compactions().await, [], "prepared all the same");
    assert_eq!(counts.after(), 0);

    let mut is_compacted = false;
    for _ in 0..40 {
        is_compacted |= !turn(&rig, &mut talk, 500).await.is_bare();
    }
    assert!(is_compacted, "it went past its window");
    eventually("after is told", || counts.after() > 0).await;
    let rows = folder.compactions().await;
    let never_prepared = rows
        .iter()
        .all(|row| row.state == CompactionState::Published);
    assert!(never_prepared, "{rows:?}");
}

/// Waits until there are so many prepared compactions.
async fn prepared(folder: &Folder, count: usize) {
    for _ in 0..600 {
        let rows = folder.compactions().await;
        let prepared = rows
            .iter()
            .filter(|row| row.state == CompactionState::Prepared);
        if prepared.count() == count {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("there never were {count} prepared compactions");
}

/// Each compaction that takes effect is told once, before and after, whether it was made at once or in the background.
pub(super) async fn hooks_are_told_once_of_what_takes_effect() {
    // Prepared with leave, then shown: one story.
    let (counts, folder) = (Counts::default(), Folder::new());
    let rig = started(counts.asking(Verdict::Continue), &folder).await;
    let mut long = talk();
    until_asked(&rig, &mut long, &counts).await;
    prepared(&folder, 1).await;
    assert_eq!((counts.before(), counts.asked(), counts.after()), (1, 1, 0));
    let mut is_compacted = false;
    for _ in 0..40 {
        is_compacted = !turn(&rig, &mut long, 500).await.is_bare();
        if is_compacted {
            break;
        }
    }
    assert!(is_compacted);
    eventually("after is told", || counts.after() > 0).await;
    // What is shown again is no news.
    turn(&rig, &mut long, 10).await;
    rig.proxy.stop().await;
    assert_eq!((counts.before(), counts.asked(), counts.after()), (1, 1, 1));

    // Many, with nobody who is asked.
    let (counts, folder) = (Counts::default(), Folder::new());
    let rig = started(counts.telling(), &folder).await;
    let mut long = talk();
    let mut summaries = BTreeSet::new();
    for _ in 0..150 {
        summaries.extend(turn(&rig, &mut long, 500).await.summary());
    }
    rig.proxy.stop().await;
    let rows = folder.compactions().await;
    let published = rows
        .iter()
        .filter(|row| row.state == CompactionState::Published);
    let published = published.count();
    assert!(published > 2, "{published}");
    assert_eq!(summaries.len(), published);
    assert_eq!((counts.before(), counts.after()), (published, published));
}

/// Hooks that never come back cost their own compaction at most: every request goes out, within its window.
pub(super) async fn a_hook_that_hangs_holds_up_no_request() {
    let hanging = Arc::new(AtomicUsize::new(0));
    let mut hooks = Hooks::default().with_time_box(FOR_EVER);
    let hung = || {
        let hanging = Arc::clone(&hanging);
        move || {
            hanging.fetch_add(1, Ordering::SeqCst);
        }
    };
    let (before, asked, after) = (hung(), hung(), hung());
    hooks.on_before("before", move |_, _| {
        before();
        std::future::pending()
    });
    hooks.on_before_compact("asked", move |_, _| {
        asked();
        std::future::pending()
    });
    hooks.on_after("after", move |_, _| {
        after();
        std::future::pending()
    });
    let folder = Folder::new();
    let rig = started(hooks, &folder).await;
    let mut talk = talk();
    let turns = async {
        let mut compacted = 0;
        for _ in 0..120 {
            compacted += usize::from(!turn(&rig, &mut talk, 500).await.is_bare());
        }
        compacted
    };
    let compacted = tokio::time::timeout(GIVEN_UP, turns).await;
    assert!(compacted.expect("a request was held up") > 5);
    assert!(hanging.load(Ordering::SeqCst) > 1);
}
