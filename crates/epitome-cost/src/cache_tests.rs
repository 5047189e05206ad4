//! One test for each published rule.

use epitome::{CacheRule, Digest, ModelTable};
use proptest::prelude::{any, prop};

use super::{ProviderCache, Refused, Retention};
use crate::property::property;
use crate::{Lifetime, Piece, Request, Spent};

const SECOND_MS: u64 = 1_000;
const MINUTE_MS: u64 = 60 * SECOND_MS;
const HOUR_MS: u64 = 60 * MINUTE_MS;

fn piece(name: &str, tokens: u64) -> Piece {
    Piece::new(Digest::of(name.as_bytes()), tokens)
}

/// So many messages of 1,000 tokens, the last one marked.
fn conversation(messages: usize, lifetime: Lifetime) -> Request {
    let mut request = Request {
        tools: vec![piece("tools", 3_000)],
        system: vec![piece("system", 2_000)],
        messages: (0..messages)
            .map(|at| piece(&format!("message {at}"), 1_000))
            .collect(),
        ..Request::default()
    };
    request.mark_as_agents_do(lifetime);
    request
}

fn anthropic() -> ProviderCache {
    ProviderCache::new(CacheRule::Anthropic, 1_024)
}

fn openai() -> ProviderCache {
    ProviderCache::new(CacheRule::OpenAi, 1_024)
}

fn send(cache: &mut ProviderCache, at_ms: u64, request: &Request) -> Spent {
    let request = Request {
        at_ms,
        ..request.clone()
    };
    let spent = cache.send(&request).unwrap();
    assert_eq!(spent.input_tokens(), request.input_tokens());
    spent
}

/// "Cache prefixes are created in the order tools, system, messages": a change invalidates what follows it.
#[test]
fn anthropic_a_change_breaks_all_behind_it_and_nothing_before() {
    let request = conversation(4, Lifetime::FiveMinutes);
    let changed = |change: fn(&mut Request)| {
        let mut cache = anthropic();
        send(&mut cache, 0, &request);
        let mut other = request.clone();
        change(&mut other);
        send(&mut cache, SECOND_MS, &other).read_tokens
    };
    let other = || piece("another", 1_000).marked(Lifetime::FiveMinutes);
    assert_eq!(changed(|_| {}), 9_000);
    assert_eq!(
        changed(|request| request.tools = vec![piece("another", 9)]),
        0
    );
    // Tools are cached up to their own mark.
    let system = |request: &mut Request| request.system = vec![piece("another", 9)];
    assert_eq!(changed(system), 3_000);
    assert_eq!(changed(|request| request.messages = vec![]), 5_000);
    let mut first = request.clone();
    first.messages.splice(0..1, [other()]);
    first.messages[0].mark = None;
    let mut cache = anthropic();
    send(&mut cache, 0, &request);
    assert_eq!(send(&mut cache, SECOND_MS, &first).read_tokens, 5_000);
}

/// Choice of tools, thinking and images invalidate the messages only.
#[test]
fn anthropic_settings_of_messages_leave_tools_and_system_cached() {
    let mut cache = anthropic();
    let request = conversation(4, Lifetime::FiveMinutes);
    send(&mut cache, 0, &request);
    let thinking = Request {
        message_settings: 1,
        ..request
    };
    let spent = send(&mut cache, SECOND_MS, &thinking);
    assert_eq!((spent.read_tokens, spent.written_5m_tokens), (5_000, 4_000));
}

/// "The cache has a 5-minute lifetime … refreshed for no additional cost each time the cached content is used"; an hour
/// where it is asked for.
#[test]
fn anthropic_lifetimes_are_refreshed_by_hits() {
    for (lifetime, lasts_ms) in [
        (Lifetime::FiveMinutes, 5 * MINUTE_MS),
        (Lifetime::Hour, HOUR_MS),
    ] {
        let request = conversation(4, lifetime);
        let mut cache = anthropic();
        send(&mut cache, 0, &request);
        // Each hit within the lifetime of the one before, far beyond the first one's.
        for hit in 1..=20 {
            let spent = send(&mut cache, hit * lasts_ms, &request);
            assert_eq!(spent.read_tokens, 9_000, "{lifetime:?} {hit}");
            assert_eq!(spent.written_tokens(), 0);
        }
        let late = send(&mut cache, 21 * lasts_ms + 1, &request);
        assert_eq!(late.read_tokens, 0, "{lifetime:?}");
        assert_eq!(late.written_tokens(), 9_000);
    }
}

