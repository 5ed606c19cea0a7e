"""What breaks in a soak, act by act; each says how long hooks may have gone unanswered for it."""

from __future__ import annotations

import signal
import sqlite3
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from tests.soak.judge import Trouble
from tests.support.smalldisk import fill, free

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Mapping

    from tests.soak.clients import Clients
    from tests.soak.link import Link
    from tests.soak.schedule import Act
    from tests.soak.server import Server

NOT_RECORDED, AGAIN = "NOT RECORDED", "the record is written again"
WRITTEN_WITHIN = 60.0  # seconds; it is tried again after 1, 2, 4 … 30
HOLES = {
    "cut": "both",
    "half-open towards the server": "out",
    "half-open towards the clients": "back",
}


class Chaos:
    """Breaks things as it is told; `troubles` is when hooks may go unanswered for it."""

    def __init__(self, server: Server, clients: Clients, link: Link | None) -> None:
        self._server, self._clients, self._link = server, clients, link
        self.troubles: list[Trouble] = []
        self.done: dict[str, int] = {}
        self.unwritten: list[str] = []

    def do(self, act: Act, chance: random.Random) -> None:
        """Let one thing break and, where it can be, be mended."""
        time.sleep(act.after)
        self.done[act.kind] = self.done.get(act.kind, 0) + 1
        DO[act.kind](self, act, chance)

    @contextmanager
    def trouble(
        self, what: str, *, remote_only: bool = False, unwritten: bool = False
    ) -> Iterator[None]:
        """Note a time in which hooks may go unanswered."""
        began = time.monotonic()
        try:
            yield
        finally:
            self.troubles.append(Trouble(what, began, time.monotonic(), remote_only, unwritten))

    def _shoot_hooks(self, act: Act, chance: random.Random) -> None:
        self._clients.shoot_hooks(int(act.amount), chance)

    def _shoot_a_crowd(self, _: Act, chance: random.Random) -> None:
        self._clients.shoot_a_crowd(chance)

    def _freeze_hooks(self, act: Act, chance: random.Random) -> None:
        with self.trouble(act.kind):
            self._clients.freeze_hooks(int(act.amount), act.seconds, chance)

    def _freeze_a_crowd(self, act: Act, chance: random.Random) -> None:
        with self.trouble(act.kind):
            self._clients.freeze_a_crowd(act.seconds, chance)

    def _freeze_the_server(self, act: Act, _: random.Random) -> None:
        with self.trouble(act.kind):
            self._server.signal(signal.SIGSTOP)
            time.sleep(act.seconds)
            self._server.signal(signal.SIGCONT)

    def _hole(self, act: Act, _: random.Random) -> None:
        assert self._link is not None
        with self.trouble(act.kind, remote_only=True):
            self._link.order("hole", HOLES[act.kind])
            time.sleep(act.seconds)
            self._link.order("hole", "none")

    def _orphan(self, act: Act, _: random.Random) -> None:
        """Let all connections there are be dead for good, and nobody be told."""
        assert self._link is not None
        with self.trouble(act.kind, remote_only=True):
            self._link.order("orphan")
            time.sleep(act.seconds)

    def _pull_the_plug(self, act: Act, _: random.Random) -> None:
        assert self._link is not None
        with self.trouble(act.kind, remote_only=True):
            self._link.pull()
            time.sleep(act.seconds)
            self._link.plug()

    def _fill_the_disk(self, act: Act, _: random.Random) -> None:
        with self._unwritten(act):
            fill(self._server.state)
            time.sleep(act.seconds)
            free(self._server.state)

    def _lock_the_record(self, act: Act, _: random.Random) -> None:
        database = self._server.state / "crabhook" / "record.db"
        with (
            self._unwritten(act),
            closing(sqlite3.connect(database, isolation_level=None, timeout=20)) as other,
        ):
            other.execute("BEGIN IMMEDIATE")
            time.sleep(act.seconds)
            other.execute("ROLLBACK")

    @contextmanager
    def _unwritten(self, act: Act) -> Iterator[None]:
        """Wait, once it is over, until all that happened meanwhile is on record.

        A server that is killed sooner loses what it holds in memory, as it has said that it would.
        """
        since = len(self._server.heard)
        with self.trouble(act.kind, unwritten=True):
            yield
            if not self._server.hears(NOT_RECORDED, 0.5, since=since):
                return
            self._written_again(act, since)

    def _written_again(self, act: Act, since: int) -> None:
        said = next(
            n for n, line in enumerate(self._server.heard) if n >= since and NOT_RECORDED in line
        )
        if not self._server.hears(AGAIN, WRITTEN_WITHIN, since=said):
            self.unwritten.append(f"after {act.kind!r} the record was not written again")

    def _move_the_clock(self, act: Act, _: random.Random) -> None:
        self._server.set_clock(act.amount)
        time.sleep(act.seconds)
        self._server.set_clock(0)


DO: Mapping[str, Callable[[Chaos, Act, random.Random], None]] = {
    "shoot hooks": Chaos._shoot_hooks,
    "shoot a crowd": Chaos._shoot_a_crowd,
    "freeze hooks": Chaos._freeze_hooks,
    "freeze a crowd": Chaos._freeze_a_crowd,
    "freeze the server": Chaos._freeze_the_server,
    "cut": Chaos._hole,
    "half-open towards the server": Chaos._hole,
    "half-open towards the clients": Chaos._hole,
    "orphan connections": Chaos._orphan,
    "pull the plug": Chaos._pull_the_plug,
    "fill the disk": Chaos._fill_the_disk,
    "lock the record": Chaos._lock_the_record,
    "move the clock": Chaos._move_the_clock,
}
