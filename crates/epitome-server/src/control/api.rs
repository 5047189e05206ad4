//! The answers of the control API. Pages show the same ones.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, RawQuery};
use epitome::Reason;
use epitome_engine::archive::{
    self, BelievedModel, Hit, ListedMessage, Within, compaction_object, conversation_object,
};
use epitome_store::{
    AnyStore, CompactionRow, CompactionState, Compactions, ConversationId, ConversationRow,
    Conversations, Outcome, Outcomes,
};
use http::{Response, StatusCode};
use serde_json::{Value, json};

use super::answer::{self, Failure};
use super::view::View;
use super::{query, rounds, saying};
use crate::advice::advice;
use crate::config::{Mode, ShownSetting};
use crate::keeper::Action;
use crate::status::{self, Subject};

/// How many rows there are on a page where nobody says.
const ROWS: u32 = 50;
/// How many there are at most.
const MOST_ROWS: u32 = 500;
/// How many entries are found where nobody says.
const HITS: u32 = 10;
/// How many decisions the overview shows.
const RECENT: u32 = 20;
/// Among how many decisions the list of conversations looks for the newest of each.
const DECISIONS: u32 = 1_000;

/// The description of the API.
const DESCRIPTION: &str = include_str!("openapi.json");

pub(super) async fn description() -> Response<Body> {
    answer::of(StatusCode::OK, "application/json", DESCRIPTION)
}

pub(super) async fn get_overview(control: View) -> Response<Body> {
    answer::json(overview(&control).await)
}

pub(super) async fn get_conversations(control: View, RawQuery(asked): RawQuery) -> Response<Body> {
    answer::json(conversations(&control, asked.as_deref()).await)
}

pub(super) async fn get_conversation(control: View, Path(id): Path<String>) -> Response<Body> {
    answer::json(conversation(&control, &id).await)
}

pub(super) async fn get_compactions(control: View, Path(id): Path<String>) -> Response<Body> {
    answer::json(compactions(&control, &id).await)
}

pub(super) async fn get_compaction(control: View, Path(id): Path<String>) -> Response<Body> {
    answer::json(rounds::compaction(&control, &id).await)
}

pub(super) async fn get_recall(control: View, RawQuery(asked): RawQuery) -> Response<Body> {
    answer::json(recall(&control, None, asked.as_deref()).await)
}

pub(super) async fn get_recall_within(
    control: View,
    Path(id): Path<String>,
    RawQuery(asked): RawQuery,
) -> Response<Body> {
    answer::json(recall(&control, Some(&id), asked.as_deref()).await)
}

pub(super) async fn get_message(
    control: View,
    Path((id, position)): Path<(String, String)>,
) -> Response<Body> {
    answer::json(message(&control, &id, &position).await)
}

pub(super) async fn get_pins(control: View, Path(id): Path<String>) -> Response<Body> {
    answer::json(pins(&control, &id).await)
}

pub(super) async fn get_settings(control: View) -> Response<Body> {
    answer::json(settings(&control).await)
}

pub(super) async fn get_models(control: View) -> Response<Body> {
    answer::json(models(&control).await)
}

/// What changes from request to request, without asking the store.
pub(super) fn figures(control: &View) -> Value {
    let register = control.proxy.register();
    let own = [Arc::clone(&control.tenant)];
    let subject = match control.is_operators() {
        true => Subject::all(&control.proxy, &register),
        false => Subject::one(&own),
    };
    let tally = &control.tenant.tally;
    let (before, after) = tally.tokens();
    let counts = tally.by_reason();
    let requests: u64 = counts.iter().map(|(.., count)| count).sum();
    let by_reason: Vec<Value> = counts
        .iter()
        .map(|(action, reason, requests)| {
            json!({
                "action": action.as_str(),
                "reason": reason.as_str(),
                "says": format!("{}: {}", saying::action(action.as_str()), saying::reason(reason.as_str())),
                "requests": requests,
                "advice": advice(*reason),
            })
        })
        .collect();
    let is_eligible = |(action, reason, _): &&(Action, Reason, u64)| {
        matches!(action, Action::Compacted | Action::Observed) || advice(*reason).is_some()
    };
    let eligible: u64 = counts
        .iter()
        .filter(is_eligible)
        .map(|(.., count)| count)
        .sum();
    let (money, cache, held) = (tally.money(), tally.cached(), tally.held());
    json!({
        "requests": requests,
        "eligible": eligible,
        "by_reason": by_reason,
        "tokens_before": before,
        "tokens_after": after,
        "tokens_saved": before.saturating_sub(after),
        "money": {
            "saved_usd_at_least": money.least_usd,
            "saved_usd_at_most": money.most_usd,
            "unpriced_tokens": money.unpriced_tokens,
            "own_spend_usd": control.tenant.keeper().own_spend_usd(),
        },
        "cache": {
            "input_tokens": cache.input_tokens,
            "read_tokens": cache.read_tokens,
            "written_tokens": cache.written_tokens,
        },
        "held": { "requests": held.requests, "mean_us": held.mean_us(), "most_us": held.most_us },
        "observe": is_watching(control),
        "health": status::report(&control.proxy, &subject),
    })
}

