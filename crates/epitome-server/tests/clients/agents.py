"""Agents that are programs: one process for each turn, the session goes on by the agent's own means."""

import json
import os
import subprocess
from pathlib import Path

import common

LONGEST_TURN_SECONDS = 150


class Agent:
    def __init__(self, given: dict):
        self.given = given
        self.home = Path(given["home"])
        self.home.mkdir(parents=True, exist_ok=True)
        self.variables = {}

    def command(self, turn: int) -> list:
        raise NotImplementedError

    def take_turn(self, turn: int, prompt: str) -> str:
        programs = Path(self.given["programs"])
        program, *arguments = self.command(turn)
        variables = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(self.home), "TERM": "dumb", **self.variables}
        if self.given["wrap"]:
            # Where requests would go without epitome; the store is where it always is below the home.
            variables |= {"OPENAI_BASE_URL": self.given["base_url"] + "/v1", "ANTHROPIC_BASE_URL": self.given["base_url"]}
        done = subprocess.run(
            [*common.wrapped(self.given, program, programs / program), *arguments, prompt],
            cwd=self.given["work"],
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LONGEST_TURN_SECONDS,
            text=True,
            errors="replace",
        )
        if done.returncode != 0:
            raise RuntimeError(f"ended with {done.returncode}: {' '.join(done.stdout.split())[-300:]}")
        return done.stdout


class ClaudeCode(Agent):
    def __init__(self, given: dict):
        super().__init__(given)
        self.variables = {
            "ANTHROPIC_BASE_URL": given["base_url"],
            "ANTHROPIC_API_KEY": "test-key",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",
        }
        if not given["has_own_compaction"]:
            self.variables["DISABLE_COMPACT"] = "1"

    def command(self, turn: int) -> list:
        options = ["claude", "-p", "--allowedTools", "Bash,Task,Agent", "--model", common.model(self.given, turn)]
        return [*options, *(["-c"] if turn > 1 else []), "--"]


class Codex(Agent):
    """With a provider of its own in the configuration."""

    def __init__(self, given: dict):
        super().__init__(given)
        self.variables = {"CODEX_HOME": str(self.home), "OPENAI_API_KEY": "test-key"}
        (self.home / "config.toml").write_text(self.configuration(), "utf-8")

    def configuration(self) -> str:
        return (
            f'model_provider = "scripted"\n{self.limits()}[model_providers.scripted]\nname = "scripted"\n'
            f'base_url = "{self.given["base_url"]}/v1"\nenv_key = "OPENAI_API_KEY"\nwire_api = "responses"\n'
        )

    def limits(self) -> str:
        limit = self.given["window"] * 3 // 5 if self.given["has_own_compaction"] else 10_000_000
        return f"model_auto_compact_token_limit = {limit}\n"

    def command(self, turn: int) -> list:
        options = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
        options += ["-m", common.model(self.given, turn)]
        return ["codex", "exec", *options, *(["resume", "--last"] if turn > 1 else [])]


class CodexBuiltIn(Codex):
    """With the provider it comes with, at another address."""

    def __init__(self, given: dict):
        super().__init__(given)
        login = {"OPENAI_API_KEY": "test-key", "auth_mode": "apikey"}
        (self.home / "auth.json").write_text(json.dumps(login), "utf-8")

    def configuration(self) -> str:
        return f'openai_base_url = "{self.given["base_url"]}/v1"\n{self.limits()}'


class Pi(Agent):
    def __init__(self, given: dict):
        super().__init__(given)
        self.variables = {"PI_OFFLINE": "1"}
        api = {"pi-chat": "openai-completions", "pi-responses": "openai-responses", "pi-anthropic": "anthropic-messages"}[
            given["client"]
        ]
        base_url = given["base_url"] + ("" if api == "anthropic-messages" else "/v1")
        # With its own compaction it is told the window; without it believes that there is no end.
        window = given["window"] if given["has_own_compaction"] else 10_000_000
        names = [name for name in (given["model"], given.get("other_model")) if name]
        models = [
            {
                "id": name,
                "name": name,
                "reasoning": api != "openai-completions",
                "input": ["text"],
                "contextWindow": window,
                "maxTokens": 4000,
                "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
            }
            for name in names
        ]
        provider = {"baseUrl": base_url, "api": api, "apiKey": "test-key", "models": models}
        own = "anthropic" if api == "anthropic-messages" else "openai"
        self.provider = own if given["has_own_providers"] else "scripted"
        folder = self.home / ".pi" / "agent"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "models.json").write_text(json.dumps({"providers": {self.provider: provider}}), "utf-8")

    def command(self, turn: int) -> list:
        options = ["pi", "-p", "--provider", self.provider, "--model", common.model(self.given, turn)]
        if self.given["client"] != "pi-chat":
            options += ["--thinking", "low"]
        return [*options, *(["-c"] if turn > 1 else [])]


class OpenCode(Agent):
    def __init__(self, given: dict):
        super().__init__(given)
        self.variables = {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}
        self.provider = "openai" if given["has_own_providers"] else "scripted"
        window = given["window"] if given["has_own_compaction"] else 10_000_000
        names = [name for name in (given["model"], given.get("other_model")) if name]
        configuration = {
            "autoupdate": False,
            "share": "disabled",
            "small_model": f"{self.provider}/small",
            "compaction": {"auto": given["has_own_compaction"], "prune": given["has_own_compaction"]},
            "permission": {"bash": "allow", "edit": "allow"},
            "provider": {
                self.provider: {
                    "npm": "@ai-sdk/openai-compatible",
                    "name": "Scripted",
                    "options": {"baseURL": given["base_url"] + "/v1", "apiKey": "test-key"},
                    "models": {
                        name: {"name": name, "tool_call": True, "limit": {"context": window, "output": 4000}}
                        for name in [*names, "small"]
                    },
                }
            },
        }
        folder = self.home / ".config" / "opencode"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "opencode.json").write_text(json.dumps(configuration), "utf-8")

    def command(self, turn: int) -> list:
        options = ["opencode", "run", "--model", f"{self.provider}/{common.model(self.given, turn)}"]
        return [*options, *(["--continue"] if turn > 1 else [])]


AGENTS = {
    "claude-code": ClaudeCode,
    "codex": Codex,
    "codex-built-in": CodexBuiltIn,
    "pi-chat": Pi,
    "pi-responses": Pi,
    "pi-anthropic": Pi,
    "opencode": OpenCode,
}

if __name__ == "__main__":
    given = common.settings()
    common.drive(given, AGENTS[given["client"]](given).take_turn)
