// AI SDK: `openai(...)` as it comes, which is Responses with history at the provider, and the other ways to use it.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

import { DESCRIPTION, LONGEST_TURN_STEPS, SYSTEM, drive, model, readPart, settings } from "./common.mjs";

const given = settings();
// The packages are installed elsewhere than this file.
const packages = createRequire(`${given.packages}/`);
const load = (name) => import(pathToFileURL(packages.resolve(name)));
const { generateText, stepCountIs, isStepCount, streamText, tool } = await load("ai");
const { createOpenAI } = await load("@ai-sdk/openai");
const { createAnthropic } = await load("@ai-sdk/anthropic");
const { z } = await load("zod");

const openai = createOpenAI({ baseURL: `${given.base_url}/v1`, apiKey: "test-key" });
const anthropic = createAnthropic({ baseURL: `${given.base_url}/v1`, apiKey: "test-key" });
const ways = {
  "ai-sdk": (name) => ({ model: openai(name) }),
  "ai-sdk-chat": (name) => ({ model: openai.chat(name) }),
  "ai-sdk-unstored": (name) => (
    { model: openai(name), providerOptions: { openai: { store: false, include: ["reasoning.encrypted_content"] } } }),
  "ai-sdk-anthropic": (name) => (
    { model: anthropic(name), providerOptions: { anthropic: { thinking: { type: "enabled", budgetTokens: 1024 } } } }),
};
const tools = {
  read_part: tool({
    description: DESCRIPTION,
    inputSchema: z.object({ command: z.string() }),
    execute: async ({ command }) => readPart(given, command),
  }),
};
const messages = [];

await drive(given, async (turn, prompt) => {
  messages.push({ role: "user", content: prompt });
  const limit = (stepCountIs ?? isStepCount)(LONGEST_TURN_STEPS);
  const options = {
    ...ways[given.client](model(given, turn)), system: SYSTEM, messages, tools, stopWhen: limit, maxRetries: 6, maxOutputTokens: 2000,
  };
  let failure;
  const result = turn % 2
    ? streamText({ ...options, onError: ({ error }) => { failure = error; } })
    : await generateText(options);
  let text;
  try {
    text = await result.text;
    // All steps of the turn; `response` has the last one only.
    messages.push(...(await result.responseMessages));
  } catch (error) {
    throw failure ?? error;
  }
  return text;
});
