//! Goes through the tree of a file and lists what it sets.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use epitome::settings::{Hint, SettingsError, Value, nearest, spellings};

use crate::item::{Item, Setting};
use crate::layers::{Layer, Unknown};
use crate::names::{ROWS, group_named, is_spelled, key_named, rows_of};
use crate::origin::Origin;
use crate::problem::{Problem, ProblemKind};
use crate::row::{Form, Row};
use crate::scope::{Scope, join};
use crate::tree::{Line, Node, Table};

/// A table beside the settings of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Inner {
    /// More settings of the same scope.
    Settings(&'static [(&'static str, Self)]),
    /// A table of agents, or a list of them with an `id` each.
    Agents,
    /// A table of models.
    Models,
    /// A section of this name.
    Section(&'static str),
    /// A list of hooks.
    Hooks,
    /// A table of tenants.
    Tenants,
    /// Something that is read elsewhere.
    Ignored,
}

/// What may stand in the outermost table, besides settings.
pub(crate) const ROOT: &[(&str, Inner)] = &[
    ("compaction", Inner::Settings(&[])),
    ("defaults", Inner::Settings(MODEL)),
    ("agents", Inner::Agents),
    ("models", Inner::Models),
    ("summarizer", Inner::Section("summarizer")),
    ("summariser", Inner::Section("summarizer")),
    ("memory", Inner::Section("memory")),
    ("server", Inner::Section("server")),
    ("hooks", Inner::Hooks),
    ("tenants", Inner::Tenants),
    ("$schema", Inner::Ignored),
];

/// What may stand in the table of a model.
pub(crate) const MODEL: &[(&str, Inner)] = &[("compaction", Inner::Settings(&[]))];

/// What may stand in the table of an agent.
pub(crate) const AGENT: &[(&str, Inner)] = &[
    ("compaction", Inner::Settings(&[])),
    ("models", Inner::Models),
];

const LISTED_AGENT: &[(&str, Inner)] = &[
    ("compaction", Inner::Settings(&[])),
    ("models", Inner::Models),
    ("id", Inner::Ignored),
];

/// The agent whose settings are those of all: one of the reference designs writes it so.
pub(crate) const DEFAULTS: &str = "defaults";

/// Names under which people write a key.
const SECRETS: &[&str] = &[
    "key",
    "api_key",
    "apikey",
    "token",
    "auth_token",
    "secret",
    "password",
    "authorization",
];

/// Lists what the tree of a file sets.
pub(crate) fn walk(tree: &Table, file: &Arc<Path>, rank: usize) -> Layer {
    let mut walk = Walk {
        file,
        rank,
        layer: Layer::default(),
        given: BTreeMap::new(),
    };
    walk.settings(&Scope::Base, "", tree, ROOT);
    walk.layer
}

struct Walk<'f> {
    file: &'f Arc<Path>,
    rank: usize,
    layer: Layer,
    /// What is set already, and as what it is written.
    given: BTreeMap<(Scope, String), String>,
}

