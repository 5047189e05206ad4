//! Who is driven, with what, and through which scenarios.

use super::install::AGENTS;

/// What happens to a client while it works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scenario {
    /// Several windows of work in one conversation; the client does not compact by itself.
    Far,
    /// The same with the client's own compaction.
    Own,
    /// Nobody told the proxy the window: it learns it from the first refusal.
    Untold,
    /// Two conversations of two processes at the same time.
    Two,
    /// The proxy is killed in the middle and started again.
    Killed,
    /// Another model from the middle on.
    Switched,
    /// 500, 529 and cut streams of the upstream.
    Faults,
    /// A sub-agent works for a while.
    SubAgents,
    /// As far beyond the window, but `epitome wrap` starts the agent: nobody runs `epitome serve`.
    Wrapped,
}

impl Scenario {
    pub(crate) const ALL: [Self; 9] = [
        Far, Own, Untold, Two, Killed, Switched, Faults, SubAgents, Wrapped,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Far => "far beyond the window",
            Self::Own => "own compaction",
            Self::Untold => "window not told",
            Self::Two => "two at once",
            Self::Killed => "proxy killed",
            Self::Switched => "model switched",
            Self::Faults => "upstream faults",
            Self::SubAgents => "sub-agents",
            Self::Wrapped => "started by wrap",
        }
    }
}

use Scenario::{Far, Faults, Killed, Own, SubAgents, Switched, Two, Untold, Wrapped};

#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) name: &'static str,
    pub(crate) driver: Driver,
    /// Where its own packages are.
    pub(crate) set: &'static str,
    pub(crate) model: &'static str,
    pub(crate) other_model: &'static str,
    pub(crate) window_tokens: u64,
    pub(crate) turns: u64,
    pub(crate) calls: u64,
    pub(crate) scenarios: &'static [Scenario],
    /// What `cargo xtask test` has of it.
    pub(crate) short: &'static [Scenario],
}

