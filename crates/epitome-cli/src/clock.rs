//! The one place of the command that reads the time, and makes names of it.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970, for entries that are written into session files and stores.
#[expect(
    clippy::disallowed_methods,
    reason = "agents date the entries of their files; nothing else depends on it"
)]
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}

/// A name that nothing else has. It begins with the time, so that names sort by age.
pub(crate) fn new_id() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}

/// Waits for something, but not for ever.
pub(crate) use tokio::time::timeout as within;

/// Waits.
pub(crate) async fn sleep(duration: Duration) {
    tokio::time::sleep(duration).await;
}

/// Says how long a command took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    /// One that runs from now on.
    #[expect(
        clippy::disallowed_methods,
        reason = "commands report how long they took"
    )]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    /// How long it has been running.
    pub(crate) fn taken(self) -> Duration {
        self.0.elapsed()
    }
}

/// Whoever waits longer than this is told what for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);
const EACH_BEAT: Duration = Duration::from_secs(1);

/// Calls somebody every second, once there is something to say.
pub(crate) struct Beat {
    /// Dropped, it ends the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Beat {
    /// `say` gets the seconds so far, from [`PATIENCE`] on, and nothing at the end, if it was ever called.
    pub(crate) fn start(say: impl Fn(Option<u64>) + Send + 'static) -> Self {
        let (stop, stopped) = mpsc::channel();
        let running = Stopwatch::start();
        let thread = std::thread::spawn(move || {
            let mut pause = PATIENCE;
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(pause) {
                say(Some(running.taken().as_secs()));
                pause = EACH_BEAT;
            }
            if pause == EACH_BEAT {
                say(None);
            }
        });
        Self {
            stop: Some(stop),
            thread: Some(thread),
        }
    }
}

impl Drop for Beat {
    fn drop(&mut self) {
        drop(self.stop.take());
        // It ends by itself; whoever speaks next has the line.
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
