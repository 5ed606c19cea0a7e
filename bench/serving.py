"""A server process of one's own: started in a private folder, listened to, ended."""

import os
import select
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import IO

import trustme

from bench.errors import BenchError
from bench.outside import resident
from bench.server import AUTHORITY, BRIDGE, CERTIFICATE, KEY, TOKEN

TOP = Path(__file__).parents[1]
_PATIENCE = 60  # seconds for a line that is due


@dataclass(frozen=True, slots=True)
class Told:
    """A child of ours that tells us lines, and ends when its standard input does."""

    process: subprocess.Popen[bytes]

    def line(self, first_word: str) -> list[str]:
        """Return the words after `first_word`, which the next line has to begin with."""
        stream = self._stream(self.process.stdout)
        ready, _, _ = select.select([stream], [], [], _PATIENCE)
        words = stream.readline().decode().split() if ready else []
        if words[:1] != [first_word]:
            said = " ".join(words) or "nothing"
            raise BenchError(f"{self.process.args!r} said {said!r} where {first_word!r} was due")
        return words[1:]

    def say(self, line: str) -> None:
        """Tell it a line."""
        self._stream(self.process.stdin).write(f"{line}\n".encode())

    def end(self) -> None:
        """Close its standard input: it may still have a last line to say."""
        self._stream(self.process.stdin).close()

    @staticmethod
    def _stream(stream: IO[bytes] | None) -> IO[bytes]:
        assert stream is not None  # noqa: S101 - both are pipes, see `child`
        return stream


@contextmanager
def child(module: str, *arguments: str, environment: dict[str, str]) -> Iterator[Told]:
    """Run one of our modules as a process that does not outlive the context."""
    command = (sys.executable, "-m", module, *arguments)
    with talker(command, environment=environment) as told:
        yield told


@contextmanager
def talker(command: Sequence[str], *, environment: Mapping[str, str]) -> Iterator[Told]:
    """Run a command that can be told lines, as a process that does not outlive the context."""
    process = subprocess.Popen(  # noqa: S603 - our own programs
        command,
        cwd=TOP,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,  # so that select knows of everything that was said
    )
    with process:
        try:
            yield Told(process)
        finally:
            process.kill()


@dataclass(frozen=True, slots=True)
class Server:
    """A server that runs; `environment` is what a hook needs to find its socket."""

    told: Told
    folder: Path
    port: int
    http_port: int
    environment: dict[str, str]

    @property
    def socket(self) -> str:
        """Where it listens, as gRPC writes it."""
        return f"unix:{self.folder}/crabhook/crabhook.sock"

    @property
    def token_file(self) -> str:
        """What clients beyond the socket show."""
        return str(self.folder / TOKEN)

    @property
    def bridge(self) -> str:
        """The path of the harness bridge's socket."""
        return str(self.folder / BRIDGE)

    @property
    def url(self) -> str:
        """Where hooks of type `http` post."""
        return f"http://127.0.0.1:{self.http_port}/hooks/claude"

    @property
    def authorization(self) -> str:
        """What they show in the header `Authorization`."""
        return f"Bearer {Path(self.token_file).read_text(encoding='ascii').strip()}"

    @property
    def header_file(self) -> str:
        """The same header in a file, which curl reads without the token on its command line."""
        file = self.folder / "header"
        file.write_text(f"Authorization: {self.authorization}\n", encoding="ascii")
        return str(file)

    @property
    def authority(self) -> str:
        """The certificate to know it by."""
        return str(self.folder / AUTHORITY)

    def resident(self) -> int | None:
        """Return the bytes of memory it takes; None where the system does not tell in /proc."""
        return resident(self.told.process.pid)


@contextmanager
def running_server() -> Iterator[Server]:
    """Start a server and end it with the context; nothing of it is left."""
    folder = Path(mkdtemp(prefix="bench-"))
    try:
        _certify(folder)
        environment = plain_environment() | {"XDG_RUNTIME_DIR": str(folder)}
        with child("bench.server", str(folder), environment=environment) as told:
            port, http_port = map(int, told.line("ready"))
            yield Server(told, folder, port, http_port, environment)
    finally:
        shutil.rmtree(folder)


def plain_environment() -> dict[str, str]:
    """Return the environment without what would make Python or the hook other than usual."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "CRABHOOK_"))
    }


def _certify(folder: Path) -> None:
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1")
    authority.cert_pem.write_to_path(folder / AUTHORITY)
    certificate.private_key_pem.write_to_path(folder / KEY)
    for pem in certificate.cert_chain_pems:
        pem.write_to_path(folder / CERTIFICATE, append=True)
