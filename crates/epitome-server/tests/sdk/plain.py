"""Both SDKs as they come: the addresses are in the environment, every option is left alone.

The last line on standard output is a JSON object with what came back.
"""

import faulthandler
import json

import anthropic
import openai


def main() -> None:
    faulthandler.dump_traceback_later(60, exit=True)
    greeting = [{"role": "user", "content": "Good morning. How many parcels are in depot 7?"}]
    first, second = openai.OpenAI(), anthropic.Anthropic()
    chat = first.chat.completions.with_raw_response.create(model="scripted", messages=greeting)
    message = second.messages.with_raw_response.create(model="scripted", max_tokens=200, messages=greeting)
    listing = first.models.with_raw_response.list()
    counted = second.messages.count_tokens(model="scripted", messages=greeting)
    findings = {
        "openai_models": [model.id for model in listing.parse()],
        "anthropic_models": [model.id for model in second.models.list()],
        "models_action": listing.headers["x-epitome-action"],
        "counted_tokens": counted.input_tokens,
        "chat_text": chat.parse().choices[0].message.content,
        "chat_tokens": chat.parse().usage.prompt_tokens,
        "chat_action": chat.headers["x-epitome-action"],
        "message_text": message.parse().content[0].text,
        "message_tokens": message.parse().usage.input_tokens,
        "message_action": message.headers["x-epitome-action"],
        "not_found": error_of(lambda: first.files.list(), openai.NotFoundError),
    }
    print(json.dumps(findings))


def error_of(call, expected) -> int:
    """The status of the error that a call must raise: the provider's own, through the proxy."""
    try:
        call()
    except expected as error:
        return error.status_code
    raise AssertionError(f"no {expected.__name__}")


if __name__ == "__main__":
    main()
