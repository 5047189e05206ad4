//! The overflow catalogue: what each provider says, and what only sounds like it.

use epitome_wire::{Cure, Overflow};
use serde_json::{Value, json};

type Numbers = (Option<u64>, Option<u64>);

/// Window and request as they were read.
fn read(status: u16, body: &str) -> Option<Numbers> {
    Overflow::read(status, body.as_bytes(), b"{}")
        .map(|found| (found.window_tokens, found.request_tokens))
}

fn message(text: &str) -> String {
    json!({"error": {"message": text, "type": "invalid_request_error"}}).to_string()
}

#[test]
fn every_provider_is_understood() {
    let openai = |message: &str, param: &str| {
        json!({"error": {
            "message": message, "type": "invalid_request_error", "param": param,
            "code": "context_length_exceeded",
        }})
        .to_string()
    };
    let anthropic = |text: &str| {
        json!({"type": "error", "error": {"type": "invalid_request_error", "message": text}})
            .to_string()
    };
    let vllm = |text: &str| {
        json!({"object": "error", "message": text, "type": "BadRequestError", "code": 400})
            .to_string()
    };
    let cases: Vec<(&str, u16, String, Numbers)> = vec![
        ("anthropic", 400, anthropic("prompt is too long: 213462 tokens > 200000 maximum"), (Some(200_000), Some(213_462))),
        ("anthropic with output", 400, anthropic("input length and `max_tokens` exceed context limit: 189136 + 20000 > 204648, decrease input length or `max_tokens` and try again"), (Some(204_648), Some(189_136))),
        ("openai", 400, openai("This model's maximum context length is 128000 tokens. However, your messages resulted in 204308 tokens. Please reduce the length of the messages.", "messages"), (Some(128_000), Some(204_308))),
        ("openai with output", 400, openai("This model's maximum context length is 4097 tokens. However, you requested 5360 tokens (1360 in the messages, 4000 in the completion). Please reduce the length of the messages or completion.", "messages"), (Some(4_097), Some(1_360))),
        ("openai configured", 400, openai("Input tokens exceed the configured limit of 922000 tokens. Your messages resulted in 1751400 tokens.", "messages"), (Some(922_000), Some(1_751_400))),
        ("openai responses", 400, openai("Your input exceeds the context window of this model. Please adjust your input and try again.", "input"), (None, None)),
        ("code alone", 400, json!({"error": {"code": "context_length_exceeded"}}).to_string(), (None, None)),
        ("azure", 400, openai("This model's maximum context length is 8192 tokens, however you requested 9000 tokens", "messages"), (Some(8_192), None)),
        ("gemini", 400, json!({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "The input token count (2800010) exceeds the maximum number of tokens allowed (1048575)."}}).to_string(), (Some(1_048_575), Some(2_800_010))),
        ("gemini bare", 400, message("The input token count 2800010 exceeds the maximum number of tokens allowed 1048575."), (Some(1_048_575), Some(2_800_010))),
        ("bedrock", 400, json!({"message": "Input is too long for requested model."}).to_string(), (None, None)),
        ("bedrock bytes", 400, json!({"message": "too many total text bytes: 12 > 10"}).to_string(), (None, None)),
        ("bedrock anthropic", 400, json!({"message": "prompt is too long"}).to_string(), (None, None)),
        ("bedrock tokens", 400, json!({"message": "Too many input tokens"}).to_string(), (None, None)),
        // A2: only the prompt itself; the same words about a tool's name are a parameter.
        ("bedrock length", 400, json!({"message": "Malformed input request: #/inputText: expected maxLength: 20480, actual: 30000"}).to_string(), (None, None)),
        ("gemini bytes", 400, message("Request payload size exceeds the limit: 20971520 bytes."), (None, None)),
        ("anthropic bytes", 413, json!({"type": "error", "error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}).to_string(), (None, None)),
        ("xai", 400, message("This model's maximum prompt length is 131072 but the request contains 537812 tokens."), (Some(131_072), Some(537_812))),
        ("groq", 400, message("Please reduce the length of the messages or completion."), (None, None)),
        ("openrouter", 400, message("This endpoint's maximum context length is 32768 tokens. However, you requested about 42832 tokens (40784 of text input, 2048 in the output)."), (Some(32_768), Some(40_784))),
        ("mistral", 400, json!({"object": "error", "message": "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length"}).to_string(), (Some(32_768), Some(40_000))),
        ("deepseek", 400, json!({"error": {"code": "invalid_request_error", "message": "This model's maximum context length is 131072 tokens. However, you requested 140000 tokens (…)"}}).to_string(), (Some(131_072), None)),
        ("cerebras", 400, json!({"message": "Please reduce the length of the messages or completion. Current length is 9109 while limit is 8192", "code": "context_length_exceeded"}).to_string(), (Some(8_192), Some(9_109))),
        ("kimi", 400, message("Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)"), (Some(131_072), Some(140_000))),
        ("minimax", 400, message("invalid params, context window exceeds limit"), (None, None)),
        ("copilot", 400, message("prompt token count of 130000 exceeds the limit of 128000"), (Some(128_000), Some(130_000))),
        ("llama.cpp", 400, json!({"error": {"code": 400, "message": "the request exceeds the available context size, try increasing it", "type": "exceed_context_size_error", "n_prompt_tokens": 5000, "n_ctx": 4096}}).to_string(), (Some(4_096), Some(5_000))),
        ("older llama.cpp", 500, json!({"error": {"code": 500, "message": "the request exceeds the available context size. try increasing the context size"}}).to_string(), (None, None)),
        ("llama-cpp-python", 500, message("Requested tokens (2285) exceed context window of 2048"), (Some(2_048), Some(2_285))),
        ("vllm", 400, vllm("This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion)."), (Some(4_096), Some(4_000))),
        ("vllm negative output", 400, vllm("max_tokens must be at least 1, got -186."), (None, None)),
        ("vllm only", 400, vllm("You passed 5000 input tokens and requested 100 output tokens. However, the model's context length is only 4096 tokens"), (Some(4_096), Some(5_000))),
        ("sglang", 400, vllm("The input (5000 tokens) is longer than the model's context length (4096 tokens)."), (Some(4_096), Some(5_000))),
        ("together", 400, message("`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 200 `max_new_tokens`"), (Some(8_193), Some(9_000))),
        ("cohere", 400, json!({"message": "too many tokens: the total number of tokens in the prompt exceeds the limit"}).to_string(), (None, None)),
        ("litellm", 400, message("litellm.ContextWindowExceededError: litellm.BadRequestError: OpenAIException"), (None, None)),
        ("grouped numbers", 400, message("prompt is too long: 213,462 tokens > 200,000 maximum"), (Some(200_000), Some(213_462))),
        ("broken lines", 400, message("prompt is too long:\n213462 tokens > 200000 maximum"), (Some(200_000), Some(213_462))),
        ("any case", 400, message("Prompt is too long"), (None, None)),
        ("gemini in a list", 400, json!([{"error": {"code": 400, "message": "The input token count (314175) exceeds the maximum number of tokens allowed (131072).", "status": "INVALID_ARGUMENT"}}]).to_string(), (Some(131_072), Some(314_175))),
        ("an event", 400, "event: error\ndata: {\"error\":{\"message\":\"prompt is too long: 5 tokens > 4 maximum\"}}\n\n".to_owned(), (Some(4), Some(5))),
        ("a page", 413, "<html><body><p>prompt is too long: 5 tokens > 4 maximum</p></body></html>".to_owned(), (Some(4), Some(5))),
        ("sglang with output", 400, vllm("Requested token count exceeds the model's maximum context length of 202752 tokens. You requested a total of 202941 tokens: 170941 tokens from the input messages and 32000 tokens for the completion. Please reduce the number of tokens in the input messages or the completion to fit within the limit."), (Some(202_752), Some(170_941))),
        ("sglang length", 400, vllm("Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens)."), (Some(59_862), Some(160_062))),
        ("vllm decoder", 400, vllm("The decoder prompt (length 21535) is longer than the maximum model length of 16384. Make sure that `max_model_len` is no smaller than the number of text tokens."), (Some(16_384), Some(21_535))),
        ("vllm prompt", 400, vllm("Prompt length of 5016 is longer than the maximum model length of 4096."), (Some(4_096), Some(5_016))),
        ("vllm total", 400, vllm("The prompt (total length 25938) is too long to fit into the model (context length 4096)."), (Some(4_096), Some(25_938))),
        ("vllm max_tokens", 400, vllm("'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 8192 tokens and your request has 5000 input tokens (4096 > 8192 - 5000)."), (Some(8_192), Some(5_000))),
        ("vllm bound", 400, vllm("This model's maximum context length is 128000 tokens. However, you requested 65535 output tokens and your prompt contains at least 62466 input tokens, for a total of at least 128001 tokens."), (Some(128_000), None)),
        ("vllm 0.15", 400, vllm("This model's maximum context length is 3 tokens. However, your request has 8 input tokens. Please reduce the length of the input messages. (parameter=input_tokens, value=8)"), (None, Some(8))),
        ("lm studio", 400, json!({"error": "Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context length of only 32768 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input."}).to_string(), (Some(32_768), Some(111_490))),
        ("lm studio keep", 400, json!({"error": "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 10247 >= n_ctx: 4096). Try to load the model with a larger context length."}).to_string(), (Some(4_096), Some(10_247))),
        ("lm studio full", 500, json!({"error": "Reached context length of 4096 tokens with model (arch: qwen3vlmoe) that does not currently support mid-generation context overflow."}).to_string(), (Some(4_096), None)),
        ("github models", 413, json!({"error": {"code": "tokens_limit_reached", "message": "Request body too large for gpt-4o model. Max size: 8000 tokens.", "details": "Request body too large for gpt-4o model. Max size: 8000 tokens."}}).to_string(), (Some(8_000), None)),
        ("github models code", 413, json!({"error": {"code": "tokens_limit_reached"}}).to_string(), (None, None)),
        ("dashscope", 400, message("<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 204800]"), (Some(204_800), None)),
        ("vertex", 400, message("Unable to submit request because the input token count is 135538 but model only supports up to 131072. Reduce the input token count and try again."), (Some(131_072), Some(135_538))),
        ("ollama", 400, json!({"StatusCode": 400, "Status": "400 Bad Request", "error": "prompt too long; exceeded max context length by 4021 tokens"}).to_string(), (None, None)),
        ("tgi", 422, json!({"error": "Input validation error: `inputs` must have less than 1024 tokens. Given: 1168", "error_type": "validation"}).to_string(), (Some(1_024), Some(1_168))),
        ("zhipu", 400, json!({"error": {"code": "1261", "message": "Prompt exceeds max length"}}).to_string(), (None, None)),
        ("ark", 400, message("Input length 203743 exceeds the maximum length 202752"), (Some(202_752), Some(203_743))),
        ("tensorrt-llm", 400, vllm("The sum of prompt length (9351.0), query length (0) should not exceed max_num_tokens (8192)"), (Some(8_192), Some(9_351))),
        ("tensorrt-llm backend", 400, vllm("Encountered an error when fetching new request: Prompt length (5056) exceeds maximum input length (2048)"), (Some(2_048), Some(5_056))),
        ("llama.cpp sizes", 400, message("request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it"), (Some(4_096), Some(5_000))),
        ("kimi bytes", 400, message("total message size 2306631 exceeds limit 2097152"), (None, None)),
        ("not json", 413, "prompt is too long: 5 tokens > 4 maximum".to_owned(), (Some(4), Some(5))),
    ];
    for (name, status, body, expected) in cases {
        assert_eq!(read(status, &body), Some(expected), "{name}: {body}");
    }
}

#[test]
fn an_error_inside_an_error_is_found() {
    let mut nested: Value =
        json!({"error": {"message": "prompt is too long: 5 tokens > 4 maximum"}});
    for _ in 0..8 {
        nested = json!({"error": {"message": "Provider returned error", "metadata": {"raw": nested.to_string()}}});
        assert_eq!(
            read(400, &nested.to_string()),
            Some((Some(4), Some(5))),
            "{nested}"
        );
    }
}

#[test]
fn what_only_sounds_like_it_is_not() {
    let tpm = "Request too large for model `llama-3.3-70b` in organization `o` service tier `on_demand` on tokens per minute (TPM): Limit 12000, Requested 14137, please reduce your message size and try again.";
    let cases = [
        ("groq tpm", 413, json!({"error": {"message": tpm, "type": "tokens", "code": "rate_limit_exceeded"}}).to_string()),
        ("rate limit", 429, message("prompt is too long: 5 tokens > 4 maximum")),
        ("rate limit on 400", 400, message("Rate limit reached: please reduce the length of the messages")),
        ("anthropic tier", 400, json!({"type": "error", "error": {"type": "rate_limit_error", "message": "This request would exceed your rate limit; the prompt is too long"}}).to_string()),
        ("throttling", 400, json!({"message": "ThrottlingException: Too many input tokens, please wait"}).to_string()),
        ("requests", 400, message("Too many requests: Too many input tokens")),
        ("parameter", 400, json!({"error": {"message": "Invalid 'user': string too long. Expected a string with maximum length 64, but got a string with length 80 instead.", "code": "string_above_max_length", "param": "user"}}).to_string()),
        ("other 400", 400, message("max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens")),
        ("pairing", 400, message("messages.2: `tool_use` ids were found without `tool_result` blocks immediately after")),
        ("success", 200, message("prompt is too long: 5 tokens > 4 maximum")),
        ("overloaded", 529, json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}).to_string()),
        ("nothing", 413, String::new()),
        ("nothing either", 400, "{}".to_owned()),
        ("html", 413, "<html><h1>413 Request Entity Too Large</h1></html>".to_owned()),
    ];
    for (name, status, body) in cases {
        assert_eq!(read(status, &body), None, "{name}: {body}");
    }
}

