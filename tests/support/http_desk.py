"""A plain desk with the HTTP door open, and hooks that come by it as an agent's would."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from tests.support.client import sample
from tests.support.plain_desk import PlainDesk

if TYPE_CHECKING:
    from collections.abc import Mapping

PATH = "/hooks/claude"
LOOPBACK = "127.0.0.1"


def call(command: str, **changes: Any) -> bytes:
    """The input of a call that waits at the gate."""
    name = "PreToolUse-Bash"
    return sample(name, tool_input={"command": command}, cwd="/nowhere/project", **changes)


@dataclass(frozen=True)
class Said:
    """An answer over HTTP."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def output(self) -> Any:
        """The JSON that the agent reads."""
        return json.loads(self.body)


class HttpDesk(PlainDesk):
    """`crabhook serve --plain --http`, on a port of the system's choice unless one is named."""

    def __init__(self, *options: str, http: str = f"{LOOPBACK}:0", **environment: str) -> None:
        super().__init__("--http", http, *options, **environment)
        self._lines_open: list[Line] = []

    def start(self) -> None:
        """Start it, and remember where its door is."""
        super().start()
        self.url = self.wait_for(r"\bhttps?://[^\s,]+", again=True).group()

    def __exit__(self, *how: object) -> None:
        for line in self._lines_open:
            line.close()
        super().__exit__(*how)

    @property
    def port(self) -> int:
        """Its port."""
        return int(self.url.rpartition(":")[2])

    @property
    def token(self) -> str:
        """What it wants to be shown."""
        kept = self.folder / ".local" / "state" / "crabhook" / "token"
        return kept.read_text(encoding="ascii").strip()

    @property
    def headers(self) -> dict[str, str]:
        """What an agent's hook sends, in the order that it does."""
        return {
            "Host": f"{LOOPBACK}:{self.port}",
            "Content-Type": "application/json",
            "Authorization": f"Bearer {self.token}",
        }

    def hold(self, event: str, words: str) -> None:
        """Let the next event of this name wait, and say these words about it when it comes."""
        self.say(f"hold {event} times=1")
        self.wait_for(f"desk: hold {event} times=1$")

        def wait_and_say() -> None:
            number = self.wait_for(rf"^#(\d+) {event} ").group(1)
            self.say(f"{number} {words}")

        self._helpers.append(threading.Thread(target=wait_and_say))
        self._helpers[-1].start()

    def line(self) -> Line:
        """Connect; the connection is closed with the desk."""
        self._lines_open.append(Line(self.port))
        return self._lines_open[-1]

    def ask(self, payload: bytes, **headers: str) -> Asking:
        """Send a hook's input on a connection of its own, and go on while it waits."""
        return Asking(self, payload, {name.replace("_", "-"): one for name, one in headers.items()})

    def send(
        self,
        payload: bytes = b"",
        method: str = "POST",
        path: str = PATH,
        without: tuple[str, ...] = (),
        **headers: str,
    ) -> Said:
        """Send a request, its headers changed or left out, and return its answer."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {name: value for name, value in self.headers.items() if name not in without}
        line = self.line()
        line.send(method, path, sent | named, payload)
        return line.answer()


class Line:
    """One connection: whatever bytes are sent, and the answers read."""

    def __init__(self, port: int, host: str = LOOPBACK) -> None:
        self.socket = socket.create_connection((host, port), timeout=60)
        self._answers: BinaryIO | None = None  # one for all: it may have read ahead

    def send(self, method: str, path: str, headers: Mapping[str, str], payload: bytes) -> None:
        """Send a request whole."""
        named = dict(headers)
        if "Transfer-Encoding" not in named:
            named.setdefault("Content-Length", str(len(payload)))
        head = "".join(f"{name}: {value}\r\n" for name, value in named.items())
        self.raw(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + payload)

    def raw(self, data: bytes) -> None:
        """Send bytes, as many as are taken."""
        self.socket.sendall(data)

    def answer(self) -> Said:
        """Read one answer."""
        if self._answers is None:
            self._answers = self.socket.makefile("rb")
        version, _, rest = self._answers.readline().partition(b" ")
        if not version.startswith(b"HTTP/1."):
            raise ConnectionResetError(f"no answer, but {version!r}")
        named = http.client.parse_headers(self._answers)
        headers = {name.lower(): value for name, value in named.items()}
        body = self._answers.read(int(headers["content-length"]))
        return Said(int(rest.split()[0]), headers, body)

    def ended(self) -> bool:
        """Wait for the other end to close; whether it sent nothing before."""
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def close(self) -> None:
        """Hang up."""
        if self._answers is not None:
            with suppress(OSError):  # so that whoever reads it lets go of it
                self.socket.shutdown(socket.SHUT_RDWR)
            self._answers.close()
        self.socket.close()


class Asking:
    """A hook that waits for its answer."""

    def __init__(self, desk: HttpDesk, payload: bytes, headers: Mapping[str, str]) -> None:
        self.line = desk.line()
        self.line.send("POST", PATH, desk.headers | dict(headers), payload)
        self._said: list[Said | OSError] = []
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    def _read(self) -> None:
        try:
            self._said.append(self.line.answer())
        except OSError as error:
            self._said.append(error)

    def answer(self, seconds: float = 60) -> Said:
        """Wait for the answer."""
        self._reading.join(seconds)
        (said,) = self._said
        if isinstance(said, OSError):
            raise said
        return said
