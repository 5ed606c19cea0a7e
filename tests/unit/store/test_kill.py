"""A writer killed at any moment leaves a chain that holds, and no decision without its answer."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from crabhook.store.opening import Place, open_writer
from tests.unit.store.making import records, verified

pytestmark = pytest.mark.process

ROUNDS = 20

# Decides requests as fast as it can, and prints each only when the store has said it is written.
WRITER = """
import sys
from time import time
sys.path.insert(0, sys.argv[2])
import crabhook.store.redact  # else the first entry reads its tables, and no kill comes later
from crabhook.store.change import settled, waits
from crabhook.store.opening import Place, open_writer
from tests.unit.store.making import answer, decision, entry, waiting
from crabhook.store.record import Kind
place, begin = sys.argv[1], int(sys.argv[3])
store = open_writer(place)
print("open", flush=True)
for number in range(begin, begin + 100_000):
    store.write([waits(waiting(f"r{number}", card=number), entry(Kind.ASKED, card=number))])
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
        for what, number in killed_after(chance.uniform(0.0, 0.06), place, begin):
            (asked if what == "asked" else decided).add(number)
        begin = max(asked | {begin}) + 10
        check(place, asked, decided)
    assert len(decided) > rounds


def killed_after(seconds: float, place: Place, begin: int) -> list[tuple[str, int]]:
    """Run a writer, kill it that long after it began to write; return what it said it had done."""
    root = Path(__file__).parents[3]
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(place), str(root), str(begin)], stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"open\n"
        time.sleep(seconds)
        writer.send_signal(signal.SIGKILL)
        said = writer.stdout.read().decode()
    lines = [line.split() for line in said[: said.rfind("\n") + 1].splitlines()]
    return [(what, int(number)) for what, number in lines]


def check(place: Place, asked: set[int], decided: set[int]) -> None:
    """Compare what is on disk with what was said to be."""
    found = verified(place)
    assert found.sound, found.faults
    store = open_writer(place)
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
        killed_after(0.03, folder, begin)
        kept = json.loads((folder / "record.head").read_text())
        assert kept["seq"] <= len(records(folder))
