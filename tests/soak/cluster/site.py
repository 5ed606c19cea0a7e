"""Where a cluster runs: machines of its own for PostgreSQL, two servers, the hooks, and the desks."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import asyncpg

from crabhook.model.actor import Role
from crabhook.store.interface import StoreError
from tests.soak.jobs import RULES
from tests.support import altered_server
from tests.support.cluster import Cluster, programs
from tests.support.isolation import ending_with_us
from tests.support.machines import Machines
from tests.support.smalldisk import fill, free
from tests.support.team import founded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DATABASE, SERVERS, HOOKS, DESKS = "db", ("a", "b"), "hooks", "desks"
HOOKS_PORT, DESKS_PORT = 7443, 7444
DECIDERS, WATCHER = ("ann", "cem"), "bob"
DISK = 160  # megabytes for PostgreSQL's data: enough for a run, until it is filled
ALONE = 600  # seconds that requests wait with nobody at a desk: longer than any run's hook
SMALL = ("--wal-segsize=1",)
SETTINGS = (
    *("fsync=on", "full_page_writes=on"),  # as where the record is real
    *("min_wal_size=2MB", "max_wal_size=8MB", "track_commit_timestamp=on"),
    "log_line_prefix=%t [%p] ",
)
KEPT_EVERY = 1.0  # seconds after which a server that ended by itself begins again
LEADS_WITHIN = 40.0  # seconds; the machine may have other work
_LEADER = """
SELECT leader, epoch FROM crabhook.head
WHERE EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted)
"""


class ServerHere:
    """`crabhook serve` on a machine of its own, in one life after the other on the same home."""

    def __init__(self, name: str, site: Site) -> None:
        self.name, self._site = name, site
        self.folder = site.folder / name
        self.log = self.folder / "log"
        self._clock = self.folder / "clock"
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.RLock()
        self._kept = False
        self.ended: list[int] = []
        self.folder.mkdir()
        self.set_clock(0)

    def __repr__(self) -> str:
        return f"<ServerHere {self.name} {'runs' if self.runs else 'ended'}>"

    @property
    def environment(self) -> Mapping[str, str]:
        """What it, and commands about its home, run in."""
        home = {"HOME": str(self.folder), "XDG_RUNTIME_DIR": str(self.folder)}
        return {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **home}

    @property
    def runs(self) -> bool:
        """Whether its process is there."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        """The number of its process, as its row in the record names it too; 0 for none."""
        return self._process.pid if self._process is not None else 0

    def set_clock(self, ahead: float) -> None:
        """Move its wall clock to that many seconds ahead of the true one."""
        beside = self._clock.with_suffix(".new")
        beside.write_text(f"{ahead}", encoding="ascii")
        beside.replace(self._clock)

    def start(self) -> None:
        """Begin a life, unless it runs; nothing is waited for. From then on it is kept running."""
        with self._lock:
            self._kept = True
            if not self.runs:
                self._begin()

    def look(self) -> None:
        """Begin a new life where it has ended by itself, as a service manager does."""
        with self._lock:
            if self._kept and self._process is not None and not self.runs:
                self.ended.append(self._process.returncode)
                self._begin()

    def _begin(self) -> None:
        at = self._site.machines.address[self.name]
        altered = [sys.executable, altered_server.__file__, str(self._clock), ""]
        options = [
            *("serve", "--no-desk", "--alone", str(ALONE), "--wait", str(ALONE)),
            *("--listen", f"{at}:{HOOKS_PORT}", "--operators", f"{at}:{DESKS_PORT}"),
            *("--store", self._site.url, "--token-file", str(self._site.token)),
            *("--log-level", "info"),
        ]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                ending_with_us(self._site.machines.on_network_of(self.name, *altered, *options)),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=dict(self.environment),
            )

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal, if it runs."""
        if self._process is not None:
            self._process.send_signal(number)

    def kill(self) -> None:
        """End it as a crash does, also one that is stopped; it stays ended until it is started."""
        with self._lock:
            self._kept = False
            if self._process is not None:
                self._process.kill()
                self._process.wait(30)

    def hand_over(self, within: float) -> int:
        """Have it leave what waits to the other, and end; return its exit code."""
        with self._lock:
            self._kept = False
            assert self._process is not None
            self._process.send_signal(signal.SIGUSR1)
            return self._process.wait(within)


