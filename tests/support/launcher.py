"""The first process of an isolated run: the scripted model in a thread, the agent as a child.

Run as `python -m tests.support.launcher PLAN` under `isolation.isolated`. The plan is a JSON file:
command, folder, environment, script, record, seconds. When this process ends, by itself or by
any signal, nothing of the run is left. A plan may also name the `api` its agent speaks to its
model, a key of APIS; Claude Code's is the one that is meant otherwise. Its
`doors` are ports of the loopback, each with the socket that leads to the same port outside.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

from tests.support.codex_model import CodexHandler
from tests.support.gemini_model import GeminiHandler
from tests.support.isolation import raise_loopback
from tests.support.passage import inside
from tests.support.qwen_model import QwenHandler
from tests.support.scripted_model import ModelHandler, ModelServer, Playback
from tests.support.turns import Script

APIS = {
    "claude": ("ANTHROPIC_BASE_URL", ModelHandler),
    "codex": ("SCRIPTED_MODEL", CodexHandler),
    "gemini": ("GOOGLE_GEMINI_BASE_URL", GeminiHandler),
    "qwen": ("OPENAI_BASE_URL", QwenHandler),
    "copilot": ("COPILOT_PROVIDER_BASE_URL", QwenHandler),  # it speaks the same
    "opencode": ("SCRIPTED_MODEL", QwenHandler),
}
"""Each way to speak to a model: the variable that says where it is, and who answers there."""

OUT_OF_TIME = 124
"""The exit code of a run that took too long, as timeout(1) has it."""


def out_of_time(*_: object) -> NoReturn:
    """End the whole run at once."""
    os._exit(OUT_OF_TIME)


def run_agent(plan: dict[str, Any], where: dict[str, str]) -> int:
    """Start the agent and wait for it, burying the orphans that come to us meanwhile."""
    environment = plan["environment"] | where
    agent = subprocess.Popen(plan["command"], cwd=plan["folder"], env=environment)
    while True:
        gone, status = os.wait()
        if gone == agent.pid:
            agent.returncode = os.waitstatus_to_exitcode(status)
            return agent.returncode if agent.returncode >= 0 else 128 - agent.returncode


def main() -> int:
    """Carry out the plan named on the command line; exit as the agent did."""
    signal.signal(signal.SIGALRM, out_of_time)
    signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C in the terminal is the agent's to take
    plan = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    signal.alarm(plan["seconds"])
    raise_loopback()
    for port, path in plan.get("doors", {}).items():
        inside(int(port), path)
    playback = Playback(Script.from_json(json.dumps(plan["script"])), Path(plan["record"]))
    variable, handler = APIS[plan.get("api", "claude")]
    with ModelServer(playback, handler) as model:
        return run_agent(plan, {variable: model.address})


if __name__ == "__main__":
    sys.exit(main())
