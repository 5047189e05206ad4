//! For whom a value holds.

use std::fmt;

/// For whom a value holds. A later variant comes before an earlier one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// For everybody.
    Base,
    /// For models of this name; `*` stands for any letters.
    Model(String),
    /// For this agent.
    Agent(String),
    /// For this agent with models of this name.
    AgentModel(String, String),
    /// For everybody, said by the environment or the command line of this process.
    Process,
}

impl Scope {
    /// Whether it holds for an agent and a model.
    pub(crate) fn holds(&self, agent: Option<&str>, model: Option<&str>) -> bool {
        let is_agent = |name: &str| agent == Some(name);
        let is_model = |pattern: &str| model.is_some_and(|model| matches(pattern, model));
        match self {
            Self::Base | Self::Process => true,
            Self::Model(pattern) => is_model(pattern),
            Self::Agent(name) => is_agent(name),
            Self::AgentModel(name, pattern) => is_agent(name) && is_model(pattern),
        }
    }

    /// Sorts scopes that hold at the same time: the last one wins. Of two patterns the more specific one wins: a name
    /// before a pattern, then the one with more letters of its own, then the one with fewer stars.
    pub(crate) fn order(&self) -> impl Ord + use<> {
        let (kind, pattern) = match self {
            Self::Base => (0, ""),
            Self::Model(pattern) => (1, pattern.as_str()),
            Self::Agent(_) => (2, ""),
            Self::AgentModel(_, pattern) => (3, pattern.as_str()),
            Self::Process => (4, ""),
        };
        let stars = pattern.matches('*').count();
        let letters = pattern.chars().count() - stars;
        (
            kind,
            stars == 0,
            letters,
            std::cmp::Reverse(stars),
            pattern.to_owned(),
        )
    }

    /// The table that it stands in.
    pub(crate) fn at(&self) -> String {
        match self {
            Self::Base | Self::Process => String::new(),
            Self::Model(pattern) => join("models", pattern),
            Self::Agent(name) => join("agents", name),
            Self::AgentModel(name, pattern) => {
                join(&join(&join("agents", name), "models"), pattern)
            }
        }
    }
}

/// As a table of the file.
impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.at())
    }
}

/// A path and one name more, quoted where TOML wants that.
pub(crate) fn join(at: &str, name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let name = if !name.is_empty() && name.chars().all(is_bare) {
        name.to_owned()
    } else {
        format!("{name:?}")
    };
    if at.is_empty() {
        name
    } else {
        format!("{at}.{name}")
    }
}

/// Whether a name has the form of a pattern; upper and lower case are the same.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.to_ascii_lowercase(), name.to_ascii_lowercase());
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        // The leftmost place leaves most to the parts after it; only the last part has a fixed place.
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    true
}
