//! `epitome savings`: what compactions spared, over everything that is stored.

use std::collections::{BTreeMap, HashMap};

use anyhow::Result;
use epitome::ModelTable;
use epitome::reference::vibe::grouped;
use epitome_engine::archive::{Savings, growth, look};
use epitome_engine::record::Record;
use epitome_store::{Conversations, Outcomes, Store};
use serde_json::{Value, json};

use crate::args::SavingsArgs;
use crate::terminal::{Page, Patience, Table, counted, left, right};
use crate::{Ending, clock, print};

/// So many conversations are looked at, the newest first.
const MOST_CONVERSATIONS: u32 = 1_000_000;
/// Among so many decisions the model of each conversation is looked for.
const DECISIONS: u32 = 1_000_000;
const DAY_MS: i64 = 86_400_000;
const UNKNOWN: &str = "(model not known)";

/// What was spared of one model, and what that costs.
#[derive(Clone, Copy, Debug, Default)]
struct Spared {
    conversations: u64,
    savings: Savings,
    /// What models were paid for summaries.
    own_nanodollars: u64,
}

impl Spared {
    fn and(self, other: Self) -> Self {
        Self {
            conversations: self.conversations + other.conversations,
            savings: self.savings.and(other.savings),
            own_nanodollars: self.own_nanodollars + other.own_nanodollars,
        }
    }

    fn own_usd(&self) -> f64 {
        self.own_nanodollars as f64 / 1e9
    }
}

pub(super) async fn run(args: &SavingsArgs) -> Result<Ending> {
    let store = args.at.open_read_only().await?;
    let tenant = &args.at.tenant;
    let mut models: HashMap<String, String> = HashMap::new();
    for outcome in store.outcomes(tenant, DECISIONS).await? {
        if let Some(id) = outcome.conversation {
            models.entry(id.to_string()).or_insert(outcome.model);
        }
    }
    let now_ms = i64::try_from(clock::now_ms()).unwrap_or(i64::MAX);
    let since_ms = args
        .days
        .map(|days| now_ms.saturating_sub(i64::from(days) * DAY_MS));
    let rows = store.conversations(tenant, MOST_CONVERSATIONS).await?;
    let meant = rows.iter().filter(|row| {
        row.compactions > 0 && since_ms.is_none_or(|since_ms| row.touched_ms >= since_ms)
    });
    let mut by_model: BTreeMap<String, Spared> = BTreeMap::new();
    let doing = format!(
        "looking through {}",
        counted(rows.len() as u64, "conversation")
    );
    let waiting = Patience::unless(args.at.json, doing);
    for row in meant {
        let Some(look) = look(&store, tenant, &row.id).await? else {
            continue;
        };
        let savings = growth(&look.messages, &look.compactions).savings;
        let model = models.get(row.id.as_str()).map_or(UNKNOWN, String::as_str);
        // What it shares with the one that it branched off is counted there.
        let own = look
            .compactions
            .iter()
            .filter(|made| made.conversation == row.id);
        let spent = own.filter_map(|made| Some(Record::of(made).ok()?.spent_nanodollars()));
        let here = Spared {
            conversations: 1,
            savings,
            own_nanodollars: spent.sum(),
        };
        let spared = by_model.entry(model.to_owned()).or_default();
        *spared = spared.and(here);
    }
    store.close().await;
    drop(waiting);
    if args.at.json {
        print(&(object(&by_model).to_string() + "\n"))?;
    } else {
        page(&by_model, args.days).print()?;
    }
    Ok(Ending::Done)
}

/// What tokens of a model's input cost in dollars: read from a cache, and fresh.
fn dollars(model: &str, tokens: u64) -> Option<(f64, f64)> {
    let prices = ModelTable::builtin().find(model)?.prices;
    let fresh = prices.input?;
    let cached = prices.cache_read.unwrap_or(fresh).min(fresh);
    let of = |nanodollars: u64| tokens as f64 * nanodollars as f64 / 1e9;
    Some((of(cached), of(fresh)))
}

