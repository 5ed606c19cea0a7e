"""A true server with a web desk, and true hooks that ask it; ann is in, and holds a passkey."""

from __future__ import annotations

import base64
import os
import shutil
import socket
import tempfile
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import TYPE_CHECKING, Any, Self

from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from crabhook.model.actor import Role
from crabhook.team.web_enrolling import CommandSide
from tests.support.authenticator import Authenticator
from tests.support.client import Client, sample
from tests.support.service import Service
from tests.support.team import founded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crabhook.team.membership import Member, Passkey, Team

HOST = "crabhook.localhost"


def free_port() -> int:
    return free_ports(1)[0]


def free_ports(count: int) -> list[int]:
    """Return ports that nobody listens at, each another."""
    with ExitStack() as lines:
        opened = [lines.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [int(line.getsockname()[1]) for line in opened]


class WebHouse:
    """The server lasts for the `with` block, and so do the hooks that it asks by.

    `home` is the server's, where it is an agent's own: plans are read there.
    """

    def __init__(self, home: Path | None = None, settings: str = "", rules: str = "") -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="crabhook-web-", dir="/tmp"))
        self.home = home or self.folder
        for name, text in (("settings.toml", settings), ("rules.toml", rules)):
            if text:
                file = self.home / ".config" / "crabhook" / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
        self.port, desks = free_ports(2)
        self.desks = f"127.0.0.1:{desks}"
        self.origin = f"http://{HOST}:{self.port}"
        self.key = Authenticator(rp=HOST, origin=self.origin)
        self.team = founded(self.home / ".local/state/crabhook/team", time.time())
        self.team.let_in("ann", Role.ADMIN)
        self.let_in(replace(self.key.passkey("phone"), confirmed=True))
        ways = ("--web", f"127.0.0.1:{self.port}", "--operators", self.desks)
        self._ways = ("--no-desk", *ways, "--log-level", "info")
        self.service = Service(*self._ways, folder=self.folder, HOME=str(self.home))
        self._asked = list[Client]()

    def __enter__(self) -> Self:
        try:
            self.service.__enter__()
        except BaseException:
            shutil.rmtree(self.folder)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.end_hooks()
        self.service.__exit__()
        shutil.rmtree(self.folder)

    # The server.

    def stop(self) -> None:
        """Kill the server, which hooks wait for; `start` brings it back at the same address."""
        self.service.__exit__()

    def start(self) -> None:
        self.service = Service(*self._ways, folder=self.folder, HOME=str(self.home))
        self.service.__enter__()

    def start_of(self, *, web: bool) -> float:
        """Return how many seconds of a processor a server of this home takes to listen.

        It is killed then. What else runs on the machine hardly changes this.
        """
        place = self._ways.index("--web")
        ways = self._ways if web else (*self._ways[:place], *self._ways[place + 2 :])
        before = getrusage(RUSAGE_CHILDREN)
        with Service(*ways, folder=self.folder, HOME=str(self.home)):
            pass
        after = getrusage(RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def memory(self) -> int:
        """Return how many KiB of the server are in memory."""
        status = Path(f"/proc/{self.service.process.pid}/status").read_text("ascii")
        return next(int(line.split()[1]) for line in status.splitlines() if "VmRSS" in line)

    # The team.

    def let_in(self, passkey: Passkey) -> None:
        """Add a passkey of ann's."""
        self._change(lambda ann: replace(ann, passkeys=(*ann.passkeys, passkey)))

    def revoke(self, name: str) -> None:
        """Revoke the passkey of a name."""
        now = int(time.time())
        self._change(
            lambda ann: replace(
                ann,
                passkeys=tuple(
                    replace(key, revoked=now) if key.name == name else key for key in ann.passkeys
                ),
            )
        )

    def _change(self, with_change: Any) -> None:
        def changed(team: Team) -> Team:
            members = (with_change(one) if one.name == "ann" else one for one in team.members)
            return replace(team, members=tuple(members))

        self.team.change(changed)

    def invite(self) -> CommandSide:
        """Open an invitation for ann, as `crabhook team invite ann --web` does."""
        team: Any = self.team.reader().current()
        ann: Member = next(one for one in team.members if one.name == "ann")
        return CommandSide(self.team.folder, team, ann, self.origin, time.time())

    @property
    def credential(self) -> Mapping[str, Any]:
        """The passkey as a virtual authenticator takes it in."""
        key = self.key.private.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
        return {
            "credentialId": base64.b64encode(self.key.credential).decode(),
            "isResidentCredential": True,
            "rpId": HOST,
            "privateKey": base64.b64encode(key).decode(),
            "userHandle": base64.b64encode(b"o-ann").decode(),
            "signCount": 0,
        }

    # Agents.

    def asks(self, name: str = "PreToolUse-Bash", *, call: str = "", **fields: Any) -> Client:
        """Let an agent ask by a true hook; `fields` are changed in the recorded input."""
        call = call or f"toolu_{len(self._asked):04d}{os.urandom(4).hex()}"
        more = {"tool_use_id": call} if "Tool" in name or "Permission" in name else {}
        hook = Client(self.service.address, sample(name, **more, **fields))
        self._asked.append(hook)
        return hook

    def runs(self, command: str, **fields: Any) -> Client:
        """Let an agent ask for a command."""
        return self.asks(tool_input={"command": command}, **fields)

    def end_hooks(self) -> None:
        """End the hooks that still wait: their cards go."""
        for hook in self._asked:
            if hook.poll() is None:
                hook.kill()
            hook.communicate()
        self._asked.clear()
