//! A commented file to begin with.

use epitome::PresetName;
use epitome::settings::{Settings, Value};

use crate::field::Section;
use crate::notation::toml;
use crate::row::Row;
use crate::sections::{Hook, Memory, Server, Summarizer, Tenant, default_of};

/// Where lines of prose end.
const WIDTH_CHARS: usize = 100;

const HEAD: &str = "\
A configuration of epitome. Every setting stands here with its default: remove the # to change one.
Layers, each over the one before: the preset's defaults, /etc/epitome/epitome.toml, ~/.config/epitome/epitome.toml, \
epitome.toml in the working folder or above it (or only the file that --config or EPITOME_CONFIG names), EPITOME_* \
variables, flags.
A file found in the working folder or above it may set sizes and presets; where requests, keys, files and programs go \
is heard from it only after `epitome config trust`.
`epitome config show` says where each value comes from, `epitome config check` what is wrong.";

const OVERRIDES: &str = "\
# Single models and agents may have any of the settings above otherwise. A `*` stands for any letters, and the most
# specific name wins; what an agent says comes before what a model says.
#
# [models.\"gpt-5*\"]
# window = 400000
#
# [agents.research]
# preset = \"layer\"
#
# [agents.research.models.\"gpt-5*\"]
# window = 200000
";

const TEMPLATES: &str = "\
# Files in place of built-in templates, by the name of the template:
#
# [summarizer.templates]
# seven_sections = \"templates/seven-sections.md\"
";

/// A file in which every setting of a preset, and every setting of the sections, stands as a comment with its default.
/// A comment that begins with `# ` is for people; one without the space is a setting.
///
/// ```
/// let text = epitome_config::example(epitome::PresetName::Vibe);
/// assert!(text.contains("\npreset = \"vibe\"\n"));
/// assert!(text.contains("\n#auto_compact_threshold = 200000\n"));
/// ```
#[must_use]
pub fn example(preset: PresetName) -> String {
    let mut text = String::new();
    HEAD.lines().for_each(|line| prose(&mut text, line));
    let words = PresetName::ALL.map(PresetName::as_str);
    prose_after_gap(
        &mut text,
        &format!("Which design: `{}`.", words.join("`, `")),
    );
    text.push_str(&format!("preset = \"{preset}\"\n"));
    let mut group = "";
    for (key, value) in Settings::of(preset).entries() {
        if key.group != group {
            group = key.group;
            text.push_str(&format!("\n#[{group}]\n"));
        }
        prose_after_gap(&mut text, key.doc());
        setting(&mut text, key.name, &value);
    }
    text.push('\n');
    text.push_str(OVERRIDES);
    let of = |rows: Vec<&'static Row>, text: &mut String| {
        let mut section = "";
        for row in rows {
            if row.section != section {
                section = row.section;
                text.push_str(&format!("\n#[{section}]\n"));
            }
            prose_after_gap(text, row.doc());
            setting(text, row.name, &default_of(row).unwrap_or(Value::Null));
        }
    };
    of(Summarizer::rows(), &mut text);
    text.push('\n');
    text.push_str(TEMPLATES);
    of(Memory::rows(), &mut text);
    of(Server::rows(), &mut text);
    prose_after_gap(
        &mut text,
        "Programs that are told about compactions, one table each:",
    );
    text.push_str("#\n# [[hooks]]\n");
    for row in Hook::rows() {
        prose(&mut text, row.doc());
        let value = match (row.name, default_of(row)) {
            ("command", _) => Value::List(vec![Value::Text("notify-send".to_owned())]),
            (_, default) => default.unwrap_or(Value::Null),
        };
        text.push_str(&format!("# {} = {}\n", row.name, toml(&value)));
    }
    prose_after_gap(
        &mut text,
        "Those whose requests the proxy takes, one table each. Without any everybody on this machine is the tenant `local`, and \
         the proxy listens on loopback addresses only:",
    );
    text.push_str("#\n# [tenants.research]\n");
    for row in Tenant::rows() {
        prose(&mut text, row.doc());
        let value = default_of(row).unwrap_or(Value::Null);
        text.push_str(&format!("# {} = {}\n", row.name, toml(&value)));
    }
    text
}

fn setting(text: &mut String, name: &str, value: &Value) {
    text.push_str(&format!("#{name} = {}\n", toml(value)));
}

fn prose_after_gap(text: &mut String, words: &str) {
    text.push('\n');
    prose(text, words);
}

fn prose(text: &mut String, words: &str) {
    let mut length = 0;
    for word in words.split_whitespace() {
        let chars = word.chars().count() + 1;
        if length == 0 || length + chars > WIDTH_CHARS {
            if length > 0 {
                text.push('\n');
            }
            text.push('#');
            length = 1;
        }
        text.push(' ');
        text.push_str(word);
        length += chars;
    }
    text.push('\n');
}
