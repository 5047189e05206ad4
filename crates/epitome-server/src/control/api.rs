//! The answers of the control API. Pages show the same ones.

use std::collections::HashSet;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use epitome_engine::archive::{
    self, BelievedModel, Hit, ListedMessage, Regardless, Undo, Within, compaction_object,
    compaction_with_record, conversation_object,
};
use epitome_store::{
    AnyStore, CompactionRow, CompactionState, Compactions, ConversationId, ConversationRow,
    Conversations, Outcome, Outcomes,
};
use http::{Response, StatusCode};
use serde_json::{Value, json};

use super::answer::{self, Failure};
use super::{Control, query};
use crate::advice::advice;
use crate::clock::now_ms;
use crate::status;

/// How many rows there are on a page where nobody says.
const ROWS: u32 = 50;
/// How many there are at most.
const MOST_ROWS: u32 = 500;
/// How many entries are found where nobody says.
const HITS: u32 = 10;
/// How many decisions the overview shows.
const RECENT: u32 = 20;

/// The description of the API.
const DESCRIPTION: &str = include_str!("openapi.json");

pub(super) async fn description() -> Response<Body> {
    answer::of(StatusCode::OK, "application/json", DESCRIPTION)
}

pub(super) async fn get_overview(State(control): State<Arc<Control>>) -> Response<Body> {
    answer::json(overview(&control).await)
}

pub(super) async fn get_conversations(
    State(control): State<Arc<Control>>,
    RawQuery(asked): RawQuery,
) -> Response<Body> {
    answer::json(conversations(&control, asked.as_deref()).await)
}

pub(super) async fn get_conversation(
    State(control): State<Arc<Control>>,
    Path(id): Path<String>,
) -> Response<Body> {
    answer::json(conversation(&control, &id).await)
}

pub(super) async fn get_compactions(
    State(control): State<Arc<Control>>,
    Path(id): Path<String>,
) -> Response<Body> {
    answer::json(compactions(&control, &id).await)
}

pub(super) async fn get_compaction(
    State(control): State<Arc<Control>>,
    Path(id): Path<String>,
) -> Response<Body> {
    answer::json(compaction(&control, &id).await)
}

pub(super) async fn get_recall(
    State(control): State<Arc<Control>>,
    RawQuery(asked): RawQuery,
) -> Response<Body> {
    answer::json(recall(&control, None, asked.as_deref()).await)
}

pub(super) async fn get_recall_within(
    State(control): State<Arc<Control>>,
    Path(id): Path<String>,
    RawQuery(asked): RawQuery,
) -> Response<Body> {
    answer::json(recall(&control, Some(&id), asked.as_deref()).await)
}

pub(super) async fn post_undo(
    State(control): State<Arc<Control>>,
    Path(id): Path<String>,
    RawQuery(asked): RawQuery,
) -> Response<Body> {
    answer::json(undo(&control, &id, asked.as_deref()).await)
}

pub(super) async fn get_models(State(control): State<Arc<Control>>) -> Response<Body> {
    answer::json(models(&control).await)
}

/// What changes from request to request, without asking the store.
pub(super) fn figures(control: &Control) -> Value {
    let tally = &control.proxy.tally;
    let (before, after) = tally.tokens();
    let counts = tally.by_reason();
    let requests: u64 = counts.iter().map(|(.., count)| count).sum();
    let by_reason: Vec<Value> = counts
        .into_iter()
        .map(|(action, reason, requests)| {
            json!({
                "action": action.as_str(),
                "reason": reason.as_str(),
                "requests": requests,
                "advice": advice(reason),
            })
        })
        .collect();
    json!({
        "requests": requests,
        "by_reason": by_reason,
        "tokens_before": before,
        "tokens_after": after,
        "tokens_saved": before.saturating_sub(after),
        "health": status::report(&control.proxy),
    })
}

