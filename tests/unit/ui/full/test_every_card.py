"""Each recorded input as a card, on a small and a large screen, as it came and as an attacker sends it.

The inputs are those the real agents sent; every event that can be held is held.
"""

from __future__ import annotations

import json
import unicodedata
from itertools import cycle, islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crabhook.model.actor import OrderKind
from crabhook.model.card import State
from crabhook.model.decision import Verdict
from crabhook.model.order import Order
from crabhook.platforms import PLATFORMS
from crabhook.ui.full.dialogs.prompts import SecondYesPage
from crabhook.ui.text.layout import line_cells
from tests.support.examples import share
from tests.support.sitting import Sitting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from _pytest.mark import ParameterSet

FOLDER = Path(__file__).parents[3] / "samples"
NAMED = ("hook_event_name", "hookName")  # what an input that is sent wrong is known by
SAMPLES = sorted(
    sample
    for name in PLATFORMS
    for sample in (FOLDER / name).glob("*.json")
    if any(key in json.loads(sample.read_text()) for key in NAMED)
)
SIZES = [(80, 24), (200, 60)]
NEVER = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
HOSTILE = "\x1b]52;c;QUFB\x07\x1b[2J\u202eevil\u2066\u200b\x9b31m\r\x00\x7f\U000e0041"
WIDE = "日本語の長い文 שלום עולם مرحبا "
# What makes the card the kind it is; some inputs of Copilot have the other spelling.
KEPT = {"hook_event_name", "tool_name", "session_id", "hookName", "toolName", "sessionId"}
WRONG: list[Any] = [7, None, True, [], {}, [["x"]], {"x": {"y": 1}}, -0.5, "", [None, 1, "x"]]


def texts(value: Any, change: Callable[[str], str], key: str = "") -> Any:
    """Return a value with every text in it changed, and every key beside it kept."""
    if isinstance(value, dict):
        return {name: texts(inner, change, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [texts(inner, change) for inner in value]
    return change(value) if isinstance(value, str) and key not in KEPT else value


def wrong(value: Any, turn: int = 0) -> Any:
    """Return a value whose fields are all of another type, each in its turn."""
    kinds = cycle(WRONG[turn:] + WRONG[:turn])
    return {name: inner if name in KEPT else next(kinds) for name, inner in value.items()}


def wrong_inside(value: Any) -> Any:
    """Return a call whose input's fields are all of another type."""
    key = "toolInput" if "toolInput" in value else "tool_input"
    given = value.get(key)
    return {**value, key: wrong(given, 3)} if isinstance(given, dict) else wrong(value, 5)


VARIANTS: dict[str, Callable[[Any], Any]] = {
    "as it came": lambda value: value,
    "hostile": lambda value: texts(value, lambda text: HOSTILE + text + HOSTILE),
    "wide": lambda value: texts(value, lambda text: WIDE * 9 + text),
    "wrong": wrong,
    "wrong inside": wrong_inside,
}


def holding(columns: int, rows: int, **options: Any) -> Sitting:
    """Return a screen at a desk where every event waits that can."""
    sitting = Sitting(columns=columns, rows=rows, **options)
    for name in sitting.desk.holdable():
        sitting.desk.order(Order(OrderKind.HOLD, name))
    return sitting


def asked(sitting: Sitting, sample: Path, change: Callable[[Any], Any], session: str) -> bool:
    """Let a recorded input, changed, arrive in a session of its own."""
    before = len(sitting.desk.waiting())
    payload = change(json.loads(sample.read_text()))
    payload["sessionId" if "sessionId" in payload else "session_id"] = session
    sitting.desk.ask(payload, platform=sample.parent.name)
    return len(sitting.desk.waiting()) > before


def look(sitting: Sitting) -> None:
    frame = sitting.seen
    assert len(frame.lines) == sitting.rows
    for line in frame.lines:
        assert line_cells(line) <= sitting.columns
    letters = {letter for line in frame.lines for _, text in line for letter in text}
    assert not [letter for letter in letters if unicodedata.category(letter) in NEVER]


EVERYDAY = {"hostile"}
"""What is read in `make test`, on the small screen."""


def sittings() -> Iterator[ParameterSet]:
    """Return every variant on every screen, those for `make test-all` alone marked."""
    for variant, (columns, rows) in product(VARIANTS, SIZES):
        left = (columns, rows) != SIZES[0] or variant not in EVERYDAY
        marks = [pytest.mark.thorough] if left else []
        name = f"{variant}-{columns}x{rows}"
        yield pytest.param(variant, columns, rows, marks=marks, id=name)


@pytest.mark.slow
@pytest.mark.parametrize(("variant", "columns", "rows"), list(sittings()))
def test_each_kind_of_card_is_read_to_its_end_and_passed(
    variant: str, columns: int, rows: int
) -> None:
    shown, samples = 0, share(SAMPLES, 0, of=8)
    for sample in samples:
        sitting = holding(columns, rows, take_back_ms=0)
        if not asked(sitting, sample, VARIANTS[variant], "one"):
            continue
        shown += 1
        number = sitting.desk.waiting()[0].number
        sitting.wait()
        look(sitting)
        sitting.press("enter")
        for key in ("pagedown", "G", "pageup", "g", "s", "escape", "?", "pagedown", "escape"):
            sitting.press(key)
            look(sitting)
        sitting.press("escape")
        sitting.wait()
        sitting.press("p")
        sitting.wait()
        if isinstance(sitting.top, SecondYesPage):  # the agent's mode asks nobody
            sitting.press("enter")
            sitting.wait()
        look(sitting)
        card = sitting.desk.card(number)
        assert card is not None, sample
        assert card.state is State.DECIDED, sample
        assert card.decision is not None
        assert card.decision.verdict is Verdict.PASS, sample
    assert shown > len(samples) // 4


@pytest.mark.parametrize(
    ("columns", "rows"), [SIZES[0], pytest.param(*SIZES[1], marks=pytest.mark.thorough)]
)
def test_five_hundred_cards_of_every_kind_are_gone_through(columns: int, rows: int) -> None:
    sitting = holding(columns, rows)
    changes = cycle(VARIANTS.values())
    for number, sample in enumerate(islice(cycle(SAMPLES), 900)):
        if len(sitting.desk.waiting()) < 500:
            asked(sitting, sample, next(changes), f"s{number}")
    assert len(sitting.desk.waiting()) == 500
    sitting.draw()
    look(sitting)
    for key in ("G", "enter", "pagedown", "escape", "g", *["down"] * 60, *["up"] * 5):
        sitting.press(key)
        look(sitting)
