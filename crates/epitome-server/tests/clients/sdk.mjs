// The official SDKs for Node, as agents are written on them: streamed in odd turns, whole in even ones.

import { createRequire } from "node:module";

import { DESCRIPTION, LONGEST_TURN_STEPS, SCHEMA, SYSTEM, drive, model, readPart, settings } from "./common.mjs";

const given = settings();
// The packages are installed elsewhere than this file.
const packages = createRequire(`${given.packages}/`);
const retries = { maxRetries: 6, timeout: 60_000 };

function openaiChat() {
  const { OpenAI } = packages("openai");
  const client = new OpenAI({ baseURL: `${given.base_url}/v1`, apiKey: "test-key", ...retries });
  const tools = [{ type: "function", function: { name: "read_part", description: DESCRIPTION, parameters: SCHEMA } }];
  const messages = [{ role: "system", content: SYSTEM }];
  return async (turn, prompt) => {
    messages.push({ role: "user", content: prompt });
    for (let step = 0; step < LONGEST_TURN_STEPS; step += 1) {
      const body = { model: model(given, turn), messages, tools };
      const message = turn % 2
        ? await client.chat.completions.stream(body).finalMessage()
        : (await client.chat.completions.create(body)).choices[0].message;
      messages.push(message);
      if (!message.tool_calls?.length) return message.content;
      for (const call of message.tool_calls) {
        const content = readPart(given, JSON.parse(call.function.arguments).command);
        messages.push({ role: "tool", tool_call_id: call.id, content });
      }
    }
    throw new Error("the turn has no end");
  };
}

function openaiResponses() {
  const { OpenAI } = packages("openai");
  const client = new OpenAI({ baseURL: `${given.base_url}/v1`, apiKey: "test-key", ...retries });
  const tools = [{ type: "function", name: "read_part", description: DESCRIPTION, parameters: SCHEMA, strict: true }];
  const input = [];
  return async (turn, prompt) => {
    input.push({ role: "user", content: prompt });
    for (let step = 0; step < LONGEST_TURN_STEPS; step += 1) {
      const body = {
        model: model(given, turn), input, tools, instructions: SYSTEM, store: false, include: ["reasoning.encrypted_content"],
      };
      const response = turn % 2
        ? await client.responses.stream(body).finalResponse()
        : await client.responses.create(body);
      input.push(...response.output.map(({ parsed_arguments, ...item }) => item));
      const calls = response.output.filter((item) => item.type === "function_call");
      if (!calls.length) return response.output_text;
      for (const call of calls) {
        const output = readPart(given, JSON.parse(call.arguments).command);
        input.push({ type: "function_call_output", call_id: call.call_id, output });
      }
    }
    throw new Error("the turn has no end");
  };
}

function anthropic(thinking) {
  const { Anthropic } = packages("@anthropic-ai/sdk");
  const client = new Anthropic({ baseURL: given.base_url, apiKey: "test-key", ...retries });
  const tools = [{ name: "read_part", description: DESCRIPTION, input_schema: SCHEMA }];
  const messages = [];
  return async (turn, prompt) => {
    messages.push({ role: "user", content: prompt });
    for (let step = 0; step < LONGEST_TURN_STEPS; step += 1) {
      const body = { model: model(given, turn), max_tokens: 2000, system: SYSTEM, messages, tools, thinking };
      const message = turn % 2 ? await client.messages.stream(body).finalMessage() : await client.messages.create(body);
      messages.push({ role: "assistant", content: message.content });
      const calls = message.content.filter((block) => block.type === "tool_use");
      if (!calls.length) return message.content.map((block) => block.text ?? "").join("");
      const results = calls.map((call) => (
        { type: "tool_result", tool_use_id: call.id, content: readPart(given, call.input.command) }));
      messages.push({ role: "user", content: results });
    }
    throw new Error("the turn has no end");
  };
}

const clients = {
  "node-openai-chat": openaiChat,
  "node-openai-responses": openaiResponses,
  "node-anthropic": () => anthropic({ type: "disabled" }),
  "node-anthropic-thinking": () => anthropic({ type: "enabled", budget_tokens: 1024 }),
};

await drive(given, clients[given.client]());
