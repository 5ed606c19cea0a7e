"""What breaks in a cluster, fault by fault, and how each is mended."""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING

from tests.soak.cluster.history import Trouble
from tests.soak.cluster.site import DATABASE, DESKS, HOOKS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.soak.cluster.site import ServerHere, Site
    from tests.soak.schedule import Act


HANDED_WITHIN = 30.0  # seconds


class Nemesis:
    """Breaks things as it is told; `troubles` is when it did, `faults` what was found by the way."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self.troubles: list[Trouble] = []
        self.faults: list[str] = []

    def do(self, act: Act) -> None:
        """Let one thing break, and be mended; return when it is."""
        time.sleep(act.after)
        began = time.monotonic()
        try:
            DO[act.kind](self, act)
        finally:
            self.troubles.append(Trouble(act.kind, began, time.monotonic()))

    @property
    def leader(self) -> ServerHere:
        """The server that leads; where the database cannot tell, the first that runs."""
        running = [server for server in self._site.servers.values() if server.runs]
        return self._site.leader() or running[0]

    @property
    def standby(self) -> ServerHere:
        """The server that does not lead."""
        leader = self.leader
        return next(server for server in self.servers if server is not leader)

    @property
    def servers(self) -> list[ServerHere]:
        """Both servers."""
        return list(self._site.servers.values())

    @staticmethod
    def kill(servers: list[ServerHere], act: Act) -> None:
        """Kill these servers, and begin them again."""
        for server in servers:
            server.kill()
        time.sleep(act.seconds)
        for server in servers:
            server.start()

    @staticmethod
    def freeze(server: ServerHere, act: Act) -> None:
        """Stop a server for a while."""
        server.signal(signal.SIGSTOP)
        try:
            time.sleep(act.seconds)
        finally:
            server.signal(signal.SIGCONT)

    def hand_over(self, leader: ServerHere, act: Act) -> None:
        """Have a leader hand over, and begin it again."""
        code = leader.hand_over(HANDED_WITHIN)
        if code:
            self.faults.append(f"{leader.name} handed over with exit code {code}")
        time.sleep(act.seconds)
        leader.start()

    def stop_database(self, act: Act) -> None:
        """Stop PostgreSQL at once, and begin it again."""
        self._site.database.stop(signal.SIGQUIT)
        time.sleep(act.seconds)
        self._site.database.start()

    def cut(self, machine: str, act: Act) -> None:
        """Cut a machine off."""
        self._site.machines.plug(machine, in_=False)
        try:
            time.sleep(act.seconds)
        finally:
            self._site.machines.plug(machine, in_=True)

    def mute(self, machine: str, towards: str, act: Act) -> None:
        """Lose what a machine sends to another."""
        self._site.machines.mute(machine, towards)
        try:
            time.sleep(act.seconds)
        finally:
            self._site.machines.mute(machine, towards, muted=False)

    def fill_disk(self, act: Act) -> None:
        """Fill the database's disk."""
        self._site.fill_disk()
        try:
            time.sleep(act.seconds)
        finally:
            self._site.free_disk()

    @staticmethod
    def move_clocks(clocks: Mapping[ServerHere, float], act: Act) -> None:
        """Move the servers' clocks by so many seconds each."""
        for server, seconds in clocks.items():
            server.set_clock(seconds)
        time.sleep(act.seconds)
        for server in clocks:
            server.set_clock(0)

    def mend(self) -> None:
        """Have everything run that was left ended."""
        self._site.database.start()
        for server in self._site.servers.values():
            server.start()


DO: Mapping[str, Callable[[Nemesis, Act], None]] = {
    "kill the leader": lambda nemesis, act: nemesis.kill([nemesis.leader], act),
    "kill a standby": lambda nemesis, act: nemesis.kill([nemesis.standby], act),
    "kill both": lambda nemesis, act: nemesis.kill(nemesis.servers, act),
    "freeze the leader": lambda nemesis, act: nemesis.freeze(nemesis.leader, act),
    "freeze the leader for a moment": lambda nemesis, act: nemesis.freeze(nemesis.leader, act),
    "hand the leader over": lambda nemesis, act: nemesis.hand_over(nemesis.leader, act),
    "stop the database": Nemesis.stop_database,
    "cut off the leader": lambda nemesis, act: nemesis.cut(nemesis.leader.name, act),
    "cut off the database": lambda nemesis, act: nemesis.cut(DATABASE, act),
    "cut off the hooks": lambda nemesis, act: nemesis.cut(HOOKS, act),
    "cut off the desks": lambda nemesis, act: nemesis.cut(DESKS, act),
    "mute the leader towards the database": lambda nemesis, act: nemesis.mute(
        nemesis.leader.name, DATABASE, act
    ),
    "mute the database towards the leader": lambda nemesis, act: nemesis.mute(
        DATABASE, nemesis.leader.name, act
    ),
    "mute the leader towards the hooks": lambda nemesis, act: nemesis.mute(
        nemesis.leader.name, HOOKS, act
    ),
    "fill the disk": Nemesis.fill_disk,
    "move the leader's clock": lambda nemesis, act: nemesis.move_clocks(
        {nemesis.leader: act.amount}, act
    ),
    "move both clocks apart": lambda nemesis, act: nemesis.move_clocks(
        dict(zip(nemesis.servers, (act.amount, -act.amount), strict=True)), act
    ),
}
"""Every fault: what it does, and to which server or machine."""
