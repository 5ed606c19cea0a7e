"""A watch of a server that is killed again and again: each gap is said, and nothing comes twice."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.client import Client, sample
from tests.support.plain_desk import CRABHOOK
from tests.unit.cli.verbs.test_presence import Person

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.process, pytest.mark.thorough, pytest.mark.timeout(600)]
KILLS = 10


class Watch:
    """`crabhook watch --json`, in a process of its own; what it told, a line each."""

    def __init__(self, person: Person, *words: str) -> None:
        self.told: list[dict[str, Any]] = []
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            [CRABHOOK, "watch", "--json", *words],
            env=person.environment(person.desk.folder),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)

    def until(self, kind: str, number: int = 0) -> dict[str, Any]:
        """Take in what is told until a line of this kind, of this card; return it."""
        deadline = time.monotonic() + 60
        while True:
            line = json.loads(self._lines.get(timeout=max(0.0, deadline - time.monotonic())))
            self.told.append(line)
            if line["type"] == kind and number in (0, line.get("card", {}).get("number")):
                return line

    def stop(self) -> None:
        self._process.kill()
        self._process.wait(60)
        self._reader.join(60)
        assert self._process.stdout is not None
        self._process.stdout.close()


@pytest.fixture
def person() -> Iterator[Person]:
    one = Person()
    with one.desk:
        yield one


def test_a_watch_over_kills_of_its_server_says_each_gap_and_tells_nothing_twice(
    person: Person,
) -> None:
    """A gap is said by a snapshot: what waits is in it, and all that comes is told behind it."""
    watch, cursor, hooks, told = Watch(person), "", [], list[dict[str, Any]]()
    try:
        watch.until("snapshot")
        for kill in range(1, KILLS + 1):
            about = {"tool_input": {"command": f"make {kill}"}, "tool_use_id": f"t{kill}"}
            hooks.append(Client(person.desk.address, sample("PreToolUse-Bash", **about)))
            cursor = watch.until("card", kill)["cursor"]
            if kill % 3 == 0:  # the watch is killed as well, and goes on behind its cursor
                watch.stop()
                told += watch.told
            person.desk.kill()
            person.desk.stop()
            person.desk.start()
            if kill % 3 == 0:
                watch = Watch(person, "--after", cursor)
            snapshot = watch.until("snapshot")
            assert [one["number"] for one in snapshot["waiting"]] == list(range(1, kill + 1))
    finally:
        watch.stop()
        for hook in hooks:
            hook.kill()
            hook.communicate()
    told += watch.told
    places = [one["cursor"].split(":") for one in told]
    assert len({store for store, _, _ in places}) == 1  # the record is the same
    numbers = [int(seq) for _, seq, _ in places]
    assert numbers == sorted(numbers)
    assert len(set(numbers)) == len(numbers)
    assert sum(one["type"] == "snapshot" for one in told) == KILLS + 1
    seen = set[tuple[int, int]]()
    for one in told:
        if one["type"] == "snapshot":
            seen = {(card["number"], card["version"]) for card in one["waiting"]}
        elif one["type"] == "card":
            card = one["card"]["number"], one["card"]["version"]
            assert card not in seen
            seen.add(card)
