//! What is believed of each model at each endpoint: its window, how it counts, which form of a view it takes.
//!
//! Conversations of an engine and those that pass a proxy learn here, by the same key, and what they learn is stored in
//! one way: what one of them was taught, the next one knows.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use epitome::{
    Belief, Calibration, ContextBeta, Digest, Evidence, Learned, Lesson, Model, ModelTable,
    RefusedSize, Window, window_of_with,
};
use epitome_store::{BeliefRow, Beliefs, TenantId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A window that an earlier version learned without evidence is believed only above this size, and above this part of
/// what the table says: it may have been read from anything.
const LEAST_UNPROVEN_TOKENS: u64 = 2_048;
const LEAST_UNPROVEN_DIVISOR: u64 = 4;

/// What a store calls a model with the long context.
const MILLION_SUFFIX: &str = "[1m]";

/// Between a tenant and an endpoint in a store.
const BETWEEN: char = '@';

/// A model at an endpoint, with or without a context beta; the same name may mean another window elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModelKey {
    /// Where it is asked, such as `api.anthropic.com`.
    pub endpoint: String,
    /// Its name there.
    pub model: String,
    /// Whether a longer context than usual is asked for.
    pub context: ContextBeta,
}

impl ModelKey {
    /// The name under which a store keeps what is believed.
    #[must_use]
    pub fn stored_model(&self) -> String {
        match self.context {
            ContextBeta::None => self.model.clone(),
            ContextBeta::OneMillion => format!("{}{MILLION_SUFFIX}", self.model),
        }
    }

    /// The key of what a store has under this name.
    #[must_use]
    pub fn from_stored(endpoint: String, model: &str) -> Self {
        let (model, context) = match model.strip_suffix(MILLION_SUFFIX) {
            Some(model) => (model, ContextBeta::OneMillion),
            None => (model, ContextBeta::None),
        };
        Self {
            endpoint,
            model: model.to_owned(),
            context,
        }
    }

    /// Tells this model at this endpoint from every other; the same in every process.
    #[must_use]
    pub fn digest(&self) -> u64 {
        let parts = [self.endpoint.as_str(), "\0", &self.stored_model()].concat();
        Digest::of(parts.as_bytes()).prefix()
    }

    /// What the table of models says of it.
    #[must_use]
    pub fn in_table(&self) -> Option<&'static Model> {
        ModelTable::builtin().find(&self.model)
    }

    /// The window that the table names.
    #[must_use]
    pub fn table_window(&self) -> Option<Window> {
        window_of_with(&self.model, self.context)
    }
}

/// What a store calls an endpoint in what a tenant believes. What is believed of models is no part of any tenant there, so all
/// but the tenant `local` have their name in front; neither it nor an endpoint has the sign that is between them.
#[must_use]
pub fn stored_endpoint(tenant: &TenantId, endpoint: &str) -> String {
    match *tenant == TenantId::local() {
        true => endpoint.to_owned(),
        false => format!("{tenant}{BETWEEN}{endpoint}"),
    }
}

/// The endpoint that a store has under this name; `None` where it is what another tenant believes.
#[must_use]
pub fn own_endpoint<'s>(tenant: &TenantId, stored: &'s str) -> Option<&'s str> {
    match stored.split_once(BETWEEN) {
        None => (*tenant == TenantId::local()).then_some(stored),
        Some((name, endpoint)) => (name == tenant.as_str()).then_some(endpoint),
    }
}

/// Where the summary stands in what an endpoint takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SummaryPlacement {
    /// A message of its own, after the task.
    #[default]
    OwnMessage,
    /// Inside the task, for servers that want the roles to alternate.
    Alternating,
}

impl SummaryPlacement {
    /// The form to try after this one was refused.
    #[must_use]
    pub const fn next(self) -> Option<Self> {
        match self {
            Self::OwnMessage => Some(Self::Alternating),
            Self::Alternating => None,
        }
    }

    /// What an endpoint takes of which one says this and another that: nobody tries the second form without need.
    const fn or(self, other: Self) -> Self {
        match self {
            Self::OwnMessage => other,
            Self::Alternating => Self::Alternating,
        }
    }
}

/// What is known of one model. As it is stored, how it counts stands apart, because that changes far more often.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Known {
    belief: Belief,
    #[serde(default)]
    form: SummaryPlacement,
}

/// How much of what was just learned a store should be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// Nothing.
    Nothing,
    /// How the model counts.
    Counts,
    /// All of it; a window that the store knows stays.
    Belief,
    /// All of it, and the window takes the place of the one in the store.
    Window,
}

/// What a store is to be told of one model.
#[derive(Clone, Debug)]
pub struct BeliefUpdate {
    row: BeliefRow,
    news: News,
}

