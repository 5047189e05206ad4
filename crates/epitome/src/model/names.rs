//! One model, many spellings: what providers, gateways and local servers write around its name.
//!
//! A name is only ever made shorter by what is known to be no part of it. It is never matched by its beginning.

/// The mark with which Claude Code asks for the long context.
const LONG_CONTEXT: &str = "[1m]";
/// Where Bedrock runs a model.
const REGIONS: &[&str] = &[
    "us.", "eu.", "apac.", "global.", "jp.", "au.", "ca.", "us-gov.",
];
/// Whose a model is, as Bedrock writes it.
const MAKERS: &[&str] = &[
    "anthropic.",
    "meta.",
    "mistral.",
    "deepseek.",
    "openai.",
    "qwen.",
    "google.",
    "minimax.",
    "moonshot.",
    "moonshotai.",
    "zai.",
];
/// Words in front of a name, apart by a dash.
const FRONTS: &[&str] = &["databricks-", "meta-llama"];
/// What OpenRouter and Ollama write behind a colon without meaning another model.
const VARIANTS: &[&str] = &[
    "free", "beta", "nitro", "floor", "online", "thinking", "extended", "exacto", "latest", "cloud",
];
/// What Vertex does with a model.
const METHODS: &[&str] = &[
    "generatecontent",
    "streamgeneratecontent",
    "rawpredict",
    "streamrawpredict",
    "counttokens",
    "predict",
];
/// Words behind a name that tell a form of its weights or a place, not another model.
const ENDINGS: &[&str] = &[
    "latest", "instruct", "maas", "cloud", "fp8", "fp16", "bf16", "int4", "int8", "awq", "gptq",
    "gguf", "mlx", "4bit", "8bit",
];
/// Families whose models have tags such as `-preview` before they have none, with the same window.
const PREVIEWED: &[&str] = &["gemini-"];
/// The same, as the tags begin.
const PREVIEWS: &[&str] = &["-preview", "-exp"];

/// Whether a name asks for the long context.
pub(super) fn asks_for_long_context(name: &str) -> bool {
    lower(name).ends_with(LONG_CONTEXT)
}

/// The key under which a name is kept: the spellings that differ only in letters' case, in `4.5` for `4-5`, or in the order
/// of family and number have the same.
pub(super) fn key(name: &str) -> String {
    let name = dashed_numbers(&lower(name));
    if let Some(rest) = name.strip_prefix("claude-") {
        return claude(rest);
    }
    match name.strip_prefix("llama") {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit()) => format!("llama-{rest}"),
        _ => name,
    }
}

/// What a name may be kept under, the most exact first.
pub(super) fn keys(name: &str) -> Vec<String> {
    let name = lower(name);
    let name = name.strip_suffix(LONG_CONTEXT).unwrap_or(&name);
    let mut out = vec![key(name)];
    let mut found = |name: &str| {
        let key = key(name);
        if !out.contains(&key) {
            out.push(key);
        }
    };
    let mut name = name.rsplit('/').next().unwrap_or(name).to_owned();
    found(&name);
    // Once each; then as often as there is something to leave out.
    for step in [without_version_mark, without_tag] {
        if let Some(shorter) = step(&name) {
            found(&shorter);
            name = shorter;
        }
    }
    while let Some(shorter) = without_maker(&name).or_else(|| without_ending(&name)) {
        found(&shorter);
        name = shorter;
    }
    out
}

fn lower(name: &str) -> String {
    name.trim().to_ascii_lowercase()
}

/// `claude-sonnet-4-5@20250929` → `claude-sonnet-4-5`.
fn without_version_mark(name: &str) -> Option<String> {
    let (name, version) = name.split_once('@')?;
    let is_version = is_number(version) || matches!(version, "default" | "latest");
    is_version.then(|| name.to_owned())
}

/// `…:free` and `…-v1:0` without it; `qwen3:32b` → `qwen3-32b`.
fn without_tag(name: &str) -> Option<String> {
    let (name, tag) = name.split_once(':')?;
    if tag.contains(':') {
        return None;
    }
    let is_apart = is_number(tag) || VARIANTS.contains(&tag) || METHODS.contains(&tag);
    Some(match is_apart {
        true => name.to_owned(),
        false => format!("{name}-{tag}"),
    })
}

