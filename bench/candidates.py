"""Our own hook as it is started in earnest, and the yardsticks it is held against."""

import json
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from shutil import which
from venv import EnvBuilder

from bench import goals
from bench.candidate import Candidate, Command
from bench.errors import BenchError
from bench.events import DECIDED_EVENT, OBSERVED_EVENT, new_call
from bench.serving import Server
from crabhook.install import program
from crabhook.model.card import Stance
from crabhook.platforms.claude.settings import groups
from crabhook.platforms.installation import Installation


def candidates(server: Server) -> list[Candidate]:
    """Return both; the names are those of bench.goals."""
    python = sys.executable
    gate = gate_installation()
    companion = replace(gate, stance=Stance.COMPANION)
    over_tls = replace(
        gate,
        server=f"127.0.0.1:{server.port}",
        token_file=server.token_file,
        tls_ca=server.authority,
    )
    true = which("true") or "/bin/true"
    yardsticks = {
        goals.TRUE: (true,),
        goals.SHELL: ("/bin/sh", "-c", true),
        goals.NOTHING: (python, "-c", "pass"),
        goals.NOTHING_AGAIN: (python, "-c", "pass"),
        goals.NOTHING_ELSEWHERE: (new_python(server.folder), "-c", "pass"),
        goals.BARE: (python, "-I", "-S", "-c", "pass"),
    }
    deciding = {
        goals.HELD: installed_command("PreToolUse", gate),
        goals.CONSOLE: (str(console_script()),),
        goals.TLS: installed_command("PreToolUse", over_tls),
    }
    return [
        *(Candidate(name, command) for name, command in yardsticks.items()),
        *(
            Candidate(name, command, partial(new_call, DECIDED_EVENT), "allow")
            for name, command in deciding.items()
        ),
        Candidate(
            goals.OBSERVED,
            installed_command("Stop", companion),
            partial(new_call, OBSERVED_EVENT),
        ),
        Candidate(
            goals.PASSED,
            installed_command("PreToolUse", companion),
            partial(new_call, DECIDED_EVENT),
        ),
    ]


def gate_installation() -> Installation:
    """Return what `crabhook install --gate` installs, by default otherwise."""
    return Installation(program.interpreter(), program.stub(), Stance.GATE)


def installed_command(event: str, installation: Installation) -> Command:
    """Return the command that `crabhook install` writes into the agent's settings for `event`."""
    group = json.loads(json.dumps(groups(installation)))[event]  # as settings are read
    handler = group["hooks"][0]
    return (handler["command"], *handler["args"])


def new_python(folder: Path) -> str:
    """Return the interpreter of an environment made in `folder`, with nothing installed in it."""
    EnvBuilder(symlinks=True).create(folder / "venv")
    return str(folder / "venv" / "bin" / "python")


def console_script() -> Path:
    """Return the path of the `crabhook` command beside this interpreter."""
    script = Path(sys.executable).with_name("crabhook")
    if not script.is_file():
        raise BenchError(f"there is no {script}: install crabhook into this environment")
    return script