impl BeliefUpdate {
    /// Stores it. Another process on the same store may have learned a window that this one has not: only news about
    /// the window itself takes the place of it.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn save(mut self, store: &impl Beliefs) -> epitome_store::Result<()> {
        if self.row.window.is_some() {
            let known = store.belief(&self.row.endpoint, &self.row.model).await?;
            self.join(known.as_ref());
        }
        store.save_belief(&self.row).await
    }

    fn join(&mut self, known: Option<&BeliefRow>) {
        let key = ModelKey::from_stored(self.row.endpoint.clone(), &self.row.model);
        let own: Option<Known> = read(&key, self.row.window.as_deref());
        let known: Option<Known> = known.and_then(|known| read(&key, known.window.as_deref()));
        if let (Some(mut own), Some(known)) = (own, known) {
            if self.news == News::Belief {
                own.belief = own.belief.or_learned(known.belief.learned());
            }
            own.belief = own.belief.written_over(&known.belief);
            own.form = own.form.or(known.form);
            self.row.window = written(&own);
        }
    }
}

/// What is known of each model at each endpoint. A clone knows the same.
#[derive(Clone, Debug, Default)]
pub struct KnownModels {
    known: Arc<Mutex<HashMap<ModelKey, Known>>>,
    /// Who believes it; nobody in particular is `local`.
    tenant: Option<TenantId>,
    /// What the store said last, or was told here since, so that only what changed there is taken over.
    seen: Arc<Mutex<HashMap<ModelKey, BeliefRow>>>,
}

impl KnownModels {
    /// What one tenant believes: in a store it is apart from what others do.
    #[must_use]
    pub fn of_tenant(tenant: TenantId) -> Self {
        Self {
            tenant: Some(tenant),
            ..Self::default()
        }
    }

    /// Takes over all that a store has for this tenant.
    ///
    /// # Errors
    /// When the store fails; nothing is known then.
    pub async fn recall_all(&self, store: &impl Beliefs) -> epitome_store::Result<()> {
        let tenant = self.tenant.clone().unwrap_or_else(TenantId::local);
        let own = |stored: &str| own_endpoint(&tenant, stored).map(ToOwned::to_owned);
        for learned in store.learned_windows().await? {
            if let Some(endpoint) = own(&learned.endpoint) {
                let key = ModelKey::from_stored(endpoint, &learned.model);
                self.recall_window(&key, learned.window_tokens);
            }
        }
        self.take_over(&store.beliefs().await?);
        Ok(())
    }

    /// Takes over what others have written to a store since it was asked last: another window as it is there, what was found out
    /// besides, and how a model counts from whoever has seen more of it. A row that is older than what was written here since
    /// says nothing of the window.
    pub fn take_over(&self, rows: &[BeliefRow]) {
        let tenant = self.tenant.clone().unwrap_or_else(TenantId::local);
        for row in rows {
            let Some(endpoint) = own_endpoint(&tenant, &row.endpoint) else {
                continue;
            };
            let row = BeliefRow {
                endpoint: endpoint.to_owned(),
                ..row.clone()
            };
            let key = ModelKey::from_stored(row.endpoint.clone(), &row.model);
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            let before = seen.get(&key).cloned();
            let is_old = before
                .as_ref()
                .is_some_and(|before| row.at_ms < before.at_ms);
            if !is_old {
                seen.insert(key.clone(), row.clone());
            }
            drop(seen);
            let before = before.as_ref();
            let is_new = |new: &Option<String>, old: Option<&Option<String>>| old != Some(new);
            let mut news = row.clone();
            if is_old || !is_new(&row.window, before.map(|before| &before.window)) {
                news.window = None;
            }
            if !is_new(&row.counts, before.map(|before| &before.counts)) {
                news.counts = None;
            }
            let known = self.belief(&key).calibration();
            let stored: Option<Calibration> = read(&key, news.counts.as_deref());
            if stored.is_none_or(|stored| stored.turns() <= known.turns()) {
                news.counts = None;
            }
            if news.window.is_some() || news.counts.is_some() {
                self.recall(&news);
            }
        }
    }

    /// What is believed of a model.
    #[must_use]
    pub fn belief(&self, key: &ModelKey) -> Belief {
        self.known(key).belief
    }