impl Walk<'_> {
    fn settings(
        &mut self,
        scope: &Scope,
        at: &str,
        table: &Table,
        inner: &'static [(&'static str, Inner)],
    ) {
        for line in table {
            let written = line.written.as_str();
            if is_spelled(written, "preset") {
                self.give(scope, at, line, Setting::Preset);
            } else if let Some(key) = key_named("", written) {
                self.give(scope, at, line, Setting::Key(key));
            } else if let Some(group) = group_named(written) {
                let at = join(at, written);
                for line in self.table(&at, line).into_iter().flatten() {
                    match key_named(group, &line.written) {
                        Some(key) => self.give(scope, &at, line, Setting::Key(key)),
                        None => self.unknown(scope, group, &at, line, &[]),
                    }
                }
            } else if let Some((_, inner)) =
                inner.iter().find(|(name, _)| is_spelled(written, name))
            {
                self.inner(scope, at, line, *inner);
            } else {
                self.unknown(scope, "", at, line, inner);
            }
        }
    }

    fn inner(&mut self, scope: &Scope, at: &str, line: &Line, inner: Inner) {
        let at = join(at, &line.written);
        match inner {
            Inner::Settings(inner) => {
                if let Some(table) = self.table(&at, line) {
                    self.settings(scope, &at, table, inner);
                }
            }
            Inner::Agents => self.agents(&at, line),
            Inner::Models => {
                for model in self.table(&at, line).into_iter().flatten() {
                    let name = model.written.clone();
                    let scope = match scope {
                        Scope::Agent(agent) => Scope::AgentModel(agent.clone(), name),
                        _ => Scope::Model(name),
                    };
                    let at = join(&at, &model.written);
                    if let Some(table) = self.table(&at, model) {
                        self.settings(&scope, &at, table, MODEL);
                    }
                }
            }
            Inner::Section(section) => {
                if let Some(table) = self.table(&at, line) {
                    self.section(section, &at, table);
                }
            }
            Inner::Hooks => self.hooks(&at, line),
            Inner::Tenants => self.tenants(&at, line),
            Inner::Ignored => {}
        }
    }

    fn agents(&mut self, at: &str, line: &Line) {
        if let Node::List(list) = &line.node {
            self.listed_agents(at, line, list);
            return;
        }
        for agent in self.table(at, line).into_iter().flatten() {
            let (scope, inner) = match agent.written.as_str() {
                DEFAULTS => (Scope::Base, MODEL),
                name => (Scope::Agent(name.to_owned()), AGENT),
            };
            let at = join(at, &agent.written);
            if let Some(table) = self.table(&at, agent) {
                self.settings(&scope, &at, table, inner);
            }
        }
    }

    fn listed_agents(&mut self, at: &str, line: &Line, list: &[Node]) {
        let mut ids: Vec<String> = Vec::new();
        for (position, node) in list.iter().enumerate() {
            let at = format!("{at}[{position}]");
            let Node::Table(table) = node else {
                self.wrong(line.line, &at, "a table", &node.value());
                continue;
            };
            let id = table.iter().find(|line| is_spelled(&line.written, "id"));
            match id.map(|line| (line.line, line.node.value())) {
                Some((line, Value::Text(id))) if ids.contains(&id) => {
                    self.problem(line, SettingsError::AgentTwice { id });
                }
                Some((_, Value::Text(id))) => {
                    ids.push(id.clone());
                    self.settings(&Scope::Agent(id), &at, table, LISTED_AGENT);
                }
                Some((line, other)) => {
                    self.wrong(
                        line,
                        &join(&at, "id"),
                        "a text that names the agent",
                        &other,
                    );
                }
                None => {
                    let line = table.first().map_or(line.line, |first| first.line);
                    self.wrong(
                        line,
                        &join(&at, "id"),
                        "a text that names the agent",
                        &Value::Null,
                    );
                }
            }
        }
    }

    fn section(&mut self, section: &'static str, at: &str, table: &Table) {
        for line in table {
            let written = line.written.as_str();
            let row = rows_of(section).find(|row| is_spelled(written, row.name));
            if let Some(row) = row {
                self.give(&Scope::Base, at, line, Setting::Row(row));
            } else if let Some(inner) = table_in(section, written) {
                let at = join(at, written);
                if let Some(table) = self.table(&at, line) {
                    self.section(inner, &at, table);
                }
            } else if section == "summarizer" && is_spelled(written, "templates") {
                let at = join(at, written);
                for line in self.table(&at, line).into_iter().flatten() {
                    let name = line.written.clone();
                    self.give(&Scope::Base, &at, line, Setting::Template(name));
                }
            } else {
                self.unknown_in(section, at, line);
            }
        }
    }

    fn tenants(&mut self, at: &str, line: &Line) {
        for tenant in self.table(at, line).into_iter().flatten() {
            let name = &tenant.written;
            let at = join(at, name);
            if !is_tenant(name) {
                let found = Value::Text(name.clone());
                self.wrong(tenant.line, &at, TENANT_NAME, &found);
                continue;
            }
            let table = self.table(&at, tenant);
            if table.is_some_and(Vec::is_empty) {
                // Left out in silence it would let everybody in.
                self.wrong(tenant.line, &at, TENANT_WAYS, &Value::Null);
            }
            for line in table.into_iter().flatten() {
                let row = rows_of("tenants").find(|row| is_spelled(&line.written, row.name));
                match row {
                    Some(row) => {
                        let setting = Setting::Tenant(name.clone(), row);
                        self.give(&Scope::Base, &at, line, setting);
                    }
                    None => self.unknown_in("tenants", &at, line),
                }
            }
        }
    }

    fn hooks(&mut self, at: &str, line: &Line) {
        let Node::List(list) = &line.node else {
            self.wrong(line.line, at, "a list of tables", &line.node.value());
            return;
        };
        if list.is_empty() {
            self.give(&Scope::Base, "", line, Setting::NoHooks);
        }
        for (position, node) in list.iter().enumerate() {
            let at = format!("{at}[{position}]");
            let Node::Table(table) = node else {
                self.wrong(line.line, &at, "a table", &node.value());
                continue;
            };
            for line in table {
                let row = rows_of("hooks").find(|row| is_spelled(&line.written, row.name));
                match row {
                    Some(row) => self.give(&Scope::Base, &at, line, Setting::Hook(position, row)),
                    None => self.unknown_in("hooks", &at, line),
                }
            }
            for name in ["on", "command"] {
                if !table.iter().any(|line| is_spelled(&line.written, name)) {
                    let row = rows_of("hooks").find(|row| row.name == name);
                    let expected = row.map(Row::expected).unwrap_or_default();
                    let line = table.first().map_or(line.line, |first| first.line);
                    self.wrong(line, &join(&at, name), &expected, &Value::Null);
                }
            }
        }
    }

    /// Takes a value over, unless this file has it already.
    fn give(&mut self, scope: &Scope, at: &str, line: &Line, setting: Setting) {
        let written = join(at, &line.written);
        let name = (scope.clone(), setting.path());
        if let Some(first) = self.given.get(&name).cloned() {
            let second = written;
            self.problem(line.line, SettingsError::GivenTwice { first, second });
            return;
        }
        self.given.insert(name, written.clone());
        let value = match (&setting, line.node.value()) {
            (Setting::Template(_), Value::Text(path)) => self.beside(path),
            (Setting::Row(row) | Setting::Tenant(_, row), Value::Text(path))
                if row.form == Form::Path =>
            {
                self.beside(path)
            }
            (Setting::Key(key), Value::Text(text))
                if text.is_empty()
                    && key.is_optional
                    && key.kind == epitome::settings::Kind::Text =>
            {
                Value::Null
            }
            (_, value) => value,
        };
        self.layer.items.push(Item {
            scope: scope.clone(),
            setting,
            written,
            value,
            origin: self.origin(line.line),
            rank: self.rank,
        });
    }

    /// A path, which starts at the folder of the file.
    fn beside(&self, path: String) -> Value {
        Value::Text(match self.file.parent() {
            Some(folder) if !path.is_empty() => folder.join(path).display().to_string(),
            _ => path,
        })
    }

    fn table<'t>(&mut self, at: &str, line: &'t Line) -> Option<&'t Table> {
        match &line.node {
            Node::Table(table) => Some(table),
            other => {
                self.wrong(line.line, at, "a table", &other.value());
                None
            }
        }
    }

    fn unknown(
        &mut self,
        scope: &Scope,
        group: &'static str,
        at: &str,
        line: &Line,
        inner: &'static [(&'static str, Inner)],
    ) {
        self.layer.unknown.push(Unknown {
            scope: scope.clone(),
            group,
            path: join(at, &line.written),
            written: line.written.clone(),
            beside: inner.iter().map(|(name, _)| *name).collect(),
            origin: self.origin(line.line),
        });
    }

    fn unknown_in(&mut self, section: &str, at: &str, line: &Line) {
        let path = join(at, &line.written);
        if SECRETS.iter().any(|name| is_spelled(&line.written, name)) {
            self.layer.problems.push(Problem {
                origin: self.origin(line.line),
                kind: ProblemKind::KeyInFile { path },
            });
            return;
        }
        let names = rows_of(section).map(|row| row.name);
        let inner = ROWS
            .iter()
            .filter_map(|row| row.section.strip_prefix(section)?.strip_prefix('.'));
        let templates = (section == "summarizer").then_some("templates");
        let names = names.chain(inner).chain(templates).flat_map(spellings);
        let hint = nearest(&line.written, names).map_or(Hint::Nothing, Hint::Nearest);
        self.problem(line.line, SettingsError::UnknownKey { path, hint });
    }

    fn wrong(&mut self, line: usize, path: &str, expected: &str, found: &Value) {
        let error = SettingsError::WrongType {
            path: path.to_owned(),
            expected: expected.to_owned(),
            found: match found {
                Value::Null => "nothing".to_owned(),
                found => found.to_string(),
            },
        };
        self.problem(line, error);
    }

    fn problem(&mut self, line: usize, error: SettingsError) {
        let origin = self.origin(line);
        let kind = ProblemKind::Setting(error);
        self.layer.problems.push(Problem { origin, kind });
    }

    fn origin(&self, line: usize) -> Origin {
        let path = Arc::clone(self.file);
        Origin::File { path, line }
    }
}

/// What a tenant may be called: it is a part of every name in a store.
const TENANT_NAME: &str = "a name of 1 to 64 letters, digits, `.`, `_` or `-`";

/// What a tenant needs.
const TENANT_WAYS: &str = "`keys`, `key_env`, `key_file`, `provider_keys` or `principals`";

fn is_tenant(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=64).contains(&name.len()) && name.bytes().all(is_letter)
}

/// The section inside a section that is written like this.
fn table_in(section: &str, written: &str) -> Option<&'static str> {
    let mut sections = ROWS.iter().map(|row| row.section);
    sections.find(|inner| {
        let name = inner
            .strip_prefix(section)
            .and_then(|rest| rest.strip_prefix('.'));
        name.is_some_and(|name| is_spelled(written, name))
    })
}
