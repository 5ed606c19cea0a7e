"""A writer killed at any moment leaves a chain that holds, and no decision without its answer."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from crabhook.store.opening import Place
from tests.unit.store.making import open_after_a_kill, records, verified

pytestmark = pytest.mark.process

ROUNDS = 20
AN_ANCHOR = 15  # lines, after which the writer has made at least one

# Decides requests as fast as it can, and prints each only when the store has said it is written.
WRITER = """
import sys
from time import time
sys.path.insert(0, sys.argv[2])
import crabhook.store.redact  # else the first entry reads its tables, and no kill comes later
from crabhook.store.change import settled, waits
from tests.unit.store.making import answer, decision, entry, open_after_a_kill, waiting
from crabhook.store.record import RecordKind
place, begin = sys.argv[1], int(sys.argv[3])
store = open_after_a_kill(place)
print("open", flush=True)
for number in range(begin, begin + 100_000):
    asked = entry(RecordKind.ASKED, card=number, request_id=f"r{number}")
    store.write([waits(waiting(f"r{number}", card=number), asked)])
    print(f"asked {number}", flush=True)
    given = answer(f"r{number}", decided=time())
    store.write([settled([given], decision(number, request_id=f"r{number}"))])
    print(f"decided {number}", flush=True)
    if number % 7 == 0:
        store.anchor()
"""


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("place", "rounds"),
    [
        ("sqlite", 8),
        pytest.param("sqlite", ROUNDS, marks=pytest.mark.thorough),
        pytest.param("postgresql", ROUNDS, marks=pytest.mark.thorough),
    ],
    indirect=["place"],
)
def test_a_kill_at_any_moment_loses_nothing_that_was_said_to_be_written(
    place: Place, rounds: int
) -> None:
    chance = random.Random(4)
    asked, decided, begin = set[int](), set[int](), 1
    for _ in range(rounds):
        lines, seconds = chance.randrange(12), chance.uniform(0.0, 0.06)
        for what, number in killed_after(lines, seconds, place, begin):
            (asked if what == "asked" else decided).add(number)
        begin = max(asked | {begin}) + 10
        check(place, asked, decided)
    assert len(decided) > rounds


def killed_after(lines: int, seconds: float, place: Place, begin: int) -> list[tuple[str, int]]:
    """Run a writer and return what it said it had done.

    It is killed that long after so many lines of that: on a slow machine, too, it has written then.
    """
    root = Path(__file__).parents[3]
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(place), str(root), str(begin)], stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"open\n"
        first = [writer.stdout.readline() for _ in range(lines)]
        time.sleep(seconds)
        writer.send_signal(signal.SIGKILL)
        said = b"".join([*first, writer.stdout.read()]).decode()
    whole = [line.split() for line in said[: said.rfind("\n") + 1].splitlines()]
    assert len(whole) >= lines  # else it ended by itself
    return [(what, int(number)) for what, number in whole]


def check(place: Place, asked: set[int], decided: set[int]) -> None:
    """Compare what is on disk with what was said to be."""
    found = verified(place)
    assert found.sound, found.faults
    store = open_after_a_kill(place)
    there = store.journal.recover(time.time())
    store.close()
    recorded = {record.card for record in records(place) if record.kind == "decided"}
    answered = {int(one.request_id[1:]) for one in there.answers}
    still = {one.card for one in there.waiting}
    assert recorded == answered
    assert decided <= recorded
    assert asked <= answered | still
    assert not answered & still
    assert there.last_card >= max(asked, default=0)


def test_the_head_kept_apart_never_leads_the_record(folder: Path) -> None:
    for begin in (1, 1000, 2000):
        killed_after(AN_ANCHOR, 0.03, folder, begin)
        kept = json.loads((folder / "record.head").read_text())
        assert kept["seq"] <= len(records(folder))
