"""A row of a table says what was measured: medians over rounds, ratios within a round."""

from __future__ import annotations

import pytest

from bench.asking import Asked
from bench.decisions import FLOOR, SQLITE, WAYS, Block, to_floor
from bench.decisions import table_of as decisions_table
from bench.export import CATCHING, DEAD, FROZEN, NONE, Outage
from bench.export import table_of as export_table
from bench.figures import Goal, goals_table
from bench.hooks import HELD, NOTHING
from bench.hooks import table_of as hooks_table
from bench.process import Run

pytestmark = pytest.mark.thorough


def run(milliseconds: float) -> Run:
    return Run(milliseconds / 1e3, milliseconds / 2e3, 0, b"", b"")


def cells(table: str, *first: str) -> list[str]:
    """The cells of the row that begins with these."""
    rows = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in table.splitlines()]
    (row,) = (row for row in rows if row[: len(first)] == list(first))
    return row[len(first) :]


def test_a_hook_is_held_against_python_of_the_same_round() -> None:
    # The second round is slowed threefold as a whole, and the third has a hook that stumbled.
    table = hooks_table(
        {NOTHING: [run(10), run(30), run(10)], HELD: [run(11), run(33), run(20)]}, missing=[]
    )
    assert cells(table, HELD) == [
        "20.00", "15.50-26.50", "10.00", "1.100", "1.100-1.550", "1.000",
    ]  # fmt: skip
    assert cells(table, NOTHING)[-1] == "1.100"


def test_what_is_missing_on_a_machine_is_named() -> None:
    table = hooks_table({NOTHING: [run(1)], HELD: [run(1)]}, missing=["jq: there is no jq here"])
    assert table.endswith("Left out: jq: there is no jq here.\n")


def block(server_cpu: float, *each: float) -> Block:
    return Block(Asked(each, whole=sum(each), own_cpu=0.001), server_cpu)


def test_a_decision_is_held_against_the_empty_call_of_the_same_round() -> None:
    way = WAYS[0]
    blocks = {
        (SQLITE, way): [block(0.004, 0.001, 0.003), block(0.012, 0.002, 0.006)],
        (FLOOR, way): [block(0.002, 0.001, 0.001), block(0.006, 0.001, 0.001)],
    }
    assert to_floor(blocks, SQLITE, way).median == pytest.approx(2.0)
    assert cells(decisions_table(blocks), SQLITE, way.name) == [
        "375", "2.50", "6.00", "4.00", "0.50", "2.00", "2.00-2.00",
    ]  # fmt: skip


def test_an_outage_is_held_against_blocks_of_the_same_round() -> None:
    blocks = {
        NONE: [0.001, 0.003],
        DEAD: [0.002, 0.006],
        FROZEN: [0.001] * 2,
        CATCHING: [0.001] * 2,
    }
    outage = Outage(blocks, speed=2000.0, memory=5_000_000, log=4_000_000, behind=120)
    assert cells(export_table({"syslog": outage}), "syslog") == [
        "2000", "180", "2.00, 4.00, 1.00, 1.00", "2.00 (2.00-2.00)", "1.00 (1.00-1.00)",
        "5", "4", "120",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("goal", "figure", "row"),
    [
        (Goal("cost", 1.05), 1.05, ["times", "<= 1.05", "1.05", "met"]),
        (Goal("cost", 1.05), 1.051, ["times", "<= 1.05", "1.051", "missed"]),
        (Goal("rate", 500, "a second", least=True), 499, ["a second", ">= 500", "499", "missed"]),
        (Goal("rate", 500, "a second", least=True), 1222, ["a second", ">= 500", "1222", "met"]),
        (Goal("cost", 1.05), None, ["times", "<= 1.05", "-", "not measured"]),
    ],
)
def test_a_goal_has_its_row_and_its_verdict(
    goal: Goal, figure: float | None, row: list[str]
) -> None:
    table = goals_table([goal], {} if figure is None else {goal: figure})
    assert cells(table, goal.name) == row
