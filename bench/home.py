"""The real `crabhook serve` as a process, in a home of its own, and the installed hook."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep

from bench.process import BenchError, plain_environment
from crabhook.install import program
from crabhook.model.card import Stance
from crabhook.platforms import PLATFORMS
from crabhook.platforms.claude.settings import groups
from crabhook.platforms.installation import Installation

LISTENING = b"listening on"
_PATIENCE = 60.0  # seconds until it listens, or has ended
_LOOK_EVERY = 0.005


@dataclass(frozen=True, slots=True)
class Home:
    """A folder that is all a server and its hooks know of the user."""

    folder: Path

    @property
    def path(self) -> str:
        """Where a server of this home listens."""
        return f"{self.folder}/crabhook/crabhook.sock"

    @property
    def environment(self) -> Mapping[str, str]:
        """What makes it the home of a process; a hook then finds the socket by itself."""
        return plain_environment() | {
            "HOME": str(self.folder),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "XDG_CONFIG_HOME": f"{self.folder}/config",
            "XDG_RUNTIME_DIR": str(self.folder),
            "XDG_STATE_HOME": f"{self.folder}/state",
        }

    def keep_rules(self, text: str) -> None:
        """Make these the user's own rules."""
        file = self.folder / "config" / "crabhook" / "rules.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def check_record(self, least: int) -> None:
        """Raise BenchError unless a server of this home recorded that much, in bytes."""
        files = (self.folder / "state" / "crabhook").glob("record.db*")
        size = sum(file.stat().st_size for file in files)
        if size < least:
            raise BenchError(f"the record holds {size} bytes, where {least} were due at least")


@contextmanager
def new_home() -> Iterator[Home]:
    """Make a home that is gone with the context."""
    with TemporaryDirectory(prefix="bench-", dir="/tmp") as folder:  # a socket's path is short
        yield Home(Path(folder))


def console_script() -> str:
    """Return the path of the `crabhook` command beside this interpreter."""
    script = Path(sys.executable).with_name("crabhook")
    if not script.is_file():
        raise BenchError(f"there is no {script}: install crabhook into this environment")
    return str(script)


def serve_command(*options: str) -> tuple[str, ...]:
    """Return the command that an operator starts."""
    return (console_script(), "serve", *options)


@contextmanager
def headless(home: Home, *options: str) -> Iterator[int]:
    """Run the plain desk with nobody at it, from when it listens; yields its process.

    What it prints goes to a file, as it would go to a log.
    """
    log = home.folder / "log"
    with (
        log.open("wb") as output,
        subprocess.Popen(  # noqa: S603 - our own command
            serve_command("--plain", *options),
            env=home.environment,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
        ) as server,
    ):
        try:
            by = monotonic() + _PATIENCE
            while LISTENING not in log.read_bytes():
                if server.poll() is not None or monotonic() > by:
                    raise BenchError(f"crabhook serve does not listen: {log.read_bytes()!r}")
                sleep(_LOOK_EVERY)
            yield server.pid
        finally:
            end(server)


def end(server: subprocess.Popen[bytes]) -> None:
    """End a server as an operator does who goes, or kill it if it does not."""
    if server.stdin is not None:
        server.stdin.close()
    else:
        server.terminate()
    try:
        server.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        server.kill()


def gate_installation() -> Installation:
    """Return what `crabhook install --gate` installs, by default otherwise."""
    return Installation(program.interpreter(), program.stub(), Stance.GATE)


def installed_command(event: str, installation: Installation) -> tuple[str, ...]:
    """Return the command that `crabhook install` writes into the agent's settings for `event`."""
    group = json.loads(json.dumps(groups(installation)))[event]  # as settings are read
    handler = group["hooks"][0]
    return (handler["command"], *handler["args"])


def shell_command(platform: str, event: str) -> tuple[str, ...]:
    """Return what an agent's shell runs by the line of `crabhook install PLATFORM --gate`."""
    group = json.loads(json.dumps(PLATFORMS[platform].settings.groups(gate_installation())))[event]
    handler = group["hooks"][0] if "hooks" in group else group
    return ("/bin/sh", "-c", handler["command"])


def decision_in(stdout: bytes) -> str | None:
    """Return the decision a hook printed; None when it printed nothing."""
    if not stdout:
        return None
    try:
        decision = json.loads(stdout)["hookSpecificOutput"]["permissionDecision"]
    except (ValueError, LookupError, TypeError):
        return "unreadable"
    return str(decision)