class Site:
    """All machines, with PostgreSQL running and both servers ready to be started.

    For as long as the block lasts; in namespaces of our own. What is `kept` stays to be looked at.
    """

    def __init__(self) -> None:
        self.kept = False
        self.folder = Path(tempfile.mkdtemp(prefix="crabhook-cluster-", dir="/tmp"))
        self._open = ExitStack()
        self._over = threading.Event()

    def __enter__(self) -> Self:
        try:
            self._make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()
        if not self.kept:
            shutil.rmtree(self.folder)

    def _make(self) -> None:
        self.folder.chmod(0o755)
        self.machines = self._open.enter_context(
            Machines(self.folder, DATABASE, *SERVERS, HOOKS, DESKS)
        )
        self._make_database()
        self.token = self.folder / "token"
        self.token.write_text("a-token-of-the-soak-and-of-nobody-else\n", encoding="ascii")
        self.token.chmod(0o600)
        self._make_servers()

    def _make_database(self) -> None:
        bins = programs()
        if bins is None:
            raise AssertionError("PostgreSQL's own programs are needed (Debian: postgresql)")
        at = self.machines.address[DATABASE]
        listens = (f"listen_addresses={at}", *SETTINGS)
        self.database = Cluster(bins, listens, self.machines.on_network_of(DATABASE))
        self._open.callback(self._remove_database)
        self.database.data.mkdir()
        options = f"size={DISK}m,mode=700,uid={_nobody()}"
        data = str(self.database.data)
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", data], check=True)
        self.database.make(*SMALL, lets_in="10.78.0.0/24")
        self.url = f"postgresql://crabhook@{at}/postgres"

    def _remove_database(self) -> None:
        self.database.stop()
        if self.kept:
            shutil.copy(self.database.folder / "log", self.folder / "postgres.log")
        subprocess.run(["umount", str(self.database.data)], check=False)
        self.database.remove()

    def _make_servers(self) -> None:
        places = tuple(self.machines.address[name] for name in SERVERS)
        team = founded(self.folder / "team", time.time(), names=("localhost", *places))
        self.authority = self.folder / "ca.pem"
        self.authority.write_bytes(team.folder.authority.read_bytes())
        self.people = {name: team.let_in(name, Role.ADMIN) for name in DECIDERS}
        self.people[WATCHER] = team.let_in(WATCHER, Role.VIEWER)
        self.servers = {name: ServerHere(name, self) for name in SERVERS}
        for server in self.servers.values():
            state = server.folder / ".local" / "state" / "crabhook"
            shutil.copytree(self.folder / "team", state / "team")
            state.chmod(0o700)
            rules = server.folder / ".config" / "crabhook" / "rules.toml"
            rules.parent.mkdir(parents=True)
            rules.write_text(RULES, encoding="utf-8")
            self._open.callback(server.kill)
        # The kernel ends a server with the thread that began it: this one lasts until it is killed.
        keeper = threading.Thread(target=self._keep, daemon=True)
        keeper.start()
        self._open.callback(keeper.join)
        self._open.callback(self._over.set)

    def asking(self, servers: Sequence[str]) -> list[str]:
        """Return a hook's options that say where to ask: these servers, in their order."""
        places = ",".join(f"{self.machines.address[name]}:{HOOKS_PORT}" for name in servers)
        return [
            "--server",
            places,
            "--token-file",
            str(self.token),
            "--tls-ca",
            str(self.authority),
        ]

    def leader(self) -> ServerHere | None:
        """Return the server that the database knows as the record's writer; None where there is none."""
        try:
            rows: list[Any] = self.database.sql(_LEADER)
        except (StoreError, OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
            return None
        for server in self.servers.values():
            if rows and server.runs and rows[0]["leader"].endswith(f"process {server.pid}"):
                return server
        return None

    def _keep(self) -> None:
        """Keep both servers running, until the block ends."""
        while not self._over.wait(KEPT_EVERY):
            for server in self.servers.values():
                server.look()

    def led(self, *, by: str = "") -> ServerHere:
        """Wait until a server leads, or that one; return it."""
        end = time.monotonic() + LEADS_WITHIN
        while time.monotonic() < end:
            found = self.leader()
            if found is not None and by in ("", found.name):
                return found
            time.sleep(0.1)
        logs = {name: one.log.read_text()[-2000:] for name, one in self.servers.items()}
        raise AssertionError(f"no server leads{' as ' + by if by else ''}: {logs}")

    def fill_disk(self) -> None:
        """Leave PostgreSQL no room."""
        fill(self.database.data)

    def free_disk(self) -> None:
        """Give the room back, and start PostgreSQL again where it ended over that."""
        free(self.database.data)
        if not self.database.runs:
            self.database.stop()
            self.database.start()


def _nobody() -> int:
    """Return the number of the user that runs PostgreSQL."""
    from pwd import getpwnam

    return getpwnam("nobody").pw_uid if os.geteuid() == 0 else os.geteuid()
