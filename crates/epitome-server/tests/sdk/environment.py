"""Makes a virtual environment with the official SDKs from PyPI, or takes the one of an earlier run.

    python3 environment.py FOLDER

When it fails, the last line on standard error says why.
"""

import fcntl
import subprocess
import sys
import venv
from pathlib import Path

PACKAGES = ["openai", "anthropic"]


def main() -> None:
    folder = Path(sys.argv[1])
    python = folder / "bin" / "python"
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Two test runs at once must not install into the same folder.
    with open(folder.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if python.exists() and imports(python) is None:
            return
        venv.create(folder, clear=True, with_pip=True)
        done = run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES)
        if done.returncode != 0:
            sys.exit(f"pip cannot install {' and '.join(PACKAGES)}: {last_line(done.stderr)}")
        if problem := imports(python):
            sys.exit(f"the SDKs are installed but do not work: {problem}")


def imports(python: Path) -> str | None:
    """Why the SDKs cannot be used, or nothing when they can."""
    done = run(python, "-c", f"import {', '.join(PACKAGES)}")
    return None if done.returncode == 0 else last_line(done.stderr)


def run(*command) -> subprocess.CompletedProcess:
    return subprocess.run(command, capture_output=True, text=True)


def last_line(text: str) -> str:
    return next((line for line in reversed(text.splitlines()) if line.strip()), "no reason given")


if __name__ == "__main__":
    main()