pub(super) fn is_watching(control: &View) -> bool {
    control.tenant.keeper().mode == Mode::Observe
}

pub(super) async fn overview(control: &View) -> Result<Value, Failure> {
    let mut overview = figures(control);
    let recent = match store(control) {
        Ok(store) => store.outcomes(&control.tenant.id, RECENT).await?,
        Err(_) => Vec::new(),
    };
    if let Value::Object(members) = &mut overview {
        let recent: Vec<Value> = recent.iter().map(outcome_object).collect();
        members.insert("recent".to_owned(), recent.into());
        members.insert("has_store".to_owned(), control.store.is_some().into());
        members.insert("quota".to_owned(), control.tenant.quota.object());
    }
    Ok(overview)
}

fn outcome_object(outcome: &Outcome) -> Value {
    json!({
        "session": outcome.conversation.as_ref().map(ConversationId::as_str),
        "at_ms": outcome.at_ms,
        "action": outcome.action,
        "reason": outcome.reason,
        "tokens_before": outcome.tokens_before,
        "tokens_after": outcome.tokens_after,
        "model": outcome.model,
    })
}

/// The last touched ones; or those in which the words of `q` are found, the best first.
pub(super) async fn conversations(control: &View, asked: Option<&str>) -> Result<Value, Failure> {
    let store = store(control)?;
    let tenant = &control.tenant.id;
    let limit = query::number(asked, "limit")
        .unwrap_or(ROWS)
        .clamp(1, MOST_ROWS);
    let words = query::member(asked, "q").filter(|words| !words.trim().is_empty());
    let rows: Vec<ConversationRow> = match &words {
        None => store.conversations(tenant, limit).await?,
        Some(words) => found_in(store, control, words, limit.min(ROWS)).await?,
    };
    let decided = store.outcomes(tenant, DECISIONS).await?;
    let mut newest: HashMap<&str, &Outcome> = HashMap::new();
    for outcome in &decided {
        if let Some(id) = &outcome.conversation {
            newest.entry(id.as_str()).or_insert(outcome);
        }
    }
    let rows = rows.iter().map(|row| {
        let mut object = conversation_object(row);
        let decided = newest.get(row.id.as_str());
        if let Value::Object(members) = &mut object {
            let last = decided.map(|outcome| outcome_object(outcome));
            members.insert("last_decision".to_owned(), last.into());
            members.insert("client".to_owned(), client(control, &row.id));
        }
        object
    });
    let rows: Vec<Value> = rows.collect();
    Ok(json!({ "conversations": rows, "q": words }))
}

/// The conversations in which words were found: at most one question for each of a page.
async fn found_in(
    store: &AnyStore,
    control: &View,
    words: &str,
    limit: u32,
) -> Result<Vec<ConversationRow>, Failure> {
    let found = archive::recall(store, &control.tenant.id, Within::Tenant, words, limit).await?;
    let mut seen = HashSet::new();
    let mut rows = Vec::new();
    for session in found
        .into_iter()
        .flat_map(|found| found.hits)
        .filter_map(|hit| hit.session)
    {
        if seen.insert(session.clone())
            && let Ok(id) = ConversationId::new(&session)
            && let Some(row) = store.conversation(&control.tenant.id, &id).await?
        {
            rows.push(row);
        }
    }
    Ok(rows)
}

pub(super) async fn conversation(control: &View, id: &str) -> Result<Value, Failure> {
    let store = store(control)?;
    let id = known(id)?;
    let tenant = &control.tenant.id;
    let row = store.conversation(tenant, &id).await?;
    let row = row.ok_or_else(|| no_conversation(&id))?;
    let look = archive::look(store, tenant, &id).await?;
    let rows = store.compactions_of(tenant, &id).await?;
    let in_force = rows
        .iter()
        .rfind(|row| row.state == CompactionState::Published);
    let mut object = conversation_object(&row);
    if let Value::Object(members) = &mut object {
        let mut say = |name: &str, value: Value| {
            members.insert(name.to_owned(), value);
        };
        let messages = look.as_ref().map(|look| look.messages.as_slice());
        let messages = messages.unwrap_or_default();
        let listed: Vec<Value> = messages.iter().map(ListedMessage::object).collect();
        let compactions: Vec<Value> = rows.iter().map(compaction_object).collect();
        let covered = tokens(messages, |message| !is_in_view(message));
        let on_the_way = look.as_ref().map(|look| look.compactions.as_slice());
        let grown = archive::growth(messages, on_the_way.unwrap_or_default());
        let pins = look.as_ref().map(|look| look.pins.objects());
        say("client", client(control, &id));
        say("messages", listed.into());
        say("compactions_made", compactions.into());
        say("tokens_in_view", tokens(messages, is_in_view).into());
        say("tokens_covered", covered.into());
        say("growth", grown.object());
        say("savings", grown.savings.object());
        say("pins", pins.unwrap_or_default().into());
        say("in_force", in_force.map(|row| row.id.clone()).into());
    }
    Ok(object)
}

