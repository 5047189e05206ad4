"""The agent's model through the official `anthropic` package."""

import anthropic

import fake_tools

TOOLS = [
    {"name": name, "description": text, "input_schema": fake_tools.schema(fields)}
    for name, text, fields in fake_tools.TOOLS
]
MAX_TOKENS = 1024


class Client:
    version = f"anthropic {anthropic.__version__}"

    def __init__(self, settings: dict):
        self.client = anthropic.Anthropic(
            base_url=settings["base_url"], api_key="test-key", max_retries=0, timeout=60
        )
        self.ask = self.ask_streamed if settings["streams"] else self.ask_whole
        self.options = {
            "model": settings["model"],
            "max_tokens": MAX_TOKENS,
            "system": settings["system"],
            "tools": TOOLS,
        }
        if settings["thinks"]:
            self.options["thinking"] = {"type": "adaptive"}
        self.messages = []
        self.last_request = b""

    def say(self, text: str) -> None:
        self.messages.append({"role": "user", "content": text})

    def answer_calls(self, results: list) -> None:
        blocks = [{"type": "tool_result", "tool_use_id": call_id, "content": text} for call_id, text in results]
        self.messages.append({"role": "user", "content": blocks})

    def ask_whole(self):
        response = self.client.messages.with_raw_response.create(messages=self.messages, **self.options)
        self.last_request = response.http_request.content
        message = response.parse()
        dumped = [block.model_dump(exclude_none=True) for block in message.content]
        self.messages.append({"role": message.role, "content": dumped})
        return as_sent(message), calls_of(message), response.headers

    def ask_streamed(self):
        with self.client.messages.stream(messages=self.messages, **self.options) as stream:
            heard = "".join(stream.text_stream)
            message = stream.get_final_message()
            headers = stream.response.headers
            self.last_request = stream.response.request.content
        if heard != "".join(block.text for block in message.content if block.type == "text"):
            raise ValueError("the pieces of the text do not make up the message")
        # The documented way to go on: the content blocks themselves.
        self.messages.append({"role": message.role, "content": message.content})
        return as_sent(message), calls_of(message), headers


def as_sent(message) -> dict:
    """The message as the model sent it: without what the SDK adds for its users."""
    blocks = [block.model_dump(exclude_unset=True, exclude={"parsed_output"}) for block in message.content]
    return {"role": message.role, "content": blocks}


def calls_of(message) -> list:
    return [(block.id, block.name, block.input) for block in message.content if block.type == "tool_use"]
