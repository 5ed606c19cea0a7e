"""What breaks in a cluster, fault by fault, and how each is mended."""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING

from tests.soak.cluster.history import Trouble
from tests.soak.cluster.site import DATABASE, DESKS, HOOKS, SERVERS

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

    def _leader(self) -> ServerHere:
        """Return the server that leads; where the database cannot tell, the first that runs."""
        running = [one for one in self._site.servers.values() if one.runs]
        return self._site.leader() or running[0]

    def _other(self) -> ServerHere:
        leader = self._leader()
        return next(one for one in self._site.servers.values() if one is not leader)

    def _kill_leader(self, act: Act) -> None:
        self._kill([self._leader()], act)

    def _kill_standby(self, act: Act) -> None:
        self._kill([self._other()], act)

    def _kill_both(self, act: Act) -> None:
        self._kill(list(self._site.servers.values()), act)

    @staticmethod
    def _kill(servers: list[ServerHere], act: Act) -> None:
        for one in servers:
            one.kill()
        time.sleep(act.seconds)
        for one in servers:
            one.start()

    def _freeze(self, act: Act) -> None:
        leader = self._leader()
        leader.signal(signal.SIGSTOP)
        try:
            time.sleep(act.seconds)
        finally:
            leader.signal(signal.SIGCONT)

    def _hand_over(self, act: Act) -> None:
        leader = self._leader()
        code = leader.hand_over(HANDED_WITHIN)
        if code:
            self.faults.append(f"{leader.name} handed over with exit code {code}")
        time.sleep(act.seconds)
        leader.start()

    def _stop_database(self, act: Act) -> None:
        self._site.database.stop(signal.SIGQUIT)
        time.sleep(act.seconds)
        self._site.database.start()

    def _cut(self, name: str, act: Act) -> None:
        self._site.machines.plug(name, in_=False)
        try:
            time.sleep(act.seconds)
        finally:
            self._site.machines.plug(name, in_=True)

    def _cut_leader(self, act: Act) -> None:
        self._cut(self._leader().name, act)

    def _cut_database(self, act: Act) -> None:
        self._cut(DATABASE, act)

    def _cut_hooks(self, act: Act) -> None:
        self._cut(HOOKS, act)

    def _cut_desks(self, act: Act) -> None:
        self._cut(DESKS, act)

    def _mute(self, name: str, towards: str, act: Act) -> None:
        self._site.machines.mute(name, towards)
        try:
            time.sleep(act.seconds)
        finally:
            self._site.machines.mute(name, towards, muted=False)

    def _mute_leader(self, act: Act) -> None:
        self._mute(self._leader().name, DATABASE, act)

    def _mute_database(self, act: Act) -> None:
        self._mute(DATABASE, self._leader().name, act)

    def _mute_towards_hooks(self, act: Act) -> None:
        self._mute(self._leader().name, HOOKS, act)

    def _fill_disk(self, act: Act) -> None:
        self._site.fill_disk()
        try:
            time.sleep(act.seconds)
        finally:
            self._site.free_disk()

    def _move_clock(self, act: Act) -> None:
        leader = self._leader()
        leader.set_clock(act.amount)
        time.sleep(act.seconds)
        leader.set_clock(0)

    def _move_clocks_apart(self, act: Act) -> None:
        for name, sign in zip(SERVERS, (1, -1), strict=True):
            self._site.servers[name].set_clock(sign * act.amount)
        time.sleep(act.seconds)
        for name in SERVERS:
            self._site.servers[name].set_clock(0)

    def mend(self) -> None:
        """Have everything run that was left ended."""
        self._site.database.start()
        for server in self._site.servers.values():
            server.start()


DO: Mapping[str, Callable[[Nemesis, Act], None]] = {
    "kill the leader": Nemesis._kill_leader,
    "kill a standby": Nemesis._kill_standby,
    "kill both": Nemesis._kill_both,
    "freeze the leader": Nemesis._freeze,
    "freeze the leader for a moment": Nemesis._freeze,
    "hand the leader over": Nemesis._hand_over,
    "stop the database": Nemesis._stop_database,
    "cut off the leader": Nemesis._cut_leader,
    "cut off the database": Nemesis._cut_database,
    "mute the leader towards the database": Nemesis._mute_leader,
    "mute the database towards the leader": Nemesis._mute_database,
    "mute the leader towards the hooks": Nemesis._mute_towards_hooks,
    "cut off the hooks": Nemesis._cut_hooks,
    "cut off the desks": Nemesis._cut_desks,
    "fill the disk": Nemesis._fill_disk,
    "move the leader's clock": Nemesis._move_clock,
    "move both clocks apart": Nemesis._move_clocks_apart,
}