pub(super) async fn overview(control: &Control) -> Result<Value, Failure> {
    let mut overview = figures(control);
    let recent = match store(control) {
        Ok(store) => store.outcomes(&control.tenant, RECENT).await?,
        Err(_) => Vec::new(),
    };
    if let Value::Object(members) = &mut overview {
        let recent: Vec<Value> = recent.iter().map(outcome_object).collect();
        members.insert("recent".to_owned(), recent.into());
        members.insert("has_store".to_owned(), control.store.is_some().into());
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
pub(super) async fn conversations(
    control: &Control,
    asked: Option<&str>,
) -> Result<Value, Failure> {
    let store = store(control)?;
    let tenant = &control.tenant;
    let limit = query::number(asked, "limit")
        .unwrap_or(ROWS)
        .clamp(1, MOST_ROWS);
    let words = query::member(asked, "q").filter(|words| !words.trim().is_empty());
    let rows: Vec<ConversationRow> = match &words {
        None => store.conversations(tenant, limit).await?,
        Some(words) => found_in(store, control, words, limit.min(ROWS)).await?,
    };
    let rows: Vec<Value> = rows.iter().map(conversation_object).collect();
    Ok(json!({ "conversations": rows, "q": words }))
}

/// The conversations in which words were found: at most one question for each of a page.
async fn found_in(
    store: &AnyStore,
    control: &Control,
    words: &str,
    limit: u32,
) -> Result<Vec<ConversationRow>, Failure> {
    let found = archive::recall(store, &control.tenant, Within::Tenant, words, limit).await?;
    let mut seen = HashSet::new();
    let mut rows = Vec::new();
    for session in found
        .into_iter()
        .flat_map(|found| found.hits)
        .filter_map(|hit| hit.session)
    {
        if seen.insert(session.clone())
            && let Ok(id) = ConversationId::new(&session)
            && let Some(row) = store.conversation(&control.tenant, &id).await?
        {
            rows.push(row);
        }
    }
    Ok(rows)
}

pub(super) async fn conversation(control: &Control, id: &str) -> Result<Value, Failure> {
    let store = store(control)?;
    let id = known(id)?;
    let tenant = &control.tenant;
    let row = store.conversation(tenant, &id).await?;
    let row = row.ok_or_else(|| no_conversation(&id))?;
    let messages = archive::messages(store, tenant, &id).await?;
    let messages = messages.unwrap_or_default();
    let rows = store.compactions_of(tenant, &id).await?;
    let covered: u64 = tokens(&messages, |message| !is_in_view(message));
    let in_force = rows
        .iter()
        .rfind(|row| row.state == CompactionState::Published);
    let mut object = conversation_object(&row);
    if let Value::Object(members) = &mut object {
        let listed: Vec<Value> = messages.iter().map(ListedMessage::object).collect();
        let compactions: Vec<Value> = rows.iter().map(compaction_object).collect();
        members.insert("messages".to_owned(), listed.into());
        members.insert("compactions_made".to_owned(), compactions.into());
        members.insert(
            "tokens_in_view".to_owned(),
            tokens(&messages, is_in_view).into(),
        );
        members.insert("tokens_covered".to_owned(), covered.into());
        members.insert(
            "in_force".to_owned(),
            in_force.map(|row| row.id.clone()).into(),
        );
    }
    Ok(object)
}

fn is_in_view(message: &ListedMessage) -> bool {
    message.state == archive::MessageState::InView
}

fn tokens(messages: &[ListedMessage], is_counted: impl Fn(&ListedMessage) -> bool) -> u64 {
    let counted = messages.iter().filter(|message| is_counted(message));
    counted.map(|message| u64::from(message.tokens)).sum()
}

async fn compactions(control: &Control, id: &str) -> Result<Value, Failure> {
    let store = store(control)?;
    let id = known(id)?;
    if store.conversation(&control.tenant, &id).await?.is_none() {
        return Err(no_conversation(&id));
    }
    let rows: Vec<CompactionRow> = store.compactions_of(&control.tenant, &id).await?;
    let rows: Vec<Value> = rows.iter().map(compaction_object).collect();
    Ok(json!({ "session": id.as_str(), "compactions": rows }))
}

pub(super) async fn compaction(control: &Control, id: &str) -> Result<Value, Failure> {
    let row = store(control)?.compaction(&control.tenant, id).await?;
    let row = row.ok_or_else(|| Failure::NotFound(format!("there is no compaction {id}")))?;
    Ok(compaction_with_record(&row))
}

pub(super) async fn recall(
    control: &Control,
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
    let found = archive::recall(store(control)?, &control.tenant, within, &words, most).await?;
    let Some(found) = found else {
        let named = id.as_ref().map_or("", ConversationId::as_str);
        return Err(Failure::NotFound(format!(
            "there is no conversation {named}"
        )));
    };
    let hits: Vec<Value> = found.hits.iter().map(Hit::object).collect();
    Ok(json!({ "query": words, "hits": hits }))
}

/// Takes the newest compaction back; with `force=1` also where the conversation may not fit without it.
pub(super) async fn undo(
    control: &Control,
    id: &str,
    asked: Option<&str>,
) -> Result<Value, Failure> {
    let id = known(id)?;
    let regardless = match query::number(asked, "force") {
        Some(1) => Regardless::OfSize,
        _ => Regardless::No,
    };
    let undo = archive::undo(store(control)?, &control.tenant, &id, regardless, now_ms()).await?;
    Err(Failure::Refused(match undo {
        Undo::Done(undone) => {
            return Ok(json!({
                "session": id.as_str(),
                "undone": undone.id,
                "tokens_before": undone.tokens_before,
                "tokens_after": undone.tokens_after,
            }));
        }
        Undo::UnknownConversation => return Err(no_conversation(&id)),
        Undo::NothingInForce => format!("no compaction of {id} is in force"),
        Undo::DoesNotFit {
            id,
            tokens,
            allowed_tokens,
        } => format!(
            "without {id} the conversation takes {tokens} tokens, and {allowed_tokens} are allowed; undo it all the same with force=1"
        ),
        Undo::Unreadable(error) => format!(
            "{error}; whether the conversation fits without it is not known; undo it all the same with force=1"
        ),
    }))
}

pub(super) async fn models(control: &Control) -> Result<Value, Failure> {
    let models = archive::believed_models(store(control)?).await?;
    let models: Vec<Value> = models.iter().map(BelievedModel::object).collect();
    Ok(json!({ "models": models }))
}

fn store(control: &Control) -> Result<&AnyStore, Failure> {
    control.store.as_deref().ok_or(Failure::NoStore)
}

fn known(id: &str) -> Result<ConversationId, Failure> {
    ConversationId::new(id)
        .map_err(|_| Failure::NotFound("there is no conversation with this name".to_owned()))
}

fn no_conversation(id: &ConversationId) -> Failure {
    Failure::NotFound(format!("there is no conversation {id}"))
}
