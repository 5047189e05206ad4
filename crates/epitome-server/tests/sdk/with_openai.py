"""The agent's model through the official `openai` package."""

import json

import openai

import fake_tools

TOOLS = [
    {
        "type": "function",
        "function": {"name": name, "description": text, "parameters": fake_tools.schema(fields), "strict": True},
    }
    for name, text, fields in fake_tools.TOOLS
]


class Client:
    version = f"openai {openai.__version__}"

    def __init__(self, settings: dict):
        self.client = openai.OpenAI(
            base_url=settings["base_url"] + "/v1", api_key="test-key", max_retries=0, timeout=60
        )
        self.model = settings["model"]
        self.ask = self.ask_streamed if settings["streams"] else self.ask_whole
        self.options = {"stream_options": {"include_usage": True}} if settings["asks_usage"] else {}
        self.messages = [{"role": "system", "content": settings["system"]}]
        self.last_request = b""

    def say(self, text: str) -> None:
        self.messages.append({"role": "user", "content": text})

    def answer_calls(self, results: list) -> None:
        for call_id, text in results:
            self.messages.append({"role": "tool", "tool_call_id": call_id, "content": text})

    def ask_whole(self):
        response = self.client.chat.completions.with_raw_response.create(
            model=self.model, messages=self.messages, tools=TOOLS
        )
        self.last_request = response.http_request.content
        message = response.parse().choices[0].message
        # The documented way to go on: the message object itself.
        self.messages.append(message)
        dumped = message.to_dict()
        return dumped, calls_of(dumped), response.headers

    def ask_streamed(self):
        stream = self.client.chat.completions.create(
            model=self.model, messages=self.messages, tools=TOOLS, stream=True, **self.options
        )
        self.last_request = stream.response.request.content
        text, calls = "", {}
        with stream:
            for chunk in stream:
                for choice in chunk.choices:
                    text += choice.delta.content or ""
                    for part in choice.delta.tool_calls or []:
                        call = calls.setdefault(part.index, part.model_dump(exclude={"index"}, exclude_none=True))
                        if call["id"] != part.id and part.id is not None:
                            raise ValueError(f"call {part.index} changes its id to {part.id}")
                        if part.id is None:
                            call["function"]["arguments"] += part.function.arguments
        message = {"role": "assistant", "content": text or None}
        if calls:
            message["tool_calls"] = [calls[index] for index in sorted(calls)]
        self.messages.append(message)
        return message, calls_of(message), stream.response.headers


def calls_of(message: dict) -> list:
    return [
        (call["id"], call["function"]["name"], json.loads(call["function"]["arguments"]))
        for call in message.get("tool_calls") or []
    ]