/// The program that holds a conversation, where one did since the start.
fn client(control: &View, id: &ConversationId) -> Value {
    let name = control.tenant.clients.of(id.as_str());
    name.map_or(Value::Null, |name| Value::from(&*name))
}

/// A message as a whole, as it was sent.
pub(super) async fn message(control: &View, id: &str, position: &str) -> Result<Value, Failure> {
    let store = store(control)?;
    let id = known(id)?;
    let missing = || Failure::NotFound(format!("{id} has no message {position}"));
    let place: u64 = position.parse().map_err(|_| missing())?;
    let found = archive::message(store, &control.tenant.id, &id, place).await?;
    let (listed, text, all) = found.ok_or_else(missing)?;
    let mut object = listed.object();
    if let Value::Object(members) = &mut object {
        members.insert("text".to_owned(), text.into());
        members.insert("session".to_owned(), id.as_str().into());
        members.insert("messages".to_owned(), all.into());
    }
    Ok(object)
}

pub(super) async fn pins(control: &View, id: &str) -> Result<Value, Failure> {
    let id = known(id)?;
    let list = archive::pins(store(control)?, &control.tenant.id, &id).await?;
    let list = list.ok_or_else(|| no_conversation(&id))?;
    Ok(json!({ "session": id.as_str(), "compaction": list.compaction, "pins": list.objects() }))
}

/// Every setting with where it comes from, and what is believed of models.
pub(super) async fn settings(control: &View) -> Result<Value, Failure> {
    let models = match store(control) {
        Ok(_) => models(control).await?,
        Err(_) => json!({ "models": [] }),
    };
    let settings = control.proxy.shown();
    // They are the server's, and name other tenants.
    let settings = settings.iter().filter(|_| control.is_operators());
    let settings: Vec<Value> = settings.map(setting_object).collect();
    let models = models.get("models").cloned();
    Ok(json!({ "observe": is_watching(control), "settings": settings, "models": models }))
}

fn setting_object(setting: &ShownSetting) -> Value {
    let ShownSetting {
        path,
        value,
        origin,
        is_default,
    } = setting;
    json!({ "path": path, "value": value, "origin": origin, "is_default": is_default })
}

fn is_in_view(message: &ListedMessage) -> bool {
    !matches!(message.state, archive::MessageState::Covered(_))
}

fn tokens(messages: &[ListedMessage], is_counted: impl Fn(&ListedMessage) -> bool) -> u64 {
    let counted = messages.iter().filter(|message| is_counted(message));
    counted.map(|message| u64::from(message.tokens)).sum()
}

async fn compactions(control: &View, id: &str) -> Result<Value, Failure> {
    let store = store(control)?;
    let id = known(id)?;
    if store.conversation(&control.tenant.id, &id).await?.is_none() {
        return Err(no_conversation(&id));
    }
    let rows: Vec<CompactionRow> = store.compactions_of(&control.tenant.id, &id).await?;
    let rows: Vec<Value> = rows.iter().map(compaction_object).collect();
    Ok(json!({ "session": id.as_str(), "compactions": rows }))
}

pub(super) async fn recall(
    control: &View,
    id: Option<&str>,
    asked: Option<&str>,
) -> Result<Value, Failure> {
    let words = query::member(asked, "q").unwrap_or_default();
    if words.trim().is_empty() {
        return Err(Failure::Wrong("what to look for? ?q=WORDS".to_owned()));
    }
    let most = query::number(asked, "k").unwrap_or(HITS).clamp(1, ROWS);
    let id = id.map(known).transpose()?;
    let within = id.as_ref().map_or(Within::Tenant, Within::Conversation);
    let found = archive::recall(store(control)?, &control.tenant.id, within, &words, most).await?;
    let Some(found) = found else {
        let named = id.as_ref().map_or("", ConversationId::as_str);
        return Err(Failure::NotFound(format!(
            "there is no conversation {named}"
        )));
    };
    let hits: Vec<Value> = found.hits.iter().map(Hit::object).collect();
    Ok(json!({ "query": words, "hits": hits }))
}

pub(super) async fn models(control: &View) -> Result<Value, Failure> {
    let models = archive::believed_models(store(control)?, &control.tenant.id).await?;
    let models: Vec<Value> = models.iter().map(BelievedModel::object).collect();
    Ok(json!({ "models": models }))
}

pub(super) fn store(control: &View) -> Result<&AnyStore, Failure> {
    control.store.as_deref().ok_or(Failure::NoStore)
}

pub(super) fn known(id: &str) -> Result<ConversationId, Failure> {
    ConversationId::new(id)
        .map_err(|_| Failure::NotFound("there is no conversation with this name".to_owned()))
}

pub(super) fn no_conversation(id: &ConversationId) -> Failure {
    Failure::NotFound(format!("there is no conversation {id}"))
}
