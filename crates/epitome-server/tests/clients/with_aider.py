"""aider as its users work with it: files in the chat, `/add`, `/run`, pasted logs, edits that are applied."""

import os
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


class Aider:
    def __init__(self, given: dict):
        self.given = given
        home = Path(given["home"])
        home.mkdir(parents=True, exist_ok=True)
        os.environ["HOME"] = str(home)
        os.environ["OPENAI_API_BASE"] = given["base_url"] + "/v1"
        os.chdir(given["work"])
        for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "parts"]):
            subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *command], check=True)
        from aider.main import main

        history = "--max-chat-history-tokens=4000" if given["has_own_compaction"] else "--max-chat-history-tokens=10000000"
        self.coder = main(
            [
                f"--model=openai/{given['model']}", "--weak-model=openai/small", "--edit-format=diff", "--yes-always",
                "--no-auto-commits", "--no-show-model-warnings", "--no-pretty", "--no-suggest-shell-commands",
                "--no-detect-urls", "--no-show-release-notes", history, "part-00.txt",
            ],
            return_coder=True,
        )
        self.problems = []
        told = self.coder.io.tool_error
        self.coder.io.tool_error = lambda message="", *rest, **more: (self.problems.append(str(message)), told(message))

    def take_turn(self, turn: int, prompt: str) -> str:
        coder, part = self.coder, turn % common.PARTS
        self.problems.clear()
        if common.model(self.given, turn) != coder.main_model.name.removeprefix("openai/"):
            coder.main_model.name = "openai/" + common.model(self.given, turn)
        if turn == 2:
            coder.run(with_message="/add part-01.txt")
        if turn % 3 == 0:
            # Its output is added to the chat.
            coder.run(with_message=f"/run cat part-{part:02}.txt | head -40")
        pasted = common.read_part(self.given, f"cat part-{part:02}.txt").splitlines()[: 70]
        said = coder.run(with_message=prompt + "\n" + "\n".join(pasted))
        if self.problems:
            raise RuntimeError(" ".join(self.problems))
        return said or ""


if __name__ == "__main__":
    given = common.settings()
    common.drive(given, Aider(given).take_turn)