#[test]
fn each_veto_is_enough() {
    let overflow = "prompt is too long: 5 tokens > 4 maximum";
    assert!(read(400, &message(overflow)).is_some());
    for veto in [
        "Rate limit reached",
        "rate_limit_error",
        "tokens per minute",
        "on tokens (TPM)",
        "Too Many Requests",
        "ThrottlingException",
        "string_above_max_length",
        "string too long",
    ] {
        let text = message(&format!("{veto}: {overflow}"));
        assert_eq!(read(400, &text), None, "{text}");
    }
}

#[test]
fn it_is_found_inside_an_answer_that_began_well() {
    let numbers = |data: &Value| {
        Overflow::in_success(data.to_string().as_bytes())
            .map(|found| (found.window_tokens, found.request_tokens))
    };
    let none = (None, None);
    let cases = [
        (
            "responses stream",
            json!({"type": "response.failed", "response": {"status": "failed", "error": {"code": "context_length_exceeded", "message": "Your input exceeds\nthe context window of this model."}}}),
            Some(none),
        ),
        (
            "responses error event",
            json!({"type": "error", "error": {"code": "context_length_exceeded"}}),
            Some(none),
        ),
        (
            "anthropic stream",
            json!({"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 213462 tokens > 200000 maximum"}}),
            Some((Some(200_000), Some(213_462))),
        ),
        // A2: an answer that ended at the window is an answer; it says nothing about the request.
        (
            "anthropic stop",
            json!({"type": "message_delta", "delta": {"stop_reason": "model_context_window_exceeded"}}),
            None,
        ),
        (
            "anthropic body",
            json!({"type": "message", "stop_reason": "model_context_window_exceeded", "content": []}),
            None,
        ),
        (
            "z.ai",
            json!({"choices": [{"finish_reason": "model_context_window_exceeded"}]}),
            None,
        ),
        (
            "z.ai as an error",
            json!({"error": {"code": "model_context_window_exceeded", "message": "The context window is full"}}),
            Some(none),
        ),
        (
            "llama.cpp under 200",
            json!({"error": {"code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 5000, "n_ctx": 4096}}),
            Some((Some(4_096), Some(5_000))),
        ),
        (
            "lm studio",
            json!({"error": "The number of tokens to keep from the initial prompt is greater than the context length."}),
            Some(none),
        ),
        (
            "openrouter stream",
            json!({"choices": [], "error": {"code": 400, "message": "Provider returned error", "metadata": {"raw": message("prompt is too long: 5 tokens > 4 maximum")}}}),
            Some((Some(4), Some(5))),
        ),
        (
            "rate limit in a stream",
            json!({"type": "error", "error": {"type": "rate_limit_error", "message": "too many tokens"}}),
            None,
        ),
        (
            "overloaded",
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
            None,
        ),
        (
            "no error",
            json!({"type": "response.completed", "response": {"error": null, "output": [{"text": "prompt is too long"}]}}),
            None,
        ),
        (
            "the model says so",
            json!({"choices": [{"message": {"content": "error: context_length_exceeded, model_context_window_exceeded"}, "finish_reason": "stop"}]}),
            None,
        ),
    ];
    for (name, data, expected) in cases {
        assert_eq!(numbers(&data), expected, "{name}: {data}");
    }
    assert_eq!(Overflow::in_success(b"[DONE]"), None);
}

#[test]
fn what_helps_is_said() {
    let read = |text: &str| Overflow::read(400, message(text).as_bytes(), b"{}").unwrap();
    for (text, cure, counts_output) in [
        (
            "prompt is too long: 5 tokens > 4 maximum",
            Cure::Shorter,
            false,
        ),
        (
            "input length and `max_tokens` exceed context limit: 189136 + 20000 > 204648",
            Cure::LessOutput,
            true,
        ),
        (
            "max_tokens must be at least 1, got -186.",
            Cure::LessOutput,
            true,
        ),
        (
            "This endpoint's maximum context length is 32768 tokens. However, you requested about 34000 tokens (31000 of text input, 3000 in the output).",
            Cure::LessOutput,
            true,
        ),
        (
            "This model's maximum context length is 4097 tokens, however you requested 5360 tokens (1360 in your prompt; 4000 for the completion).",
            Cure::LessOutput,
            true,
        ),
        (
            "Requested token count exceeds the model's maximum context length of 100 tokens. You requested a total of 110 tokens: 90 tokens from the input messages and 20 tokens for the completion.",
            Cure::LessOutput,
            true,
        ),
        // No answer is short enough.
        (
            "This model's maximum context length is 4096 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion).",
            Cure::Shorter,
            true,
        ),
        ("Context size has been exceeded.", Cure::Shorter, true),
        (
            "Request payload size exceeds the limit: 20971520 bytes.",
            Cure::FewerBytes,
            false,
        ),
    ] {
        let found = read(text);
        assert_eq!(
            (found.cure, found.counts_output),
            (cure, counts_output),
            "{text}"
        );
    }
    let too_large = json!({"error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}});
    let too_large = Overflow::read(413, too_large.to_string().as_bytes(), b"{}").unwrap();
    assert_eq!(too_large.cure, Cure::FewerBytes);
}

#[test]
fn silence_counts_only_where_the_window_is_nearly_full() {
    assert!(Overflow::wordless(413, b"", 91_000, 100_000).is_some());
    assert!(Overflow::wordless(400, b" \r\n", 120_000, 100_000).is_some());
    assert!(Overflow::wordless(413, b"", 50_000, 100_000).is_none());
    assert!(Overflow::wordless(413, b"no", 91_000, 100_000).is_none());
    assert!(Overflow::wordless(500, b"", 91_000, 100_000).is_none());
    // B5: gateways say no more than this.
    let page =
        b"<html><head><title>413 Request Entity Too Large</title></head><body>nginx</body></html>";
    assert!(Overflow::wordless(413, page, 91_000, 100_000).is_some());
    assert!(Overflow::wordless(413, b"Payload Too Large", 91_000, 100_000).is_some());
    assert!(
        Overflow::wordless(413, br#"{"message":"Request Too Long"}"#, 91_000, 100_000).is_some()
    );
    assert!(Overflow::wordless(400, page, 91_000, 100_000).is_none());
    assert!(Overflow::wordless(413, page, 20_000, 100_000).is_none());
    assert!(Overflow::wordless(400, b"{}", 91_000, 100_000).is_some());
}
