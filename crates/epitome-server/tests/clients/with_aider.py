"""aider as its users work with it: files in the chat, `/add`, `/run`, pasted logs, edits that are applied."""

import os
import re
import subprocess
from pathlib import Path

import common

# Must be set before aider is imported: it would fetch price lists and report usage.
os.environ.update(
    LITELLM_LOCAL_MODEL_COST_MAP="True",
    AIDER_ANALYTICS="false",
    AIDER_CHECK_UPDATE="false",
    OPENAI_API_KEY="test-key",
)

# What stands at the end of the output when the program waits for its user. While it reads a message of several lines it says `> ` for
# each of them on one line.
WAITS = re.compile(r"\n(diff)?> $")


class Aider:
    """What the user says; how aider is told is a matter of the two below."""

    def __init__(self, given: dict):
        self.given = given
        home = Path(given["home"])
        home.mkdir(parents=True, exist_ok=True)
        os.environ["HOME"] = str(home)
        os.environ["OPENAI_API_BASE"] = given["base_url"] + "/v1"
        os.chdir(given["work"])
        for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "parts"]):
            subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *command], check=True)
        history = "--max-chat-history-tokens=4000" if given["has_own_compaction"] else "--max-chat-history-tokens=10000000"
        self.start(
            [
                f"--model=openai/{given['model']}", "--weak-model=openai/small", "--edit-format=diff", "--yes-always",
                "--no-auto-commits", "--no-show-model-warnings", "--no-pretty", "--no-suggest-shell-commands",
                "--no-detect-urls", "--no-show-release-notes", history, "part-00.txt",
            ]
        )

    def start(self, arguments: list) -> None:
        raise NotImplementedError

    def say(self, message: str) -> str:
        raise NotImplementedError

    def take_turn(self, turn: int, prompt: str) -> str:
        part = turn % common.PARTS
        if turn == 2:
            self.say("/add part-01.txt")
        if turn % 3 == 0:
            # Its output is added to the chat.
            self.say(f"/run cat part-{part:02}.txt | head -40")
        pasted = common.read_part(self.given, f"cat part-{part:02}.txt").splitlines()[: 70]
        return self.say(prompt + "\n" + "\n".join(pasted))


class Inside(Aider):
    """In the process of this driver."""

    def start(self, arguments: list) -> None:
        from aider.main import main

        self.coder = main(arguments, return_coder=True)
        self.problems = []
        told = self.coder.io.tool_error
        self.coder.io.tool_error = lambda message="", *rest, **more: (self.problems.append(str(message)), told(message))

    def say(self, message: str) -> str:
        return self.coder.run(with_message=message) or ""

    def take_turn(self, turn: int, prompt: str) -> str:
        self.problems.clear()
        model = common.model(self.given, turn)
        if model != self.coder.main_model.name.removeprefix("openai/"):
            self.coder.main_model.name = "openai/" + model
        said = super().take_turn(turn, prompt)
        if self.problems:
            raise RuntimeError(" ".join(self.problems))
        return said


class Program(Aider):
    """The program, told through its standard input; `wrap` may have started it."""

    def start(self, arguments: list) -> None:
        programs = Path(self.given["programs"])
        os.environ.update(PATH=f"{programs}:{os.environ['PATH']}", TERM="dumb", PYTHONUNBUFFERED="1")
        command = [*common.wrapped(self.given, "aider", programs / "aider"), *arguments]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0
        )
        self.heard()

    def say(self, message: str) -> str:
        # Several lines are one message between these marks.
        self.process.stdin.write(f"{{words\n{message}\nwords}}\n".encode() if "\n" in message else f"{message}\n".encode())
        return self.heard()

    def heard(self) -> str:
        """What it says until it waits for its user."""
        said = b""
        while not WAITS.search(said.decode(errors="replace")[-80:]):
            more = self.process.stdout.read(65536)
            if not more:
                raise RuntimeError(f"ended with {self.process.wait()}: {' '.join(said.decode(errors='replace').split())[-300:]}")
            said += more
        return said.decode(errors="replace")

    def take_turn(self, turn: int, prompt: str) -> str:
        said = super().take_turn(turn, prompt)
        if turn == self.given["turns"]:
            self.end()
        return said

    def end(self) -> None:
        self.process.stdin.close()
        last = self.process.stdout.read().decode(errors="replace")
        if self.process.wait() != 0:
            raise RuntimeError(f"ended with {self.process.returncode}: {last[-300:]}")


if __name__ == "__main__":
    given = common.settings()
    kind = Program if given["has_own_providers"] else Inside
    common.drive(given, kind(given).take_turn)
