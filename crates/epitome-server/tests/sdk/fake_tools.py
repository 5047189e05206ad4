"""Tools that exist only for tests: declared to the model, answered with text that looks like real output."""

import json
import random

SHORTEST_RESULT_CHARS = 200
LONGEST_RESULT_CHARS = 3000

TOOLS = [
    ("read_file", "Reads a file of the project.", {"path": {"type": "string"}, "limit": {"type": "integer"}}),
    ("run_command", "Runs a shell command.", {"command": {"type": "string"}}),
    ("search", "Searches the project for text.", {"query": {"type": "string"}, "all": {"type": "boolean"}}),
]


def schema(properties: dict) -> dict:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def run(name: str, arguments: dict) -> str:
    """The same call always has the same result."""
    chance = random.Random(json.dumps([name, arguments], sort_keys=True))
    length = chance.randint(SHORTEST_RESULT_CHARS, LONGEST_RESULT_CHARS)
    lines = [f'{name} "{next(iter(arguments.values()), "")}":']
    size = len(lines[0])
    while size < length:
        line = (
            f"src/depot_{chance.randint(1, 60)}/route.rs:{chance.randint(1, 900)}: "
            f"{chance.choice(('checked', 'moved', 'error E0' + str(chance.randint(100, 999)), 'größer als'))} "
            f"{chance.randint(1, 100_000)} parcels\tin \\{chance.randint(1, 99)} bins"
        )
        lines.append(line)
        size += len(line) + 1
    return "\n".join(lines)[:length]
