"""A small agent on an official SDK: talks for many turns, runs the tools it is asked for, keeps all history.

    python converse.py SETTINGS

SETTINGS is a JSON object; see `main`. What the agent saw goes to the folder `out`: `answers.jsonl` holds one line
for each answer, `last_request.json` the body of the last request as the SDK sent it. The last line on standard
output is a JSON object with the findings.
"""

import faulthandler
import gc
import importlib
import json
import sys
import time
from pathlib import Path

import fake_tools

# A driver that hangs must not hang the test run.
LONGEST_RUN_SECONDS = 240
# The scripted model never wants as many tool steps in a row.
LONGEST_TURN_STEPS = 12


def main() -> None:
    faulthandler.dump_traceback_later(LONGEST_RUN_SECONDS, exit=True)
    # The SDKs make and drop millions of small objects; a short run is quicker without looking for cycles.
    gc.disable()
    settings = json.loads(sys.argv[1])
    out = Path(settings["out"])
    started = time.monotonic()
    client = importlib.import_module(settings["client"]).Client(settings)
    findings = {"sdk": client.version, "turns": 0, "requests": 0, "errors": [], "actions": {}, "conversations": []}
    answers = []
    try:
        for turn in range(1, settings["turns"] + 1):
            client.say(words_of_user(turn, settings))
            take_turn(turn, client, findings, answers)
            findings["turns"] = turn
    except Exception as error:
        findings["errors"].append(f"turn {findings['turns'] + 1}: {type(error).__name__}: {error}")
    (out / "answers.jsonl").write_text("".join(json.dumps(answer) + "\n" for answer in answers), "utf-8")
    (out / "last_request.json").write_bytes(client.last_request)
    findings["seconds"] = round(time.monotonic() - started, 2)
    print(json.dumps(findings))


def take_turn(turn: int, client, findings: dict, answers: list) -> None:
    for _ in range(LONGEST_TURN_STEPS):
        message, calls, headers = client.ask()
        action = headers.get("x-epitome-action", "none")
        conversation = headers.get("x-epitome-conversation", "none")
        findings["requests"] += 1
        findings["actions"][action] = findings["actions"].get(action, 0) + 1
        if conversation not in findings["conversations"]:
            findings["conversations"].append(conversation)
        answers.append({"turn": turn, "message": message, "action": action, "sent_bytes": len(client.last_request)})
        if not calls:
            return
        client.answer_calls([(call_id, fake_tools.run(name, arguments)) for call_id, name, arguments in calls])
    raise RuntimeError(f"the model wanted more than {LONGEST_TURN_STEPS} tool steps in one turn")


def words_of_user(turn: int, settings: dict) -> str:
    if turn == 1:
        return settings["task"]
    if turn == settings["instruction_turn"]:
        return f"Good so far. {settings['instruction']} Now go on with section {turn}."
    return (
        f"Turn {turn}: please look at section {turn} of the survey, compare it with section {turn - 1}, "
        f"and tell me what changed in depot {turn * 37 % 101} since the count of {turn * 113} parcels."
    )


if __name__ == "__main__":
    main()
