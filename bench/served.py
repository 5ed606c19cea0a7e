"""The real `crabhook serve` as a process: in a home of its own, with the record on and rules."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from secrets import token_hex
from tempfile import mkdtemp
from time import monotonic, sleep, time

from bench.candidates import console_script
from bench.errors import BenchError
from bench.serving import plain_environment
from crabhook.cli.team.inviting import let_in
from crabhook.team.certificates import sealed
from crabhook.team.changes import invitable
from crabhook.team.desk_keys import DeskKeys, keep
from crabhook.team.invitation import Joining, Joins
from crabhook.team.membership import Role, Scope, Team
from crabhook.team.team_file import Folder, found

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
    def address(self) -> str:
        """The same, as gRPC writes it."""
        return f"unix:{self.path}"

    @property
    def environment(self) -> Mapping[str, str]:
        """What makes it the home of a process; a hook then finds the socket without being told."""
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

    def http_port(self) -> int:
        """Return the port of the HTTP door, which the server here has said."""
        found = re.search(rb"http://127\.0\.0\.1:(\d+)", (self.folder / "said").read_bytes())
        if found is None:
            raise BenchError("the server does not say where its HTTP door is")
        return int(found[1])

    def authorization(self) -> str:
        """Return what a hook shows at the HTTP door."""
        token = self.folder / "state" / "crabhook" / "token"
        return f"Bearer {token.read_text(encoding='ascii').strip()}"

    def check_record(self, least: int) -> None:
        """Raise BenchError unless a server of this home recorded that much, in bytes."""
        files = (self.folder / "state" / "crabhook").glob("record.db*")
        size = sum(file.stat().st_size for file in files)
        if size < least:
            raise BenchError(f"the record holds {size} bytes, where {least} were due at least")


@contextmanager
def new_home() -> Iterator[Home]:
    """Make a home that is gone with the context."""
    folder = Path(mkdtemp(prefix="bench-", dir="/tmp"))  # a socket's path has to be short
    try:
        yield Home(folder)
    finally:
        shutil.rmtree(folder)


def serve_command(*options: str) -> tuple[str, ...]:
    """Return the command that an operator starts."""
    return (str(console_script()), "serve", *options)


@contextmanager
def headless(home: Home, *options: str) -> Iterator[int]:
    """Run the plain desk with nobody at it, from when it listens; yields its process.

    What it prints goes to a file, as it would go to a log.
    """
    said = home.folder / "said"
    with (
        said.open("wb") as output,
        subprocess.Popen(  # noqa: S603 - our own command
            serve_command("--plain", *options),
            env=home.environment,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
        ) as server,
    ):
        try:
            _await_listening(server, said)
            yield server.pid
        finally:
            end(server)


@contextmanager
def team_of_one(home: Home) -> Iterator[str]:
    """Serve desks, and let one device into the team; yields its passphrase."""
    folder, passphrase = Folder(home.folder / "state" / "crabhook" / "team"), token_hex(8)
    seal = partial(sealed, passphrase=passphrase)
    authority = found(folder, "bench", ("localhost", "127.0.0.1"), seal, time())
    said, place = home.folder / "said", ("--operators", "127.0.0.1:0")
    with (
        said.open("wb") as output,
        subprocess.Popen(  # noqa: S603 - our own command
            serve_command("--no-desk", *place),
            env=home.environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        ) as server,
    ):
        try:
            _await_listening(server, said, b" for desks")
            at = re.search(rb"(127\.0\.0\.1:\d+) for desks", said.read_bytes())
            if at is None:
                raise BenchError(f"the server takes no desks: {said.read_bytes()!r}")
            keys, member = (
                DeskKeys.new(closing=False),
                invitable(Team("", "", 0), "ann", Role.ADMIN, Scope()),
            )
            who = Joining(Joins.DESK, *keys.requests(), "bench")
            joined = let_in(folder, authority, member, at[1].decode(), who)
            keep(home.folder / "config" / "crabhook", keys, joined, who.name, seal)
            yield passphrase
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


def _await_listening(server: subprocess.Popen[bytes], said: Path, sign: bytes = LISTENING) -> None:
    by = monotonic() + _PATIENCE
    while sign not in said.read_bytes():
        if server.poll() is not None or monotonic() > by:
            raise BenchError(f"crabhook serve does not listen; it said {said.read_bytes()!r}")
        sleep(_LOOK_EVERY)


def last_said(home: Home) -> str:
    """Return the end of what a headless server of this home has printed."""
    with (home.folder / "said").open("rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(file.tell() - 2000, 0))
        return file.read().decode(errors="replace")
