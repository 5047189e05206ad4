"""The official Python SDKs, as agents are written on them: streamed in odd turns, whole in even ones."""

import json

import common
from common import DESCRIPTION, SCHEMA, SYSTEM


class OpenAiChat:
    tools = [{"type": "function", "function": {"name": "read_part", "description": DESCRIPTION, "parameters": SCHEMA}}]

    def __init__(self, given: dict):
        import openai

        self.given = given
        self.client = openai.OpenAI(base_url=given["base_url"] + "/v1", api_key="test-key", max_retries=6, timeout=60)
        self.messages = [{"role": "system", "content": SYSTEM}]

    def take_turn(self, turn: int, prompt: str) -> str:
        self.messages.append({"role": "user", "content": prompt})
        for _ in range(common.LONGEST_TURN_STEPS):
            message = self.ask(common.model(self.given, turn), turn % 2 == 1)
            self.messages.append(message)
            if not message.get("tool_calls"):
                return message["content"]
            for call in message["tool_calls"]:
                arguments = json.loads(call["function"]["arguments"])
                result = common.read_part(self.given, arguments["command"])
                self.messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
        raise RuntimeError("the turn has no end")

    def ask(self, model: str, is_streamed: bool) -> dict:
        options = {"model": model, "messages": self.messages, "tools": self.tools}
        if is_streamed:
            with self.client.chat.completions.stream(**options) as stream:
                message = stream.get_final_completion().choices[0].message
        else:
            message = self.client.chat.completions.create(**options).choices[0].message
        wanted = {"role": "assistant", "content": message.content}
        calls = message.tool_calls or []
        if calls:
            wanted["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.function.name, "arguments": call.function.arguments},
                }
                for call in calls
            ]
        return wanted


class OpenAiResponses:
    """Without history at the provider: everything is sent each time, reasoning sealed."""

    first_options = {"store": False, "include": ["reasoning.encrypted_content"]}

    tools = [{"type": "function", "name": "read_part", "description": DESCRIPTION, "parameters": SCHEMA, "strict": True}]

    def __init__(self, given: dict):
        import openai

        self.given = given
        self.client = openai.OpenAI(base_url=given["base_url"] + "/v1", api_key="test-key", max_retries=6, timeout=60)
        self.input = []
        self.options = self.first_options

    def take_turn(self, turn: int, prompt: str) -> str:
        self.input.append({"role": "user", "content": prompt})
        for _ in range(common.LONGEST_TURN_STEPS):
            response = self.ask(common.model(self.given, turn), turn % 2 == 1)
            self.input += [item.to_dict(exclude_none=True) for item in response.output]
            calls = [item for item in response.output if item.type == "function_call"]
            if not calls:
                return response.output_text
            for call in calls:
                result = common.read_part(self.given, json.loads(call.arguments)["command"])
                self.input.append({"type": "function_call_output", "call_id": call.call_id, "output": result})
        raise RuntimeError("the turn has no end")

    def ask(self, model: str, is_streamed: bool):
        options = {
            "model": model,
            "input": self.input,
            "tools": self.tools,
            "instructions": SYSTEM,
            **self.options,
        }
        if not is_streamed:
            return self.client.responses.create(**options)
        with self.client.responses.stream(**options) as stream:
            return stream.get_final_response()


class OpenAiStored(OpenAiResponses):
    """With history at the provider: only what is new is sent."""

    first_options = {}

    def take_turn(self, turn: int, prompt: str) -> str:
        self.input = [{"role": "user", "content": prompt}]
        for _ in range(common.LONGEST_TURN_STEPS):
            response = self.ask(common.model(self.given, turn), turn % 2 == 1)
            self.options = {"previous_response_id": response.id}
            calls = [item for item in response.output if item.type == "function_call"]
            if not calls:
                return response.output_text
            self.input = [
                {
                    "type": "function_call_output",
                    "call_id": call.call_id,
                    "output": common.read_part(self.given, json.loads(call.arguments)["command"]),
                }
                for call in calls
            ]
        raise RuntimeError("the turn has no end")


class Anthropic:
    tools = [{"name": "read_part", "description": DESCRIPTION, "input_schema": SCHEMA}]
    thinking = {"type": "disabled"}

    def __init__(self, given: dict):
        import anthropic

        self.given = given
        self.client = anthropic.Anthropic(base_url=given["base_url"], api_key="test-key", max_retries=6, timeout=60)
        self.messages = []

    def take_turn(self, turn: int, prompt: str) -> str:
        self.messages.append({"role": "user", "content": prompt})
        for _ in range(common.LONGEST_TURN_STEPS):
            message = self.ask(common.model(self.given, turn), turn % 2 == 1)
            # The documented way to go on: the blocks themselves, thinking and signatures with them.
            self.messages.append({"role": "assistant", "content": message.content})
            calls = [block for block in message.content if block.type == "tool_use"]
            if not calls:
                return "".join(block.text for block in message.content if block.type == "text")
            results = [
                {
                    "type": "tool_result",
                    "tool_use_id": call.id,
                    "content": common.read_part(self.given, call.input["command"]),
                }
                for call in calls
            ]
            self.messages.append({"role": "user", "content": results})
        raise RuntimeError("the turn has no end")

    def ask(self, model: str, is_streamed: bool):
        options = {
            "model": model,
            "max_tokens": 2000,
            "system": SYSTEM,
            "messages": self.messages,
            "tools": self.tools,
            "thinking": self.thinking,
        }
        if not is_streamed:
            return self.client.messages.create(**options)
        with self.client.messages.stream(**options) as stream:
            return stream.get_final_message()


class AnthropicThinking(Anthropic):
    thinking = {"type": "enabled", "budget_tokens": 1024}


CLIENTS = {
    "python-openai-chat": OpenAiChat,
    "python-openai-responses": OpenAiResponses,
    "python-openai-stored": OpenAiStored,
    "python-anthropic": Anthropic,
    "python-anthropic-thinking": AnthropicThinking,
}

if __name__ == "__main__":
    given = common.settings()
    common.drive(given, CLIENTS[given["client"]](given).take_turn)
