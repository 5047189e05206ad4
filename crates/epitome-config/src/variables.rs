//! Settings as environment variables.

use epitome::settings::{Kind, Value, nearest};

use crate::item::{Item, Setting};
use crate::layers::Layer;
use crate::names::{ROWS, keys};
use crate::origin::Origin;
use crate::problem::{Problem, ProblemKind};
use crate::row::Form;
use crate::scope::Scope;

/// What every variable of ours begins with.
const PREFIX: &str = "EPITOME_";

/// Variables of ours that are no settings: which file, how much is logged, and what tests are told.
const OTHERS: &[&str] = &[
    "EPITOME_CONFIG",
    "EPITOME_LOG",
    "EPITOME_TOKEN",
    "EPITOME_STORE_KEY",
    "EPITOME_VECTORS",
    "EPITOME_SEED",
    "EPITOME_AGENTS",
    "EPITOME_CASES",
    "EPITOME_DATA",
    "EPITOME_TEST_POSTGRES",
    "EPITOME_SKIP_REPORT",
];

/// Names that were there before the file was.
const SHORT: &[(&str, &str)] = &[
    ("EPITOME_SUMMARIZER", "summarizer.kind"),
    ("EPITOME_INSPECTION_LIMIT", "server.inspection_limit_bytes"),
];

const TEMPLATES: &str = "EPITOME_SUMMARIZER_TEMPLATES_";

/// The variable of a setting: `EPITOME_RESERVE_TOKENS`, `EPITOME_SUMMARIZER_URL`. Settings of the server are without
/// the name of their section, as they are on the command line; with it they are understood too.
///
/// ```
/// assert_eq!(epitome_config::variable_of("summarizer.spend.hour_usd"), "EPITOME_SUMMARIZER_SPEND_HOUR_USD");
/// assert_eq!(epitome_config::variable_of("server.listen"), "EPITOME_LISTEN");
/// ```
#[must_use]
pub fn variable_of(path: &str) -> String {
    long_name(path.strip_prefix("server.").unwrap_or(path))
}

/// Every setting that has a variable, with its path. Agents, models, hooks and tenants have none.
pub fn variables() -> impl Iterator<Item = (String, String)> {
    settings().map(|setting| {
        let path = setting.path();
        (variable_of(&path), path)
    })
}

/// Whether a variable of ours may hold a secret, which no program needs that is only started beside us: keys, tokens, and addresses,
/// in which a password may stand. Of one that nobody knows it is not known.
///
/// ```
/// use epitome_config::may_be_secret;
///
/// assert!(may_be_secret("EPITOME_STORE_KEY") && may_be_secret("EPITOME_STORE"));
/// assert!(!may_be_secret("EPITOME_PRESET") && !may_be_secret("PATH"));
/// ```
#[must_use]
pub fn may_be_secret(name: &str) -> bool {
    const PLAIN: [&str; 2] = ["EPITOME_CONFIG", "EPITOME_LOG"];
    if !name.starts_with(PREFIX) || PLAIN.contains(&name) {
        return false;
    }
    match setting_of(name) {
        Some(Setting::Row(row)) => row.form == Form::Address,
        Some(_) => false,
        None => true,
    }
}

fn long_name(path: &str) -> String {
    format!("{PREFIX}{}", path.replace('.', "_").to_ascii_uppercase())
}

fn settings() -> impl Iterator<Item = Setting> {
    let rows = ROWS.iter().copied();
    let rows = rows.filter(|row| !matches!(row.section, "hooks" | "tenants"));
    std::iter::once(Setting::Preset)
        .chain(keys().map(Setting::Key))
        .chain(rows.map(Setting::Row))
}

/// Lists what the variables set. Empty ones set nothing; unknown ones are warned of.
pub(crate) fn read(variables: &[(String, String)], rank: usize) -> (Layer, Vec<Problem>) {
    let mut layer = Layer::default();
    let mut warnings = Vec::new();
    for (name, text) in variables {
        if !name.starts_with(PREFIX) || OTHERS.contains(&name.as_str()) || text.is_empty() {
            continue;
        }
        let origin = Origin::Variable(name.clone());
        let Some(setting) = setting_of(name) else {
            let known = self::variables().map(|(known, _)| known);
            let known = known.chain(OTHERS.iter().map(|other| (*other).to_owned()));
            let kind = ProblemKind::UnknownVariable {
                name: name.clone(),
                nearest: nearest_variable(name, known),
            };
            warnings.push(Problem { origin, kind });
            continue;
        };
        let item = Item {
            scope: Scope::Process,
            written: name.clone(),
            value: value_of(&setting, text),
            setting,
            origin,
            rank,
        };
        let same = layer.items.iter().find(|other| other.name() == item.name());
        match same {
            Some(first) => {
                let kind = epitome::settings::SettingsError::GivenTwice {
                    first: first.written.clone(),
                    second: item.written,
                };
                let (origin, kind) = (item.origin, kind.into());
                layer.problems.push(Problem { origin, kind });
            }
            None => layer.items.push(item),
        }
    }
    (layer, warnings)
}

/// The nearest of the known variables; what all of them begin with makes none of them near.
fn nearest_variable(name: &str, known: impl Iterator<Item = String>) -> Option<String> {
    let known = known.map(|known| known.replacen(PREFIX, "", 1));
    let near = nearest(name.strip_prefix(PREFIX)?, known)?;
    Some(format!("{PREFIX}{near}"))
}

fn setting_of(name: &str) -> Option<Setting> {
    if let Some(template) = name.strip_prefix(TEMPLATES).filter(|rest| !rest.is_empty()) {
        return Some(Setting::Template(template.to_ascii_lowercase()));
    }
    let short = SHORT.iter().find(|(short, _)| *short == name);
    settings().find(|setting| {
        let path = setting.path();
        variable_of(&path) == name
            || long_name(&path) == name
            || short.is_some_and(|(_, meant)| *meant == path)
    })
}

/// The value that a bare text stands for; texts have commas between them. A text that does not fit stays one, and is refused with
/// the usual words.
fn value_of(setting: &Setting, text: &str) -> Value {
    let kind = match setting {
        Setting::Key(key) => key.kind,
        Setting::Row(row) | Setting::Hook(_, row) | Setting::Tenant(_, row) => match row.form {
            Form::Plain(kind) => kind,
            Form::Texts => {
                let texts = text.split(',').map(str::trim);
                let texts = texts.filter(|text| !text.is_empty());
                return Value::List(texts.map(|text| Value::Text(text.to_owned())).collect());
            }
            _ => Kind::Text,
        },
        Setting::Preset | Setting::Template(_) | Setting::NoHooks => Kind::Text,
    };
    let trimmed = text.trim();
    let value = match kind {
        Kind::Switch => match trimmed.to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Some(Value::Switch(true)),
            "false" | "0" | "no" | "off" => Some(Value::Switch(false)),
            _ => None,
        },
        Kind::Whole => trimmed.replace('_', "").parse().ok().map(Value::Whole),
        Kind::Number => trimmed.parse().ok().map(Value::Number),
        _ => None,
    };
    value.unwrap_or_else(|| Value::Text(text.to_owned()))
}
