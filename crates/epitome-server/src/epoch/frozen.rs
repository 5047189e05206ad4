//! A view frozen over the links of a chain, whatever its design: summaries that stack, stand in a message or speak as
//! the assistant.

use std::ops::Range;

use epitome::{Log, Tail, Trim, View, ViewItem, first_answer, leading_system, notes_within};
use epitome_engine::record::{FrozenItem, FrozenView, Speaker, StoredTrim};
use epitome_wire::Conversation;

/// Freezes a view over the messages of a request. `None` where it shows nothing that later requests could be
/// recognised by.
pub(super) fn freeze(
    view: &View,
    conversation: &Conversation,
    notes_cap_tokens: u64,
) -> Option<FrozenView> {
    let chain = &conversation.chain;
    let links = |range: &Range<usize>| {
        let before = |end: usize| chain.partition_point(|(index, _)| *index < end);
        before(range.start)..before(range.end)
    };
    let link_of = |index: usize| chain.binary_search_by_key(&index, |(at, _)| *at).ok();
    let is_made = |item: &ViewItem| !matches!(item, ViewItem::Entries(_) | ViewItem::Trimmed(..));
    let front = view.items.iter().rposition(is_made)? + 1;
    let mut items = Vec::new();
    for item in view.items.get(..front)? {
        let frozen = match item {
            ViewItem::Entries(range) => {
                let links = links(range);
                if links.is_empty() {
                    continue;
                }
                FrozenItem::Links(links.start, links.end)
            }
            ViewItem::Trimmed(at, trims) => {
                FrozenItem::Trimmed(link_of(*at)?, trims.iter().map(StoredTrim::of).collect())
            }
            ViewItem::Merged(at) => FrozenItem::Merged(link_of(*at)?),
            ViewItem::Summary => FrozenItem::Summary(Speaker::User),
            ViewItem::AssistantSummary => FrozenItem::Summary(Speaker::Assistant),
            ViewItem::Made { role, text, .. } => {
                FrozenItem::Made(Speaker::of(*role), text.to_string())
            }
            ViewItem::Inserted(role, text) => {
                FrozenItem::Made(Speaker::of(*role), (*text).to_owned())
            }
            // A call that nobody answers is the client's own affair.
            ViewItem::Answer { .. } => return None,
        };
        items.push(frozen);
    }
    let mut from_link = chain.len();
    let mut trims = Vec::new();
    for item in view.items.get(front..)? {
        match item {
            ViewItem::Entries(range) => {
                let links = links(range);
                if !links.is_empty() {
                    from_link = from_link.min(links.start);
                }
            }
            ViewItem::Trimmed(at, shown) => {
                let link = link_of(*at)?;
                from_link = from_link.min(link);
                trims.push((link, shown.iter().map(StoredTrim::of).collect()));
            }
            _ => return None,
        }
    }
    (from_link > 0).then_some(FrozenView {
        items,
        from_link,
        trims,
        notes_cap_tokens,
    })
}

/// The last link that it touches.
pub(super) fn last_link(frozen: &FrozenView) -> Option<usize> {
    let trimmed = frozen.trims.iter().map(|(link, _)| *link);
    trimmed.chain(frozen.from_link.checked_sub(1)).max()
}

/// The view over the messages of another request on the same chain. `None` where it cannot be cut there.
pub(super) fn thaw(frozen: &FrozenView, conversation: &Conversation) -> Option<View> {
    let chain = &conversation.chain;
    let log: &Log = &conversation.log;
    let index = |link: usize| chain.get(link).map(|(index, _)| *index);
    let system = leading_system(log);
    let cut = match frozen.from_link.checked_sub(1) {
        Some(last) => index(last)? + 1,
        None => system,
    };
    // Where nothing is left out, nothing is cut.
    if frozen.from_link > 0 && cut < log.len() && !log.is_cut(cut) {
        return None;
    }
    let mut covered = system;
    let mut items = Vec::new();
    push(&mut items, 0..system);
    for item in &frozen.items {
        match item {
            FrozenItem::Links(first, end) => {
                let range = index(*first)?..index(end.checked_sub(1)?)? + 1;
                covered = covered.max(range.end);
                push(&mut items, range);
            }
            FrozenItem::Trimmed(link, trims) => {
                let at = index(*link)?;
                covered = covered.max(at + 1);
                let trims = trims.iter().map(StoredTrim::trim).collect();
                items.push(ViewItem::Trimmed(at, trims));
            }
            FrozenItem::Merged(link) => {
                let at = index(*link)?;
                covered = covered.max(at + 1);
                items.push(ViewItem::Merged(at));
            }
            FrozenItem::Summary(Speaker::User) => items.push(ViewItem::Summary),
            FrozenItem::Summary(Speaker::Assistant) => items.push(ViewItem::AssistantSummary),
            FrozenItem::Made(speaker, text) => items.push(ViewItem::Made {
                role: speaker.role(),
                text: text.as_str().into(),
                record: 0,
            }),
        }
    }
    let trims: Option<Vec<(usize, Vec<Trim>)>> = frozen
        .trims
        .iter()
        .map(|(link, trims)| Some((index(*link)?, trims.iter().map(StoredTrim::trim).collect())))
        .collect();
    let tail = Tail {
        range: cut..log.len(),
        trims: &trims?,
        notes: &notes_within(log, covered..cut, frozen.notes_cap_tokens),
        notes_before: first_answer(log, cut),
        dropped: &[],
    };
    tail.push_to(&mut items);
    Some(View { items })
}

fn push(items: &mut Vec<ViewItem>, range: Range<usize>) {
    if range.is_empty() {
        return;
    }
    if let Some(ViewItem::Entries(last)) = items.last_mut()
        && last.end == range.start
    {
        last.end = range.end;
        return;
    }
    items.push(ViewItem::Entries(range));
}
