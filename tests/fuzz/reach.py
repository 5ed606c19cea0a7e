"""What an input reaches: the steps from line to line that crabhook's own code takes for it.

Made with the interpreter's own tracing, so that a corpus can be made small without the fuzzing
engine, and comes out the same on every machine.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import CodeType, FrameType
from typing import Any, TypeAlias

import crabhook
from tests.fuzz.target import Target

Step: TypeAlias = tuple[CodeType, int, int]
"""From one line to another, of one function."""

_OURS = crabhook.__file__.rpartition("/")[0]


def steps_of(target: Target, data: bytes) -> frozenset[Step]:
    """The steps that an input makes the code take."""
    found: set[Step] = set()

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(_OURS):
            return None
        last = code.co_firstlineno

        def line(frame: FrameType, event: str, _: Any) -> Any:
            nonlocal last
            if event == "line":
                found.add((code, last, frame.f_lineno))
                last = frame.f_lineno
            return line

        return line

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        target.law(data[: target.longest])
    finally:
        sys.settrace(before)
    return frozenset(found)


def telling(
    target: Target, inputs: Iterable[bytes], known: Iterable[bytes] = ()
) -> tuple[list[bytes], int]:
    """Those of the inputs that take a step which no earlier one takes, and how many steps all take.

    `known` are inputs that are kept anyway.
    """
    taken: set[Step] = set()
    for data in known:
        taken |= steps_of(target, data)
    chosen = []
    for data in inputs:
        steps = steps_of(target, data)
        if not steps <= taken:
            taken |= steps
            chosen.append(data)
    return chosen, len(taken)