fn total(by_model: &BTreeMap<String, Spared>) -> (Spared, f64, f64, u64) {
    let mut all = Spared::default();
    let (mut least, mut most, mut unpriced) = (0.0, 0.0, 0);
    for (model, spared) in by_model {
        all = all.and(*spared);
        match dollars(model, spared.savings.tokens()) {
            Some((cached, fresh)) => {
                least += cached;
                most += fresh;
            }
            None => unpriced += spared.savings.tokens(),
        }
    }
    (all, least, most, unpriced)
}

fn object(by_model: &BTreeMap<String, Spared>) -> Value {
    let row = |(model, spared): (&String, &Spared)| {
        let money = dollars(model, spared.savings.tokens());
        json!({
            "model": model,
            "conversations": spared.conversations,
            "requests": spared.savings.requests,
            "tokens_before": spared.savings.tokens_before,
            "tokens_after": spared.savings.tokens_after,
            "tokens_saved": spared.savings.tokens(),
            "saved_usd_at_least": money.map(|(least, _)| least),
            "saved_usd_at_most": money.map(|(_, most)| most),
            "own_spend_usd": spared.own_usd(),
        })
    };
    let rows: Vec<Value> = by_model.iter().map(row).collect();
    let (all, least, most, unpriced) = total(by_model);
    json!({
        "conversations": all.conversations,
        "requests": all.savings.requests,
        "tokens_before": all.savings.tokens_before,
        "tokens_after": all.savings.tokens_after,
        "tokens_saved": all.savings.tokens(),
        "saved_usd_at_least": least,
        "saved_usd_at_most": most,
        "own_spend_usd": all.own_usd(),
        "unpriced_tokens": unpriced,
        "by_model": rows,
    })
}

fn page(by_model: &BTreeMap<String, Spared>, days: Option<u16>) -> Page {
    let mut page = Page::default();
    let (all, least, most, unpriced) = total(by_model);
    let when = days.map_or_else(String::new, |days| {
        format!(", used in the last {days} days")
    });
    if all.savings.requests == 0 {
        page.line(format!("nothing was shortened yet{when}"));
        return page;
    }
    page.heading(format!(
        "{} tokens were not sent, in {} of {}{when}",
        grouped(all.savings.tokens()),
        counted(all.savings.requests, "request"),
        counted(all.conversations, "conversation")
    ));
    page.line(format!(
        "they went out with {} tokens where {} would have been sent (-{} %)",
        grouped(all.savings.tokens_after),
        grouped(all.savings.tokens_before),
        all.savings.tokens() * 100 / all.savings.tokens_before.max(1)
    ));
    page.line(format!(
        "that is ${least:.2} if the provider had all of it in its cache, ${most:.2} if none of it"
    ));
    page.line(match all.own_nanodollars {
        0 => "summaries cost nothing: no model was paid for them".to_owned(),
        _ => format!(
            "summaries cost ${:.4}, so that ${:.2} to ${:.2} are left",
            all.own_usd(),
            least - all.own_usd(),
            most - all.own_usd()
        ),
    });
    if unpriced > 0 {
        page.line(format!(
            "{} tokens are of models without a known price",
            grouped(unpriced)
        ));
    }
    page.gap();
    let mut table = Table::new([
        left("model").shortens(16),
        right("tokens saved"),
        right("requests"),
        right("in dollars"),
    ]);
    for (model, spared) in by_model {
        let saved = spared.savings.tokens();
        let money = dollars(model, saved);
        let money = money.map_or_else(
            || "not known".to_owned(),
            |(least, most)| format!("{least:.2} to {most:.2}"),
        );
        table.row([
            model.clone(),
            grouped(saved),
            grouped(spared.savings.requests),
            money,
        ]);
    }
    page.table(table);
    page.gap();
    page.faint("sizes are estimates, as if each answer had been one request");
    page
}
