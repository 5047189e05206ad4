//! A configuration that changes while the proxy runs.

use std::time::Duration;

use epitome_config::{Loaded, Problem, Watch};
use epitome_server::Reloader;

use super::{for_tenants, shown};
use crate::clock;

/// How often the files are looked at.
const EVERY: Duration = Duration::from_secs(1);
/// What is read once, at the start.
const UNTIL_A_RESTART: [&str; 7] = [
    "server.listen",
    "server.openai_upstream",
    "server.anthropic_upstream",
    "server.store",
    "server.store_key_file",
    "server.inspection_limit_bytes",
    "server.hosts",
];

/// Takes over every change of the configuration, and says so. One that is wrong is said once, and what was loaded
/// before stays.
pub(super) async fn keep_current(watch: Watch, reloader: Reloader, mut loaded: Loaded) {
    let mut watch = Some(watch);
    loop {
        clock::sleep(EVERY).await;
        let Some(mut asked) = watch.take() else {
            return;
        };
        let polled = tokio::task::spawn_blocking(move || {
            let changed = asked.poll();
            (asked, changed)
        });
        let Ok((asked, changed)) = polled.await else {
            return;
        };
        watch = Some(asked);
        let now = match changed {
            None => continue,
            Some(Ok(now)) => now,
            Some(Err(error)) => {
                tracing::error!("{error}\nthe configuration stays as it was");
                continue;
            }
        };
        match for_tenants(&now) {
            Ok(config) => {
                if let Err(error) = reloader.reload(&config, shown(&now)).await {
                    tracing::error!("{error}\nthe configuration stays as it was");
                    continue;
                }
                let is_new = |problem: &&Problem| !loaded.warnings.contains(*problem);
                for problem in now.warnings.iter().filter(is_new) {
                    tracing::warn!("{problem}");
                }
                say(&loaded, &now);
                loaded = now;
            }
            Err(error) => tracing::error!("{error:#}\nthe configuration stays as it was"),
        }
    }
}

fn say(before: &Loaded, now: &Loaded) {
    let changed = changed(before, now);
    if changed.is_empty() {
        return;
    }
    tracing::info!(changed = changed.join(", "), "the configuration changed");
    let late: Vec<&str> = UNTIL_A_RESTART
        .into_iter()
        .filter(|path| changed.iter().any(|one| one == path))
        .collect();
    if !late.is_empty() {
        let settings = late.join(", ");
        tracing::warn!(
            settings,
            "takes effect only when the proxy is started again"
        );
    }
}

/// The settings that are not what they were.
fn changed(before: &Loaded, now: &Loaded) -> Vec<String> {
    let values = |loaded: &Loaded| -> Vec<(String, String)> {
        let entries = loaded.values();
        entries
            .map(|entry| (entry.path.clone(), entry.value.to_string()))
            .collect()
    };
    let (before, now) = (values(before), values(now));
    let gone = before.iter().filter(|entry| !now.contains(entry));
    let new = now.iter().filter(|entry| !before.contains(entry));
    let mut paths: Vec<String> = gone.chain(new).map(|(path, _)| path.clone()).collect();
    paths.sort();
    paths.dedup();
    paths
}