    /// Learns from a request that went well: `learn` is given the newest belief, and nobody else learns meanwhile. What
    /// it finds out is returned, with how much of it a store should be told.
    pub fn learn<T>(&self, key: &ModelKey, learn: impl FnOnce(&mut Belief) -> T) -> (T, News) {
        self.update(key, |known| {
            let before = (known.belief.learned(), known.belief.calibration().turns());
            let found = learn(&mut known.belief);
            let turns = known.belief.calibration().turns();
            // Ratios move slowly: what a restart forgets of them is soon counted again.
            let is_news = turns != before.1 && (turns < 8 || turns.is_multiple_of(16));
            let news = if before.0 != known.belief.learned() {
                News::Window
            } else if is_news {
                News::Counts
            } else {
                News::Nothing
            };
            (found, news)
        })
    }

    /// A provider refused a request as too long.
    #[must_use]
    pub fn refused(&self, key: &ModelKey, refused: RefusedSize) -> (Lesson, News) {
        let lesson = self.update(key, |known| known.belief.refused(refused));
        match lesson {
            Lesson::Window(_) => (lesson, News::Window),
            // Whether it counts the output may have been learned all the same.
            Lesson::Nothing => (lesson, News::Belief),
        }
    }

    /// Which form of a view a model takes.
    #[must_use]
    pub fn form(&self, key: &ModelKey) -> SummaryPlacement {
        self.known(key).form
    }

    /// This model takes only this form.
    pub fn remember_form(&self, key: &ModelKey, form: SummaryPlacement) {
        self.update(key, |known| known.form = form);
    }

    /// What a store is to be told, if anything.
    #[must_use]
    pub fn update_of(&self, key: &ModelKey, news: News, at_ms: i64) -> Option<BeliefUpdate> {
        let known = self.known(key);
        let window = || {
            written(&Known {
                belief: known.belief.with_calibration(Calibration::default()),
                ..known
            })
        };
        let window = match news {
            News::Nothing => return None,
            News::Counts => None,
            News::Belief | News::Window => window(),
        };
        let row = BeliefRow {
            endpoint: match &self.tenant {
                Some(tenant) => stored_endpoint(tenant, &key.endpoint),
                None => key.endpoint.clone(),
            },
            model: key.stored_model(),
            window,
            counts: written(&known.belief.calibration()),
            at_ms,
        };
        self.note_told(key, &row);
        Some(BeliefUpdate { row, news })
    }

    /// What the store is told: until it has that, it says what was believed before. The time of a row is that of its window.
    fn note_told(&self, key: &ModelKey, told: &BeliefRow) {
        let Some(window) = &told.window else {
            return;
        };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let row = seen.entry(key.clone()).or_insert_with(|| BeliefRow {
            endpoint: key.endpoint.clone(),
            ..told.clone()
        });
        if row.at_ms <= told.at_ms {
            row.window = Some(window.clone());
            row.at_ms = told.at_ms;
        }
    }

    /// Takes over what was believed before; what cannot be read is forgotten.
    fn recall(&self, row: &BeliefRow) {
        let key = ModelKey::from_stored(row.endpoint.clone(), &row.model);
        let stored: Option<Known> = read(&key, row.window.as_deref());
        let counts: Option<Calibration> = read(&key, row.counts.as_deref());
        self.update(&key, |known| {
            if let Some(stored) = stored {
                // How it counts is stored apart.
                known.belief = known.belief.taken_over(&stored.belief);
                known.form = known.form.or(stored.form);
            }
            if let Some(calibration) = counts {
                known.belief = known.belief.with_calibration(calibration);
            }
        });
    }

    /// Takes over a window of a version that kept no evidence, if it can be true.
    fn recall_window(&self, key: &ModelKey, window_tokens: u64) {
        let table = key.table_window();
        let least = table.map_or(0, |window| window.tokens / LEAST_UNPROVEN_DIVISOR);
        if window_tokens < least.max(LEAST_UNPROVEN_TOKENS) {
            tracing::warn!(
                model = key.model,
                window_tokens,
                "a window that an earlier version learned makes no sense and is forgotten"
            );
            return;
        }
        self.update(key, |known| {
            known.belief = Belief::recalled(Some(Learned {
                window_tokens,
                evidence: Evidence::Unknown,
            }));
        });
    }

    fn known(&self, key: &ModelKey) -> Known {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(key).copied().unwrap_or_default()
    }

    fn update<T>(&self, key: &ModelKey, change: impl FnOnce(&mut Known) -> T) -> T {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        change(known.entry(key.clone()).or_default())
    }
}

fn written(value: &impl Serialize) -> Option<String> {
    serde_json::to_string(value)
        .inspect_err(|error| tracing::error!(%error, "a belief cannot be written"))
        .ok()
}

fn read<T: DeserializeOwned>(key: &ModelKey, stored: Option<&str>) -> Option<T> {
    serde_json::from_str(stored?)
        .inspect_err(|error| {
            let model = &key.model;
            tracing::warn!(model, %error, "what was believed of a model cannot be read and is forgotten");
        })
        .ok()
}