/// "You can define up to 4 cache breakpoints"; more are refused.
#[test]
fn anthropic_more_than_four_marks_are_refused() {
    let mut request = conversation(6, Lifetime::FiveMinutes);
    request.messages[0].mark = Some(Lifetime::FiveMinutes);
    assert!(anthropic().send(&request).is_ok());
    request.messages[1].mark = Some(Lifetime::FiveMinutes);
    let refused = Refused::TooManyMarks {
        marks: 5,
        allowed: 4,
    };
    let mut cache = anthropic();
    assert_eq!(cache.send(&request), Err(refused));
    request.messages[1].mark = None;
    assert_eq!(
        send(&mut cache, 0, &request).read_tokens,
        0,
        "nothing was cached"
    );
}

/// "Cache entries with longer TTL must appear before shorter TTLs."
#[test]
fn anthropic_an_hour_stands_before_five_minutes() {
    let mut request = conversation(2, Lifetime::FiveMinutes);
    request.messages[1].mark = Some(Lifetime::Hour);
    assert_eq!(anthropic().send(&request), Err(Refused::HourBehindMinutes));
}

/// With both lifetimes in a request: read up to the longest hit, an hour up to the last such mark, five minutes for the
/// rest up to the last mark.
#[test]
fn anthropic_mixed_lifetimes_are_billed_apart() {
    let mut request = conversation(4, Lifetime::FiveMinutes);
    request.tools[0].mark = Some(Lifetime::Hour);
    request.system[0].mark = Some(Lifetime::Hour);
    let mut cache = anthropic();
    let first = send(&mut cache, 0, &request);
    assert_eq!(
        (first.written_1h_tokens, first.written_5m_tokens),
        (5_000, 4_000)
    );
    // The messages are gone, tools and system are not.
    let second = send(&mut cache, 6 * MINUTE_MS, &request);
    assert_eq!(
        (
            second.read_tokens,
            second.written_1h_tokens,
            second.written_5m_tokens
        ),
        (5_000, 0, 4_000)
    );
}

/// From a mark the provider looks back over 20 blocks: what ended farther back is not found.
#[test]
fn anthropic_looks_back_twenty_blocks() {
    let read = |new: usize| {
        let mut cache = anthropic();
        send(&mut cache, 0, &conversation(4, Lifetime::FiveMinutes));
        let longer = conversation(4 + new, Lifetime::FiveMinutes);
        send(&mut cache, SECOND_MS, &longer).read_tokens
    };
    assert_eq!(read(0), 9_000);
    assert_eq!(read(19), 9_000);
    // The mark behind the system prompt still finds itself.
    assert_eq!(read(20), 5_000);
}

/// A second mark, where the last request ended, finds what a single one at the end would not.
#[test]
fn anthropic_every_mark_looks_back_for_itself() {
    let mut cache = anthropic();
    send(&mut cache, 0, &conversation(4, Lifetime::FiveMinutes));
    let mut longer = conversation(44, Lifetime::FiveMinutes);
    longer.messages[10].mark = Some(Lifetime::FiveMinutes);
    assert_eq!(send(&mut cache, SECOND_MS, &longer).read_tokens, 9_000);
}

/// Shorter prompts than the model's minimum cannot be cached, even if marked; they are processed without caching.
#[test]
fn anthropic_short_prefixes_are_fresh() {
    let request = |tokens| {
        let mut request = Request {
            messages: vec![piece(&format!("{tokens}"), tokens)],
            ..Request::default()
        };
        request.mark_as_agents_do(Lifetime::FiveMinutes);
        request
    };
    for (model, minimum) in [
        ("claude-opus-5", 512),
        ("claude-sonnet-5", 1_024),
        ("claude-opus-4-7", 2_048),
        ("claude-haiku-4-5", 4_096),
    ] {
        let mut cache = ProviderCache::of(ModelTable::builtin().find(model).unwrap());
        let short = send(&mut cache, 0, &request(minimum - 1));
        assert_eq!(short.fresh_tokens, minimum - 1, "{model}");
        assert_eq!(send(&mut cache, 0, &request(minimum - 1)).read_tokens, 0);
        let enough = send(&mut cache, 0, &request(minimum));
        assert_eq!(enough.written_5m_tokens, minimum, "{model}");
        assert_eq!(send(&mut cache, 0, &request(minimum)).read_tokens, minimum);
    }
}

