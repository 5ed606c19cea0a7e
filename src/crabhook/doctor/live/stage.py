"""Where the proof is played: a home, rules, a server and hooks that are nobody's."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep

from crabhook.doctor.probe import ask
from crabhook.doctor.processes import ProgramError, end, run
from crabhook.hook.client import Options

ALLOWED, DENIED = "allowed-by-crabhook-doctor", "denied-by-crabhook-doctor"
"""The files that the agent is to make: one may be made, the other may not."""

REASON = "crabhook doctor has denied this, to prove that it can"

RULES = f"""\
[[rule]]
verdict = "allow"
match = "Bash(touch {ALLOWED})"

[[rule]]
verdict = "deny"
match = "Bash(touch {DENIED})"
note = "{REASON}"
"""

WHERE = "/tmp"  # noqa: S108 - made for us alone; elsewhere a socket's path may be too long
_BEGINS = 20.0  # seconds for the server to listen
_INSTALLS = 20.0


@dataclass(frozen=True, slots=True)
class Stage:
    """A folder with all of it; `environment` is what every program of it runs in."""

    folder: Path

    @property
    def project(self) -> Path:
        """Where the agent works."""
        return self.folder / "project"

    @property
    def server(self) -> str:
        """The server's address."""
        return f"unix:{self.folder}/s"

    @property
    def environment(self) -> Mapping[str, str]:
        """Nothing of the user's but where programs are, and where Python finds us."""
        own = {
            "HOME": str(self.folder),
            "TMPDIR": str(self.folder / "tmp"),
            "XDG_RUNTIME_DIR": str(self.folder),
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
        }
        path = os.environ.get("PYTHONPATH")
        return own | {"PYTHONPATH": path} if path else own

    def write(self, name: str, content: object) -> None:
        """Write a file of the home, JSON unless it is text."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_text(text, encoding="utf-8")

    def add(self, name: str, content: Mapping[str, object]) -> None:
        """Add members to a JSON file of the home, such as settings that hold the hooks."""
        path = self.folder / name
        there = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        self.write(name, {**there, **content})


@contextmanager
def stage(agent: str) -> Iterator[Stage]:
    """Set the stage for an agent: server and hooks, gone at the end with all that was started.

    Raises ProgramError where that cannot be done.
    """
    with TemporaryDirectory(prefix="crabhook-live-", dir=WHERE, ignore_cleanup_errors=True) as name:
        one = Stage(Path(name))
        for folder in (one.project, one.folder / "tmp"):
            folder.mkdir()
        one.write(".config/crabhook/rules.toml", RULES)
        with _serving(one):
            words = ("install", agent, "--gate", "--fail-closed", "--server", one.server)
            done = run(_crabhook(*words), seconds=_INSTALLS, environment=one.environment)
            if done.code:
                raise ProgramError(f"the hooks could not be installed: {done.first_words}")
            yield one


@contextmanager
def _serving(one: Stage) -> Iterator[None]:
    words = ("serve", "--headless", "--otherwise", "deny", "--listen", one.server)
    log = one.folder / "serve.log"
    with log.open("wb") as file:
        process = subprocess.Popen(  # noqa: S603 - ourselves
            _crabhook(*words),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            env=dict(one.environment),
            start_new_session=True,
        )
        try:
            _await(one, process, log)
            yield
        finally:
            end(process)


def _await(one: Stage, process: "subprocess.Popen[bytes]", log: Path) -> None:
    """Wait until the server answers."""
    options = Options()
    options.server, until = one.server, monotonic() + _BEGINS
    while not ask(options).there:
        if process.poll() is not None or monotonic() > until:
            said = log.read_text("utf-8", "replace").strip().splitlines()[-1:]
            raise ProgramError(f"our own server did not begin: {' '.join(said) or 'no word why'}")
        sleep(0.05)


def _crabhook(*words: str) -> list[str]:
    """Return a command of this very crabhook; not one that lies where we were called."""
    return [sys.executable, "-P", "-m", "crabhook", *words]
