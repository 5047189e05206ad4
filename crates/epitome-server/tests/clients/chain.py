"""LangChain's models, and litellm as a library: agents that people write on top of others' clients."""

import gc
import json
import os

import common
from common import DESCRIPTION, SCHEMA, SYSTEM

# litellm would fetch a price list from the network.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"


class LangChain:
    def __init__(self, given: dict):
        self.given = given
        self.messages = [("system", SYSTEM)]

    def model(self, name: str, is_streamed: bool):
        base_url, kind = self.given["base_url"], self.given["client"]
        common_options = {"api_key": "test-key", "max_retries": 6, "timeout": 60, "streaming": is_streamed}
        if kind == "langchain-anthropic":
            from langchain_anthropic import ChatAnthropic

            return ChatAnthropic(model=name, base_url=base_url, max_tokens=2000, **common_options)
        from langchain_openai import ChatOpenAI

        more = {}
        if kind == "langchain-responses":
            more = {"use_responses_api": True, "store": False, "include": ["reasoning.encrypted_content"]}
        return ChatOpenAI(model=name, base_url=base_url + "/v1", **common_options, **more)

    def take_turn(self, turn: int, prompt: str) -> str:
        from langchain_core.messages import HumanMessage, ToolMessage
        from langchain_core.tools import tool

        @tool(description=DESCRIPTION)
        def read_part(command: str) -> str:
            return common.read_part(self.given, command)

        model = self.model(common.model(self.given, turn), turn % 2 == 1).bind_tools([read_part])
        self.messages.append(HumanMessage(prompt))
        for _ in range(common.LONGEST_TURN_STEPS):
            message = model.invoke(self.messages)
            self.messages.append(message)
            if not message.tool_calls:
                return message.text if isinstance(message.text, str) else message.text()
            for call in message.tool_calls:
                self.messages.append(ToolMessage(read_part.invoke(call["args"]), tool_call_id=call["id"]))
        raise RuntimeError("the turn has no end")


class LiteLlm:
    def __init__(self, given: dict):
        # It leaves its streams to the collector; one that is closed while the pool of connections is locked waits for ever.
        gc.disable()
        self.given = given
        self.messages = [{"role": "system", "content": SYSTEM}]

    def take_turn(self, turn: int, prompt: str) -> str:
        self.messages.append({"role": "user", "content": prompt})
        for _ in range(common.LONGEST_TURN_STEPS):
            message = self.ask(common.model(self.given, turn), turn % 2 == 1)
            gc.collect()
            self.messages.append(message)
            if not message.tool_calls:
                return message.content
            for call in message.tool_calls:
                result = common.read_part(self.given, json.loads(call.function.arguments)["command"])
                self.messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        raise RuntimeError("the turn has no end")

    def ask(self, model: str, is_streamed: bool):
        import litellm

        is_anthropic = self.given["client"] == "litellm-anthropic"
        options = {
            "model": f"{'anthropic' if is_anthropic else 'openai'}/{model}",
            "api_base": self.given["base_url"] + ("" if is_anthropic else "/v1"),
            "api_key": "test-key",
            "messages": self.messages,
            "tools": [{"type": "function", "function": {"name": "read_part", "description": DESCRIPTION, "parameters": SCHEMA}}],
            "num_retries": 6,
            "timeout": 60,
        }
        if is_anthropic:
            options |= {"max_tokens": 2000, "thinking": {"type": "enabled", "budget_tokens": 1024}}
        if not is_streamed:
            return litellm.completion(**options).choices[0].message
        chunks = list(litellm.completion(**options, stream=True))
        return litellm.stream_chunk_builder(chunks, messages=self.messages).choices[0].message


CLIENTS = {
    "langchain-chat": LangChain,
    "langchain-responses": LangChain,
    "langchain-anthropic": LangChain,
    "litellm-openai": LiteLlm,
    "litellm-anthropic": LiteLlm,
}

if __name__ == "__main__":
    given = common.settings()
    common.drive(given, CLIENTS[given["client"]](given).take_turn)