/// `us.anthropic.claude-sonnet-4-5-v1` → `claude-sonnet-4-5`; `meta-llama-3-8b` → `llama-3-8b`.
fn without_maker(name: &str) -> Option<String> {
    for front in FRONTS {
        let kept = front.trim_end_matches("llama").len();
        if name.starts_with(front) {
            return name.get(kept..).map(str::to_owned);
        }
    }
    let strip = |name: &str, fronts: &[&str]| {
        let mut rests = fronts.iter().filter_map(|front| name.strip_prefix(front));
        rests.next().map(str::to_owned)
    };
    let placed = strip(name, REGIONS);
    let name = strip(placed.as_deref().unwrap_or(name), MAKERS)?;
    // The version of the service's form of it: `-v1`, and `-1` where the maker has none.
    let (front, version) = name.rsplit_once('-').unwrap_or((&name, ""));
    let is_version = is_number(version.strip_prefix('v').unwrap_or_default())
        || (version == "1" && front.starts_with("gpt-oss"));
    Some(if is_version { front.to_owned() } else { name })
}

/// A name without its date, or without a word that tells no other model.
fn without_ending(name: &str) -> Option<String> {
    if let Some(name) = without_date(name) {
        return Some(name.to_owned());
    }
    if PREVIEWED.iter().any(|family| name.starts_with(family))
        && let Some(at) = PREVIEWS.iter().find_map(|tag| preview(name, tag))
    {
        return name.get(..at).map(str::to_owned);
    }
    let (front, ending) = name.rsplit_once('-')?;
    let is_known = ENDINGS.contains(&ending) || is_quantisation(ending);
    is_known.then(|| front.to_owned())
}

/// `claude-haiku-4-5-20251001` → `claude-haiku-4-5`, `gpt-4o-2024-08-06` → `gpt-4o`. Four digits alone are no date: they
/// tell models of different windows apart (`gpt-4-1106-preview`).
fn without_date(name: &str) -> Option<&str> {
    let end = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-');
    let date = name.get(end.len()..)?;
    let at = end.len() + date.find("-20")?;
    let digits = name.get(at..)?.bytes().filter(u8::is_ascii_digit).count();
    (digits == "20250101".len()).then(|| name.get(..at))?
}

/// Where a tag of this kind begins, if nothing but a date follows it.
fn preview(name: &str, tag: &str) -> Option<usize> {
    let at = name.find(tag)?;
    let rest = name.get(at + tag.len()..)?;
    let is_date = rest
        .bytes()
        .all(|byte| byte == b'-' || byte.is_ascii_digit());
    is_date.then_some(at)
}

/// `q4_k_m`, `q8_0`, `iq4_xs`.
fn is_quantisation(word: &str) -> bool {
    let bits = word.strip_prefix('i').unwrap_or(word).strip_prefix('q');
    bits.is_some_and(|bits| bits.starts_with(|c: char| c.is_ascii_digit()))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `4.5` → `4-5`.
fn dashed_numbers(name: &str) -> String {
    let is_digit = |at: Option<usize>| {
        let byte = at.and_then(|at| name.as_bytes().get(at));
        byte.is_some_and(u8::is_ascii_digit)
    };
    let dashed = name.char_indices().map(|(at, character)| {
        let is_point = character == '.' && is_digit(at.checked_sub(1)) && is_digit(Some(at + 1));
        if is_point { '-' } else { character }
    });
    dashed.collect()
}

/// `3-5-sonnet` and `sonnet-3-5` → `claude-sonnet-3-5`, `opus-4-0` → `claude-opus-4`.
fn claude(rest: &str) -> String {
    // Vertex writes the second form of a model into its name.
    let words = rest.split('-').filter(|word| *word != "v2");
    let words = words.collect::<Vec<_>>();
    let is_short = |word: &&&str| is_number(word) && word.len() <= 2;
    let numbers_first = words.iter().take_while(is_short).count();
    let (front, back) = words.split_at(numbers_first);
    let mut ordered: Vec<&str> = match back.split_first() {
        Some((family, others)) if !front.is_empty() => {
            let family = std::iter::once(*family);
            family
                .chain(front.iter().copied())
                .chain(others.iter().copied())
                .collect()
        }
        _ => words,
    };
    let is_numbered = ordered.len() > 2 && ordered.iter().rev().take(2).all(|word| is_number(word));
    if is_numbered && ordered.last() == Some(&"0") {
        ordered.pop();
    }
    format!("claude-{}", ordered.join("-"))
}
