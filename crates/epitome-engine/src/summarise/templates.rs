//! What models are told: files of our own, each of which a user may replace.

use std::path::{Path, PathBuf};

use minijinja::{Environment, UndefinedBehavior, Value};

/// The templates that come with the engine, by name.
const BUILT_IN: &[(&str, &str)] = &[
    ("record", include_str!("../../prompts/record.md")),
    ("transcript", include_str!("../../prompts/transcript.md")),
    (
        "seven_sections",
        include_str!("../../prompts/seven_sections.md"),
    ),
    (
        "rounds_system",
        include_str!("../../prompts/rounds_system.md"),
    ),
    ("rounds", include_str!("../../prompts/rounds.md")),
    ("narrative", include_str!("../../prompts/narrative.md")),
    ("worker", include_str!("../../prompts/worker.md")),
    ("merge", include_str!("../../prompts/merge.md")),
    ("turn_prefix", include_str!("../../prompts/turn_prefix.md")),
];

/// The tags that mark data in our templates.
const TAGS: &[&str] = &["transcript", "focus", "previous_summary", "task", "part"];

/// A set of templates.
///
/// ```
/// use epitome_engine::summarise::Templates;
///
/// let mut templates = Templates::built_in();
/// templates.replace("narrative", "Tell it in {{ budget_tokens }} tokens.")?;
/// assert!(templates.replace("narative", "").is_err());
/// # Ok::<(), epitome_engine::summarise::TemplateError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Templates {
    environment: Environment<'static>,
}

/// Why a template cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// There is no template of this name.
    #[error("there is no template `{name}`: the names are {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// It is not written as a template must be.
    #[error("the template `{name}` cannot be used: {why}")]
    Broken {
        /// Its name.
        name: String,
        /// What is wrong, with the line.
        why: String,
    },
    /// Its file cannot be read.
    #[error("the template file {} cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl Default for Templates {
    fn default() -> Self {
        Self::built_in()
    }
}

impl Templates {
    /// The templates that come with the engine.
    #[must_use]
    pub fn built_in() -> Self {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Lenient);
        environment.set_trim_blocks(false);
        environment.add_filter("data", |text: String| as_data(&text));
        for (name, text) in BUILT_IN {
            // Every one of them is rendered by a test.
            let _ = environment.add_template(name, text);
        }
        Self { environment }
    }

    /// Every name.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// Puts a text in the place of a template. Nothing changes after an error.
    ///
    /// # Errors
    /// [`TemplateError`] when there is none of this name, or the text is no template.
    pub fn replace(&mut self, name: &str, text: &str) -> Result<(), TemplateError> {
        if !Self::names().any(|known| known == name) {
            return Err(TemplateError::Unknown {
                name: name.to_owned(),
                known: Self::names().collect::<Vec<_>>().join(", "),
            });
        }
        let broken = |error: minijinja::Error| TemplateError::Broken {
            name: name.to_owned(),
            why: error.to_string(),
        };
        self.environment
            .add_template_owned(name.to_owned(), text.to_owned())
            .map_err(broken)
    }

    /// Puts a file in the place of a template.
    ///
    /// # Errors
    /// As [`Templates::replace`], and when the file cannot be read.
    pub fn replace_from(&mut self, name: &str, path: &Path) -> Result<(), TemplateError> {
        let text = std::fs::read_to_string(path).map_err(|source| TemplateError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        self.replace(name, &text)
    }

    /// A template with its values filled in.
    ///
    /// # Errors
    /// [`TemplateError::Broken`] when it asks for something that cannot be done.
    pub fn render(&self, name: &str, values: Value) -> Result<String, TemplateError> {
        let broken = |error: minijinja::Error| TemplateError::Broken {
            name: name.to_owned(),
            why: error.to_string(),
        };
        let template = self.environment.get_template(name).map_err(broken)?;
        template.render(values).map_err(broken)
    }
}

/// Data that cannot close its own quotation: the tags that mark data are broken in it.
fn as_data(text: &str) -> String {
    let mut out = text.to_owned();
    for tag in TAGS {
        for opening in ["<", "</"] {
            let whole = format!("{opening}{tag}");
            if out.to_lowercase().contains(&whole) {
                out = broken(&out, &whole);
            }
        }
    }
    out
}

fn broken(text: &str, tag: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let mut out = String::with_capacity(text.len() + 8);
    let mut from = 0;
    for (at, _) in lower.match_indices(tag) {
        out.push_str(text.get(from..at).unwrap_or_default());
        out.push_str("<\u{200b}");
        from = at + 1;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}
