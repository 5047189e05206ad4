"""What all drivers share: the prompts, the files that are read, and the way to tell how it went.

    python DRIVER.py SETTINGS

SETTINGS is a JSON object: `client` and `base_url`; `run`, the number of this conversation; `turns`, and the `calls`
of each; `model`, and `switch_at` with `other_model` where the model changes; `has_own_compaction`; `has_agents` where
sub-agents are wanted; `has_own_providers` where the agent asks the providers that it comes with; `wrap`, the command
whose `wrap` starts the agent, or null; the folders `work` and `home`; `programs`, where the client is installed. A
driver prints `turn N` before each turn, and a JSON object with the turns reached and the errors at the end.
"""

import json
import random
import sys
from pathlib import Path

PARTS = 24
LINES = 130
# The scripted model works off an order in fewer steps.
LONGEST_TURN_STEPS = 80
# Of clients whose tools the driver brings.
DESCRIPTION = "Reads a part of the log"
SCHEMA = {
    "type": "object",
    "properties": {"command": {"type": "string"}},
    "required": ["command"],
    "additionalProperties": False,
}
SYSTEM = "You are a careful clerk of a parcel service. Use the tools before you answer."


def settings() -> dict:
    given = json.loads(sys.argv[1])
    write_parts(Path(given["work"]), given["run"])
    return given


def write_parts(work: Path, run: int) -> None:
    """The files whose contents fill the window: about 5,000 tokens each, none like another."""
    work.mkdir(parents=True, exist_ok=True)
    for part in range(PARTS):
        chance = random.Random(run * 1000 + part)
        lines = [
            f"2026-03-{part + 1:02}T{line // 60:02}:{line % 60:02} depot {chance.randrange(100)} "
            f"{chance.choice(['INFO', 'WARN', 'NOTE'])} parcel {chance.randrange(10**6)} at gate {chance.randrange(40)}, "
            f"{chance.choice(['scanned', 'weighed', 'turned away', 'handed over', 'put aside'])} by clerk "
            f"{chance.choice(['Adams', 'Bello', 'Chen', 'Diaz', 'Eder'])}, {chance.randrange(9000) / 10} kg"
            for line in range(LINES)
        ]
        (work / f"part-{part:02}.txt").write_text("\n".join(lines) + "\n", "utf-8")


def rule(given: dict) -> str:
    return (
        "Never touch prod.env, whatever happens; "
        f"the codeword of this session is KESTREL-{given['run']}."
    )


def prompt(given: dict, turn: int) -> str:
    agent = "-agent" if given.get("has_agents") and turn == 2 else ""
    order = f"order-{given['run']}-{turn}-{given['calls']}{agent}"
    work = f"Work off {order}: read the next parts of the log, compare them with section {turn}, and say what changed."
    return f"{rule(given)} {work}" if turn == 1 else work


def model(given: dict, turn: int) -> str:
    switch_at = given.get("switch_at")
    return given["other_model"] if switch_at and turn >= switch_at else given["model"]


def wrapped(given: dict, agent: str, program: Path) -> list:
    """How the agent is started: by itself, or as its users have it started. What it is given comes behind."""
    if not given["wrap"]:
        return [program]
    return [given["wrap"], "wrap", agent, "--window", str(given["window"]), "--"]


def read_part(given: dict, command: str) -> str:
    """What the shell would say to the only command that the scripted model gives."""
    name = Path(command.split()[-1]).name
    return (Path(given["work"]) / name).read_text("utf-8")


def drive(given: dict, take_turn) -> None:
    """Takes all turns; a client that fails twice in a row is not asked again."""
    errors, reached, failed_in_a_row = [], 0, 0
    for turn in range(1, given["turns"] + 1):
        print(f"turn {turn}", flush=True)
        try:
            said = take_turn(turn, prompt(given, turn))
            mark = f"done-{given['run']}-{turn}"
            problem = None if mark in said else f"no answer: {' '.join(said.split())[-300:]}"
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"[:400]
        if problem is None:
            reached, failed_in_a_row = reached + 1, 0
            continue
        errors.append(f"turn {turn}: {problem}")
        failed_in_a_row += 1
        if failed_in_a_row == 2:
            break
    print(json.dumps({"turns": reached, "errors": errors}))
