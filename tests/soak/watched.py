"""The true `crabhook serve` as its own process, which tells what it holds when it is asked.

Run as `python watched.py COUNTS CLOCK PATIENCE MEMORY serve …`; CLOCK and PATIENCE as in
`altered_server`, MEMORY `small` or `whole`. On SIGUSR2 it writes into the file COUNTS what it has open and keeps: descriptors, memory after its
garbage is collected, tasks, threads, and the runner's own pending calls and receipts.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import json
import os
import signal
import sys
import threading
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from tests.support.altered_server import alter

if TYPE_CHECKING:
    from crabhook.server.core.runner import Runner


SMALL_ONE, WHOLE = "small", "whole"
SMALL = 64
MEMORIES = (
    "crabhook.broker.state.FEED_KEPT",
    "crabhook.broker.sessions.live.SESSIONS_KEPT",
    "crabhook.broker.recent.KEPT",
    "crabhook.broker.cards.ENDED_KEPT",
    "crabhook.broker.orders._AGENTS_KEPT",
    "crabhook.broker.pending.ANSWERS_KEPT",
    "crabhook.broker.recent._AGENTS_KEPT",
    "crabhook.rulebook.context.PROJECTS_KEPT",
    "crabhook.server.core.runner.OUTCOMES_KEPT",
    "crabhook.server.core.journal_mapper._TOLD_KEPT",
    "crabhook.server.core.rules_in_force.PROJECTS_KEPT",
    "crabhook.server.core.offers.KEPT",
    "crabhook.server.core.transcripts.WORDS_KEPT",
    "crabhook.store.redact.REMEMBERED",
    "crabhook.ui.plain.deciding._DECIDED_REMEMBERED",
    "crabhook.ui.plain.output._ENDED_REMEMBERED",
    "crabhook.ui.plain.second_yes._LISTED_KEPT",
)
"""What is remembered up to a number, so that a server that lives stops growing: made SMALL where a
server's memory is measured, or minutes would not be enough to fill it."""


def forget_soon() -> None:
    """Make every memory a small one, before anything is in it."""
    for name in MEMORIES:
        module, _, constant = name.rpartition(".")
        known = import_module(module)
        assert isinstance(getattr(known, constant), int), name
        setattr(known, constant, SMALL)


class Watched:
    """The one runner of this process and its loop, once there is one."""

    def __init__(self, counts: Path) -> None:
        self._counts = counts
        self._asked = 0
        self._runner: Runner | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._libc = ctypes.CDLL(None)

    def watch(self) -> None:
        """Learn of the runner when it is made, and answer the signal from then on."""
        from crabhook.server.core.runner import Runner

        made = Runner.__init__

        def make(runner: Runner, *arguments: Any, **named: Any) -> None:
            made(runner, *arguments, **named)
            self._runner, self._loop = runner, asyncio.get_running_loop()
            signal.signal(signal.SIGUSR2, self._tell)

        Runner.__init__ = make  # type: ignore[method-assign, assignment]  # and nothing else of it

    def _tell(self, *_: object) -> None:
        self._asked += 1
        beside = self._counts.with_suffix(".new")
        beside.write_text(json.dumps({"asked": self._asked, **self._held()}), encoding="utf-8")
        beside.replace(self._counts)

    def _held(self) -> dict[str, int]:
        runner, loop = self._runner, self._loop
        assert runner is not None
        assert loop is not None
        gc.collect()
        if hasattr(self._libc, "malloc_trim"):
            self._libc.malloc_trim(0)
        resident = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return {
            "descriptors": len(list(Path("/proc/self/fd").iterdir())),
            "resident": resident * os.sysconf("SC_PAGE_SIZE"),
            "objects": len(gc.get_objects()),
            "threads": threading.active_count(),
            "tasks": len(asyncio.all_tasks(loop)),
            "waiting": len(runner.broker.waiting()),
            "stayed open": len(runner.broker.asked()),
            "pending": len(runner._pending),
            "receipts": len(runner._receipts._expected),
        }


def main() -> NoReturn:
    """Serve, altered and watched."""
    counts, clock, patience, memory, *arguments = sys.argv[1:]
    alter(Path(clock), patience)
    if memory == SMALL_ONE:
        forget_soon()
    Watched(Path(counts)).watch()
    from crabhook.__main__ import main as crabhook

    sys.argv = ["crabhook", *arguments]
    sys.exit(crabhook())


if __name__ == "__main__":
    main()
