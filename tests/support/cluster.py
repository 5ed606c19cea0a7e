"""A PostgreSQL of the tests' own: made in a temporary folder, run by a user who is not root, removed.

Where its programs are not installed the tests that need it say so; in CI they fail.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import closing, contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crabhook.store.postgres.connection import ConnectionThread, connect
from tests.support.isolation import ending_with_us
from tests.support.requirements import leave_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_PLACES = Path("/usr/lib/postgresql")
MISSING = (
    "PostgreSQL's own programs (initdb, postgres; Debian's package postgresql) and asyncpg "
    "(pip install --editable '.[cluster]') are needed for this test"
)
_SETTINGS = (
    *("fsync=off", "full_page_writes=off", "listen_addresses=", "max_connections=40"),
    *("shared_buffers=16MB", "wal_level=replica", "max_wal_senders=4", "autovacuum=off"),
)


_ANOTHER = ("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--")


@cache
def programs() -> Path | None:
    """The folder of PostgreSQL's own programs, the newest; None where there is none."""
    found = shutil.which("postgres")
    places = [*sorted(_PLACES.glob("*/bin"), reverse=True)]
    places += [Path(found).resolve().parent] if found else []
    return next((one for one in places if (one / "initdb").exists()), None)


def require() -> Path:
    """Return PostgreSQL's programs, or skip the test; fail it in CI."""
    found = programs() if find_spec("asyncpg") else None
    if found is None:
        leave_out(MISSING)
    return found


def _other_user() -> dict[str, Any]:
    """How a process is started by somebody who is not root, whom PostgreSQL refuses to be run by."""
    return {"user": "nobody", "group": "nogroup", "extra_groups": ()} if os.geteuid() == 0 else {}


class Cluster:
    """One server of PostgreSQL, reached by a Unix socket in its folder.

    `inside` is a command that runs another on another machine's network, as root.
    """

    def __init__(
        self, bins: Path, settings: Sequence[str] = (), inside: Sequence[str] = ()
    ) -> None:
        self._bins, self._settings = bins, (*_SETTINGS, *settings)
        self._inside = list(inside)
        self.folder = Path(tempfile.mkdtemp(prefix="crabhook-pg-", dir="/tmp"))
        if os.geteuid() == 0:
            shutil.chown(self.folder, "nobody", "nogroup")
        self.data = self.folder / "data"
        self._server: subprocess.Popen[bytes] | None = None

    def make(self, *more: str, lets_in: str = "") -> None:
        """Make an empty cluster, with more options of initdb, and start it.

        Without a password it lets in who comes by the socket, and from the network `lets_in`.
        """
        options = ("-A", "trust", "-U", "crabhook", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
        self._run("initdb", *options, *more, "-D", str(self.data))
        if lets_in:
            with (self.data / "pg_hba.conf").open("a", encoding="ascii") as file:
                file.write(f"host all all {lets_in} trust\n")
        self.start()

    def copy_of(self, other: Cluster) -> None:
        """Make a replica of another cluster, and start it."""
        self._run(
            *("pg_basebackup", "-h", str(other.folder), "-U", "crabhook", "-D", str(self.data)),
            *("-R", "--checkpoint=fast", "--no-sync"),
        )
        self.start()

    def start(self) -> None:
        """Start the server, unless it runs, and wait until it lets us in."""
        if self._server is not None:
            return
        given = [part for one in self._settings for part in ("-c", one)]
        command = [str(self._bins / "postgres"), "-D", str(self.data), "-k", str(self.folder)]
        with (self.folder / "log").open("ab") as log:
            self._server = subprocess.Popen(
                [*self._inside, *_ANOTHER, *ending_with_us([*command, *given])]
                if self._inside
                else ending_with_us([*command, *given]),
                stdout=log,
                stderr=log,
                cwd=self.folder,
                **({} if self._inside else _other_user()),
            )
        end = time.monotonic() + 60
        while not self._answers():
            if time.monotonic() > end or self._server.poll() is not None:
                raise RuntimeError((self.folder / "log").read_text())
            time.sleep(0.02)

    @property
    def runs(self) -> bool:
        """Whether the server runs, as far as it has not ended by itself."""
        return self._server is not None and self._server.poll() is None

    def stop(self, how: int = signal.SIGQUIT) -> None:
        """Stop the server: at once (SIGQUIT, as `pg_ctl stop -m immediate`), or in good order."""
        if self._server is not None:
            self._server.send_signal(how)
            self._server.wait(60)
            self._server = None

    def remove(self) -> None:
        """Stop, and leave nothing."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, database: str = "postgres") -> str:
        """The address of one of its databases."""
        return f"postgresql://crabhook@/{database}?host={self.folder}"

    def sql(self, *statements: str, database: str = "postgres") -> list[Any]:
        """Do this, each by itself; return the rows of the last."""
        thread = ConnectionThread(self.url(database))
        try:
            return thread.wait(_done(self.url(database), statements))
        finally:
            thread.close()

    def emptied(self) -> str:
        """Return the address of a database without a record, and without anybody in it."""
        self.sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'",
            "DROP SCHEMA IF EXISTS crabhook CASCADE",
        )
        return self.url()

    def _answers(self) -> bool:
        ready: list[str | Path] = [
            self._bins / "pg_isready",
            "-q",
            "-h",
            self.folder,
            "-U",
            "crabhook",
        ]
        return subprocess.run(ready, check=False).returncode == 0

    def _run(self, program: str, *options: str) -> None:
        done = subprocess.run(
            [self._bins / program, *options],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
            **_other_user(),
        )
        if done.returncode:
            raise RuntimeError(f"{program}: {done.stderr}")


async def _done(url: str, statements: Sequence[str]) -> list[Any]:
    connection = await connect(url)
    try:
        rows: list[Any] = []
        for statement in statements:
            rows = await connection.fetch(statement)
        return rows
    finally:
        await connection.close()


@contextmanager
def held_up(cluster: Cluster) -> Iterator[Callable[[], None]]:
    """Let no commit of any server end while the block lasts; what it yields ends that sooner."""
    with closing(ConnectionThread(cluster.url())) as thread:
        connection = thread.wait(connect(cluster.url()))
        try:
            thread.wait(connection.execute("BEGIN"))
            thread.wait(connection.fetch("SELECT FROM crabhook.head FOR UPDATE"))
            yield lambda: thread.wait(connection.close())
        finally:
            thread.wait(connection.close())


@contextmanager
def running() -> Iterator[Cluster]:
    """A cluster that runs while the block lasts; without its programs the test is left out."""
    made = Cluster(require())
    try:
        made.make()
        yield made
    finally:
        made.remove()