/// What stands behind the last mark is fresh input, every time.
#[test]
fn anthropic_without_a_mark_nothing_is_cached() {
    let mut cache = anthropic();
    let mut request = conversation(4, Lifetime::FiveMinutes);
    request.messages[3].mark = None;
    for (at_ms, read) in [(0, 0), (SECOND_MS, 5_000)] {
        let spent = send(&mut cache, at_ms, &request);
        assert_eq!((spent.read_tokens, spent.fresh_tokens), (read, 4_000));
    }
}

/// "Caching is available for prompts containing 1024 tokens or more, with cache hits occurring in increments of 128":
/// the guide's example has 2,006 tokens, and 1,920 of them are cached.
#[test]
fn openai_reads_in_steps_of_128_from_1024_on() {
    for (tokens, read) in [
        (1_023, 0),
        (1_024, 1_024),
        (1_151, 1_024),
        (1_152, 1_152),
        (2_006, 1_920),
    ] {
        let request = Request {
            messages: vec![piece("prompt", tokens)],
            ..Request::default()
        };
        let mut cache = openai();
        assert_eq!(send(&mut cache, 0, &request).fresh_tokens, tokens);
        let again = send(&mut cache, SECOND_MS, &request);
        assert_eq!(again.read_tokens, read, "{tokens}");
        assert_eq!(again.written_tokens(), 0, "writing is free");
    }
}

/// Exact prefixes, no marks and no look-back: whatever an earlier request began with.
#[test]
fn openai_finds_any_prefix_of_any_request() {
    let mut cache = openai();
    let long = conversation(100, Lifetime::FiveMinutes);
    send(&mut cache, 0, &long);
    let mut fork = long.clone();
    fork.messages.truncate(40);
    fork.messages.push(piece("another way", 500));
    let spent = send(&mut cache, SECOND_MS, &fork);
    assert_eq!(spent.read_tokens, 45_000 / 128 * 128);
    assert_eq!(spent.fresh_tokens, 45_500 - spent.read_tokens);
    // The first request is still there.
    let again = send(&mut cache, 2 * SECOND_MS, &long);
    assert_eq!(again.read_tokens, 105_000 / 128 * 128);
}

/// In memory minutes of inactivity, with extended retention up to a day.
#[test]
fn openai_keeps_for_minutes_or_for_a_day() {
    let request = conversation(4, Lifetime::FiveMinutes);
    for (retention, lasts_ms) in [
        (Retention::InMemory, 10 * MINUTE_MS),
        (Retention::Day, 24 * HOUR_MS),
    ] {
        let read = |after_ms| {
            let mut cache = openai().with_retention(retention);
            send(&mut cache, 0, &request);
            send(&mut cache, after_ms, &request).read_tokens
        };
        assert_eq!(read(lasts_ms), 9_000 / 128 * 128);
        assert_eq!(read(lasts_ms + 1), 0);
    }
}

/// GPT-5.6: a mark stands at the end by itself, matches are exact, writing is paid, and there is no look-back.
#[test]
fn openai_marked_writes_the_end_and_reads_it_from_any_distance() {
    let model = ModelTable::builtin().find("gpt-5.6-sol").unwrap();
    let mut cache = ProviderCache::of(model);
    let mut request = conversation(4, Lifetime::FiveMinutes);
    for part in [
        &mut request.tools,
        &mut request.system,
        &mut request.messages,
    ] {
        part.iter_mut().for_each(|piece| piece.mark = None);
    }
    let first = send(&mut cache, 0, &request);
    assert_eq!((first.written_5m_tokens, first.fresh_tokens), (9_000, 0));
    let longer = (4..60).map(|at| piece(&format!("message {at}"), 1_000));
    let mut later = request.clone();
    later.messages.extend(longer);
    let second = send(&mut cache, 30 * MINUTE_MS, &later);
    assert_eq!(
        (second.read_tokens, second.written_5m_tokens),
        (9_000, 56_000)
    );
    // Not a shorter prefix that nobody marked.
    let mut fork = later.clone();
    fork.messages.truncate(20);
    let fork = send(&mut cache, 31 * MINUTE_MS, &fork);
    assert_eq!((fork.read_tokens, fork.written_5m_tokens), (9_000, 16_000));
    let cold = send(&mut cache, 62 * MINUTE_MS, &later);
    assert_eq!(cold.read_tokens, 0, "half an hour after its last use");
}

