"""Many conversations at once on both official SDKs, each request on a connection of its own.

    python fleet.py SETTINGS

SETTINGS is a JSON object: base_url, conversations, turns, threads. A connection that is cut is counted and the same request is
sent again; any other error is a finding. Some requests are sent twice on purpose, and must be answered alike. The last line on
standard output is a JSON object with the findings.
"""

import faulthandler
import gc
import json
import random
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import anthropic
import openai

LONGEST_RUN_SECONDS = 1500
MOST_CUTS = 30
WORDS = "anchor basin copper delta ember fjord gravel harbor island jetty kelp lagoon".split()


class Findings:
    def __init__(self):
        self.lock = threading.Lock()
        self.counts = {"requests": 0, "cuts": 0, "repeated": 0, "compacted": 0}
        self.errors = []
        self.differing = []

    def count(self, what: str) -> None:
        with self.lock:
            self.counts[what] += 1

    def answered_differently(self, request: str) -> None:
        with self.lock:
            self.differing.append(request)

    def wrong(self, what: str) -> None:
        with self.lock:
            self.errors.append(what[:400])


def main() -> None:
    faulthandler.dump_traceback_later(LONGEST_RUN_SECONDS, exit=True)
    gc.disable()
    settings = json.loads(sys.argv[1])
    # No connection is used twice: whoever stands in front chooses a node for every request.
    options = {"api_key": "test-key", "max_retries": 0, "timeout": 60, "default_headers": {"Connection": "close"}}
    clients = (
        openai.OpenAI(base_url=settings["base_url"] + "/v1", **options),
        anthropic.Anthropic(base_url=settings["base_url"], **options),
    )
    findings = Findings()
    started = time.monotonic()
    with ThreadPoolExecutor(settings["threads"]) as pool:
        for who in range(settings["conversations"]):
            pool.submit(converse, clients, who, settings["turns"], findings)
    print(json.dumps({**findings.counts, "errors": findings.errors[:20], "differing": findings.differing,
                      "seconds": round(time.monotonic() - started, 1)}))


def converse(clients: tuple, who: int, turns: int, findings: Findings) -> None:
    try:
        chance = random.Random(who)
        messages = []
        for turn in range(turns):
            words = " ".join(chance.choice(WORDS) for _ in range(330))
            word = f"secret-{who:03}-{turn:02}-word"
            # The mark says which request it is, whatever becomes of what stands before.
            messages.append({"role": "user", "content": f"Remember {word}. {words} [request {who}/{turn}]"})
            text = ask(clients, who, messages, findings)
            if chance.random() < 0.2:
                findings.count("repeated")
                again = ask(clients, who, messages, findings)
                if again != text:
                    findings.answered_differently(f"[request {who}/{turn}")
            messages.append({"role": "assistant", "content": text})
    except Exception as error:
        findings.wrong(f"{who}: {type(error).__name__}: {error}")


def ask(clients: tuple, who: int, messages: list, findings: Findings) -> str:
    for _ in range(MOST_CUTS):
        try:
            text, headers = (ask_openai, ask_anthropic)[who % 2](clients[who % 2], messages)
        except (openai.APIConnectionError, anthropic.APIConnectionError):
            findings.count("cuts")
            continue
        findings.count("requests")
        if headers.get("x-epitome-action") == "compacted":
            findings.count("compacted")
        return text
    raise RuntimeError("cut again and again")


def ask_openai(client, messages: list) -> tuple:
    response = client.chat.completions.with_raw_response.create(model="scripted", messages=messages)
    return response.parse().choices[0].message.content, response.headers


def ask_anthropic(client, messages: list) -> tuple:
    response = client.messages.with_raw_response.create(model="scripted", max_tokens=200, messages=messages)
    return response.parse().content[0].text, response.headers


if __name__ == "__main__":
    main()
