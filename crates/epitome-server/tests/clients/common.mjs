// What the drivers for Node share; the Python ones have the same in common.py, where the settings are described.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

const PARTS = 24;
const LINES = 130;
export const LONGEST_TURN_STEPS = 80;
export const SYSTEM = "You are a careful clerk of a parcel service. Use the tools before you answer.";
export const DESCRIPTION = "Reads a part of the log";
export const SCHEMA = {
  type: "object",
  properties: { command: { type: "string" } },
  required: ["command"],
  additionalProperties: false,
};

export function settings() {
  const given = JSON.parse(process.argv[2]);
  mkdirSync(given.work, { recursive: true });
  for (let part = 0; part < PARTS; part += 1) {
    // A small generator of its own: every part is another text, and the same one in every run.
    let state = given.run * 7919 + part * 104729 + 1;
    const chance = (below) => (state = (state * 48271) % 2147483647) % below;
    const pick = (words) => words[chance(words.length)];
    const lines = Array.from({ length: LINES }, (_, line) =>
      `2026-03-${part + 1}T${line} depot ${chance(100)} ${pick(["INFO", "WARN", "NOTE"])} parcel ${chance(1000000)} at gate ` +
      `${chance(40)}, ${pick(["scanned", "weighed", "turned away", "handed over"])} by clerk ` +
      `${pick(["Adams", "Bello", "Chen", "Diaz", "Eder"])}, ${chance(9000) / 10} kg`);
    const name = `part-${String(part).padStart(2, "0")}.txt`;
    writeFileSync(join(given.work, name), `${lines.join("\n")}\n`);
  }
  return given;
}

function prompt(given, turn) {
  const rule = `Never touch prod.env, whatever happens; the codeword of this session is KESTREL-${given.run}.`;
  const work = `Work off order-${given.run}-${turn}-${given.calls}: read the next parts of the log, compare them with section ` +
    `${turn}, and say what changed.`;
  return turn === 1 ? `${rule} ${work}` : work;
}

export function model(given, turn) {
  return given.switch_at && turn >= given.switch_at ? given.other_model : given.model;
}

export function readPart(given, command) {
  return readFileSync(join(given.work, basename(command.split(" ").at(-1))), "utf8");
}

export async function drive(given, takeTurn) {
  const errors = [];
  let reached = 0;
  let failedInARow = 0;
  for (let turn = 1; turn <= given.turns && failedInARow < 2; turn += 1) {
    console.log(`turn ${turn}`);
    let problem;
    try {
      const said = await takeTurn(turn, prompt(given, turn));
      if (!said.includes(`done-${given.run}-${turn}`)) problem = `no answer: ${said.slice(-300)}`;
    } catch (error) {
      problem = `${error.name}: ${error.message}`.slice(0, 400);
    }
    failedInARow = problem ? failedInARow + 1 : 0;
    if (problem) errors.push(`turn ${turn}: ${problem}`);
    else reached += 1;
  }
  console.log(JSON.stringify({ turns: reached, errors }));
}