/// GPT-5.6: besides its own, the latest three marks of a request are written.
#[test]
fn openai_marked_writes_the_latest_three_marks() {
    let marked = |at: usize| {
        let mut request = conversation(10, Lifetime::FiveMinutes);
        request.mark_as_agents_do(Lifetime::FiveMinutes);
        for piece in request.messages.iter_mut().step_by(2) {
            piece.mark = Some(Lifetime::FiveMinutes);
        }
        let mut cache = ProviderCache::new(CacheRule::OpenAiMarked, 1_024);
        send(&mut cache, 0, &request);
        let mut fork = request;
        fork.messages.truncate(at + 1);
        fork.messages.push(piece("another way", 100));
        send(&mut cache, SECOND_MS, &fork).read_tokens
    };
    assert_eq!((marked(8), marked(6), marked(4)), (14_000, 12_000, 10_000));
    assert_eq!(marked(2), 0, "the fourth and older ones are not written");
}

/// DeepSeek, Gemini: by itself, and nobody says for how long.
#[test]
fn automatic_caches_are_warm_until_somebody_says_otherwise() {
    let mut cache = ProviderCache::new(CacheRule::Automatic, 0);
    let request = conversation(1, Lifetime::FiveMinutes);
    send(&mut cache, 0, &request);
    assert_eq!(
        send(&mut cache, 1_000 * HOUR_MS, &request).read_tokens,
        6_000
    );
}

#[test]
fn where_nothing_is_cached_all_is_fresh() {
    for rule in [None, Some(CacheRule::None)] {
        let model = epitome::Model {
            cache: rule,
            ..ModelTable::builtin().find("gpt-5.5").unwrap().clone()
        };
        let mut cache = ProviderCache::of(&model);
        let request = conversation(4, Lifetime::FiveMinutes);
        send(&mut cache, 0, &request);
        assert_eq!(send(&mut cache, 0, &request).fresh_tokens, 9_000);
    }
}

/// Whatever is sent, each token of it is billed once, and nothing is read that was not sent before.
#[test]
fn every_token_is_billed_once() {
    let rules = prop::sample::select(vec![
        CacheRule::Anthropic,
        CacheRule::OpenAi,
        CacheRule::OpenAiMarked,
        CacheRule::Automatic,
        CacheRule::None,
    ]);
    let step = (0_usize..40, 0_u64..5_000, 0_u64..20, any::<bool>());
    let steps = prop::collection::vec(step, 1..40);
    property(&(rules, steps), |(rule, steps)| {
        let mut cache = ProviderCache::new(rule, 1_024);
        let mut request = conversation(1, Lifetime::FiveMinutes);
        let mut longest = 0;
        for (number, (kept, tokens, minutes, is_hour)) in steps.into_iter().enumerate() {
            if kept < 5 {
                request.messages.truncate(kept);
            }
            let new = piece(&format!("step {number}"), tokens);
            request.messages.push(new);
            request.at_ms += minutes * MINUTE_MS;
            request.mark_as_agents_do(match is_hour {
                true => Lifetime::Hour,
                false => Lifetime::FiveMinutes,
            });
            let spent = cache.send(&request).unwrap();
            assert_eq!(spent.input_tokens(), request.input_tokens());
            assert!(spent.read_tokens <= longest);
            longest = longest.max(request.input_tokens());
        }
    });
}

/// Whoever takes longer from request to request reads no more.
#[test]
fn more_time_reads_no_more() {
    let gaps = prop::collection::vec(0_u64..30, 1..30);
    property(&(gaps, 1_u64..30), |(gaps, longer)| {
        let total = |extra: u64| {
            let mut cache = anthropic();
            let mut at_ms = 0;
            let mut read = 0;
            for (number, gap) in gaps.iter().enumerate() {
                at_ms += (gap + extra) * 20 * SECOND_MS;
                let request = conversation(number + 1, Lifetime::FiveMinutes);
                read += send(&mut cache, at_ms, &request).read_tokens;
            }
            read
        };
        assert!(total(longer) <= total(0));
    });
}
