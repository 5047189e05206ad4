use super::{Task, parse};
use crate::agents::{Extent, Scenario};

fn check(line: &str, expect: Result<Task, &str>) {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    assert_eq!(parse(&words), expect.map_err(str::to_owned), "{line}");
}

#[test]
fn commands_and_their_arguments() {
    check("lint", Ok(Task::Lint));
    check("test", Ok(Task::Test { filter: None }));
    check(
        "test splice",
        Ok(Task::Test {
            filter: Some("splice".to_owned()),
        }),
    );
    let agents = |names: &[&str]| {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        Ok(Task::Agents(Extent::Clients { names, only: None }))
    };
    check("agents", agents(&[]));
    check("agents aider codex", agents(&["aider", "codex"]));
    check("agents --short", Ok(Task::Agents(Extent::Short)));
    let words = ["agents", "aider", "--scenario", "started by wrap"].map(str::to_owned);
    let names = vec!["aider".to_owned()];
    let only = Some(Scenario::Wrapped);
    assert_eq!(
        parse(&words),
        Ok(Task::Agents(Extent::Clients { names, only }))
    );
    check("agents --scenario none", Err("`none` is not a scenario"));
    check("agents --long", Err("`agents --long` is not a command"));
    let bench = |name: Option<&str>, against: Option<&str>| Task::Bench {
        name: name.map(str::to_owned),
        against: against.map(Into::into),
    };
    check("bench", Ok(bench(None, None)));
    check("bench proxy", Ok(bench(Some("proxy"), None)));
    check(
        "bench sessions --against ../old",
        Ok(bench(Some("sessions"), Some("../old"))),
    );
    let fuzz = |name: Option<&str>, seconds| Task::Fuzz {
        name: name.map(str::to_owned),
        seconds,
    };
    check("fuzz", Ok(fuzz(None, 60)));
    check("fuzz api --seconds 5", Ok(fuzz(Some("api"), 5)));
    check("fuzz --seconds 5", Ok(fuzz(None, 5)));
    check("soak", Ok(Task::Soak { minutes: 0 }));
    check("soak --minutes 20", Ok(Task::Soak { minutes: 20 }));
    let name = "820f8ef".to_owned();
    check("museum 820f8ef", Ok(Task::Museum { name }));
    check("fresh", Ok(Task::Fresh));
    check("--help", Ok(Task::Help));
    check("test --help", Ok(Task::Help));
}

#[test]
fn wrong_calls_are_named() {
    check("", Err("no command given"));
    check("frobnicate", Err("`frobnicate` is not a command"));
    check("lint now", Err("`lint now` is not a command"));
    check("test --fast", Err("`test --fast` is not a command"));
    check("museum", Err("`museum` is not a command"));
    check("museum ../x", Err("`museum ../x` is not a command"));
    check(
        "bench warm --against old",
        Err("`bench warm --against old` is not a command"),
    );
    check("bench sleep", Err("there is no benchmark called `sleep`"));
    check(
        "fuzz --seconds long",
        Err("`long` is not a number of seconds"),
    );
    check(
        "soak --minutes long",
        Err("`long` is not a number of minutes"),
    );
}