/// Which program runs the driver, a file in `crates/epitome-server/tests/clients`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Driver {
    /// Python with nothing but its library.
    Plain(&'static str),
    /// Python with the packages of the client.
    Python(&'static str),
    Node(&'static str),
}

impl Client {
    /// The folders that have to be filled before it can run.
    pub(crate) fn sets(&self) -> Vec<&'static str> {
        match self.driver {
            // The runtime comes with the agents.
            Driver::Node(_) if self.set != AGENTS => vec![self.set, AGENTS],
            _ => vec![self.set],
        }
    }
}

/// Of clients whose history the provider keeps.
const MANY_TURNS: u64 = 60;

/// What a client that keeps its history in its process goes through.
const LIBRARY: &[Scenario] = &[Far, Untold, Two, Killed, Switched, Faults];

const fn python(name: &'static str, model: &'static str, other_model: &'static str) -> Client {
    Client {
        name,
        driver: Driver::Python("sdk.py"),
        set: "pip.sdk",
        model,
        other_model,
        window_tokens: 30_000,
        turns: 6,
        calls: 6,
        scenarios: LIBRARY,
        short: &[Far, Killed],
    }
}

const fn node(name: &'static str, model: &'static str, other_model: &'static str) -> Client {
    Client {
        driver: Driver::Node("sdk.mjs"),
        set: AGENTS,
        short: &[Far],
        ..python(name, model, other_model)
    }
}

/// An agent that is a program; what it sends first is large.
const fn agent(name: &'static str, model: &'static str, other_model: &'static str) -> Client {
    Client {
        driver: Driver::Plain("agents.py"),
        set: AGENTS,
        window_tokens: 60_000,
        turns: 5,
        calls: 8,
        scenarios: &[Far, Own, Untold, Two, Killed, Switched, Faults],
        short: &[],
        ..python(name, model, other_model)
    }
}

const fn ai_sdk(name: &'static str, model: &'static str, other_model: &'static str) -> Client {
    Client {
        driver: Driver::Node("ai_sdk.mjs"),
        set: "npm.more",
        short: &[],
        ..node(name, model, other_model)
    }
}

/// A client on top of an SDK.
const fn chain(
    set: &'static str,
    name: &'static str,
    model: &'static str,
    other_model: &'static str,
) -> Client {
    Client {
        driver: Driver::Python("chain.py"),
        set,
        short: &[],
        ..python(name, model, other_model)
    }
}

pub(crate) const CLIENTS: &[Client] = &[
    Client {
        // It wants 32,000 tokens for its answers.
        window_tokens: 90_000,
        scenarios: &Scenario::ALL,
        short: &[Far, Faults, Wrapped],
        ..agent("claude-code", "claude-sonnet-4-5", "claude-opus-4-8")
    },
    Client {
        short: &[Far, Killed],
        ..agent("codex", "gpt-5", "gpt-5.1")
    },
    Client {
        // `wrap` moves the provider that Codex comes with, not one of the user's own.
        scenarios: &[Far, Own, Untold, Two, Killed, Switched, Faults, Wrapped],
        ..agent("codex-built-in", "gpt-5", "gpt-5.1")
    },
    agent("pi-chat", "gpt-4o", "gpt-4.1"),
    Client {
        scenarios: &[Far, Own, Killed, Faults, Wrapped],
        ..agent("pi-responses", "gpt-5", "gpt-5.1")
    },
    Client {
        scenarios: &[Far, Own, Killed, Faults, Wrapped],
        ..agent("pi-anthropic", "claude-sonnet-4-5", "claude-opus-4-8")
    },
    Client {
        set: "npm.more",
        scenarios: &Scenario::ALL,
        ..agent("opencode", "gpt-4o", "gpt-4.1")
    },
    Client {
        driver: Driver::Python("with_aider.py"),
        set: "pip.aider",
        window_tokens: 24_000,
        turns: 12,
        scenarios: &[Far, Own, Untold, Two, Killed, Switched, Faults, Wrapped],
        short: &[Far],
        ..agent("aider", "gpt-4o", "gpt-4.1")
    },
    python("python-openai-chat", "gpt-4o", "gpt-4.1"),
    python("python-openai-responses", "gpt-5", "gpt-5.1"),
    Client {
        turns: MANY_TURNS,
        calls: 1,
        short: &[],
        ..python("python-openai-stored", "gpt-5", "gpt-5.1")
    },
    python("python-anthropic", "claude-sonnet-4-5", "claude-opus-4-8"),
    python(
        "python-anthropic-thinking",
        "claude-sonnet-4-5",
        "claude-opus-4-8",
    ),
    node("node-openai-chat", "gpt-4o", "gpt-4.1"),
    node("node-openai-responses", "gpt-5", "gpt-5.1"),
    node("node-anthropic", "claude-sonnet-4-5", "claude-opus-4-8"),
    node(
        "node-anthropic-thinking",
        "claude-sonnet-4-5",
        "claude-opus-4-8",
    ),
    Client {
        turns: MANY_TURNS,
        calls: 1,
        ..ai_sdk("ai-sdk", "gpt-5", "gpt-5.1")
    },
    ai_sdk("ai-sdk-unstored", "gpt-5", "gpt-5.1"),
    ai_sdk("ai-sdk-chat", "gpt-4o", "gpt-4.1"),
    ai_sdk("ai-sdk-anthropic", "claude-sonnet-4-5", "claude-opus-4-8"),
    chain("pip.chain", "langchain-chat", "gpt-4o", "gpt-4.1"),
    chain("pip.chain", "langchain-responses", "gpt-5", "gpt-5.1"),
    chain(
        "pip.chain",
        "langchain-anthropic",
        "claude-sonnet-4-5",
        "claude-opus-4-8",
    ),
    chain("pip.swe", "litellm-openai", "gpt-4o", "gpt-4.1"),
    chain(
        "pip.swe",
        "litellm-anthropic",
        "claude-sonnet-4-5",
        "claude-opus-4-8",
    ),
    Client {
        driver: Driver::Python("with_mini_swe_agent.py"),
        turns: 3,
        calls: 20,
        ..chain("pip.swe", "mini-swe-agent", "gpt-4o", "gpt-4.1")
    },
];
