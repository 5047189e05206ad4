"""mini-swe-agent: one task, as many steps as it takes. It has no second turn, so each turn is a task of its own."""

import os
from pathlib import Path

import common

os.environ.update(LITELLM_LOCAL_MODEL_COST_MAP="True", MSWEA_COST_TRACKING="ignore_errors", MSWEA_SILENT_STARTUP="1")


class MiniSweAgent:
    def __init__(self, given: dict):
        self.given = given
        home = Path(given["home"])
        home.mkdir(parents=True, exist_ok=True)
        os.environ["HOME"] = os.environ["MSWEA_GLOBAL_CONFIG_DIR"] = str(home)

    def take_turn(self, turn: int, prompt: str) -> str:
        import yaml
        from minisweagent import package_dir
        from minisweagent.agents.default import DefaultAgent
        from minisweagent.environments.local import LocalEnvironment
        from minisweagent.models.litellm_model import LitellmModel

        settings = yaml.safe_load((package_dir / "config" / "mini.yaml").read_text("utf-8"))
        options = {"api_base": self.given["base_url"] + "/v1", "api_key": "test-key", "num_retries": 4}
        model = LitellmModel(
            model_name=f"openai/{common.model(self.given, turn)}",
            **{**settings.get("model", {}), "model_kwargs": options},
        )
        known = {name: settings["agent"][name] for name in ("system_template", "instance_template")}
        agent = DefaultAgent(model, LocalEnvironment(cwd=self.given["work"]), **known, cost_limit=0, step_limit=0)
        rule = "" if turn == 1 else common.rule(self.given) + " "
        result = agent.run(rule + prompt)
        status = result.get("exit_status") if isinstance(result, dict) else result[0]
        if status != "Submitted":
            raise RuntimeError(f"ended with {status}: {result}"[-300:])
        # It has no last word but that it is done.
        return f"done-{self.given['run']}-{turn}"


if __name__ == "__main__":
    given = common.settings()
    common.drive(given, MiniSweAgent(given).take_turn)
