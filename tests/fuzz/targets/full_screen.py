"""The operator's screen: any input as a card, any keys at it; no frame is torn, nothing acts."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from crabhook.model.actor import OrderKind
from crabhook.model.errors import PayloadError
from crabhook.model.order import Order
from crabhook.platforms import PLATFORMS
from crabhook.ui.text.layout import line_cells
from tests.fuzz.mutation import plain
from tests.fuzz.payloads import MUTATION, samples
from tests.fuzz.target import Target
from tests.support.sitting import Sitting

KEYS = (
    "enter", "escape", "space", "tab", "s-tab", "up", "down", "left", "right", "pageup", "pagedown", "home", "end", "backspace", "delete",
    *"abcdefghijklmnopqrstuvwxyzAGHNPRSTVXYZ0123456789?/:.,-+*!'\"\\", "é", "\u202e", "\x1b", "c-a", "c-e", "c-k", "c-u", "c-w", "f5",
    "c-left", "c-right", "c-y", "c-z", "c-_", "c-s", "c-o",
)  # fmt: skip
PLATFORM_NAMES = tuple(sorted(PLATFORMS))
SIZES = ((80, 24), (20, 5), (200, 60), (1, 1), (41, 9))
AHEAD = 24


def law(data: bytes) -> None:
    """Byte 0: whose input; byte 1: how large the screen; then keys; behind them the input."""
    head, payload = data[:AHEAD], data[AHEAD:]
    if len(head) < AHEAD:
        return
    platform = PLATFORM_NAMES[head[0] % len(PLATFORM_NAMES)]
    columns, rows = SIZES[head[1] % len(SIZES)]
    try:
        PLATFORMS[platform].read(payload)
    except PayloadError:
        return
    sitting = Sitting(columns=columns, rows=rows, take_back_ms=0, ascii=bool(head[1] & 64))
    for name in sitting.desk.holdable():
        sitting.desk.order(Order(OrderKind.HOLD, name))
    given: Any = json.loads(payload.decode("utf-8-sig"))
    sitting.desk.ask(given, platform=platform)
    sitting.wait()
    _whole(sitting)
    for byte in head[2:]:
        sitting.press(KEYS[byte % len(KEYS)])  # with time between: at once they count as pasted
        _whole(sitting)
    sitting.wait()
    _whole(sitting)


def _whole(sitting: Sitting) -> None:
    frame = sitting.seen
    assert len(frame.lines) == sitting.rows
    for line in frame.lines:
        assert line_cells(line) <= sitting.columns, line
        assert "".join(text for _, text in line).isprintable(), line


def mutated(data: bytes, chance: Random) -> bytes:
    """Vary the keys, or the input."""
    head, payload = data[:AHEAD].ljust(AHEAD, b"\0"), data[AHEAD:]
    if chance.random() < 0.5:
        keys = bytearray(head)
        for _ in range(chance.randint(1, 6)):
            keys[chance.randrange(AHEAD)] = chance.randrange(256)
        return bytes(keys) + payload
    vary = MUTATION if chance.random() < 0.95 else plain.mutated
    return head + vary(payload, chance)


def _keys(*names: str) -> bytes:
    return bytes(map(KEYS.index, names)).ljust(AHEAD - 2, bytes((KEYS.index("down"),)))


def seeds() -> list[bytes]:
    """Recorded inputs, read to their end, answered, edited and remembered."""
    ways = (_keys("enter", "pagedown", "G", "g"), _keys("e", "a", "enter"), _keys("enter", "space", "enter", "1"), _keys("d", "x", "enter"), _keys("A", "2", "enter"))  # fmt: skip
    return [
        bytes((PLATFORM_NAMES.index(platform), place % 3)) + ways[place % len(ways)] + payload
        for platform in PLATFORM_NAMES
        for place, payload in enumerate(samples(platform))
    ]


TARGET = Target(law, mutated, seeds, longest=8192, most_seconds=5.0)
