"""The corpus of risks: lines and calls with the effects that their programs' manuals tell."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from crabhook.model.card import Risk
from crabhook.model.event import Event
from crabhook.policy.effects.risk import effects_of
from tests.unit.policy.law import PICTURES, PROJECT, bash, call, context

SAMPLES = Path(__file__).parents[3] / "samples" / "risk"
UNKNOWN = ": not known here"


@dataclass(frozen=True)
class Expected:
    event: Event
    level: int
    effects: tuple[str, ...]  # a kind, ~ and a piece of its words
    unknown: tuple[str, ...]
    files: tuple[str, ...] = ()  # that are in the folders, by their names from the project on


def lines() -> Iterator[tuple[str, Expected]]:
    for row in (SAMPLES / "lines.txt").read_text().splitlines():
        if row and not row.startswith("#"):
            head, _, line = row.partition(" :: ")
            level, said, *files = head.split()
            told = () if said == "-" else tuple(said.split(","))
            effects = tuple(one for one in told if one[0] != "?")
            unknown = tuple(one[1:] + UNKNOWN for one in told if one[0] == "?")
            there = tuple(one.removeprefix("+") for one in files)
            event = bash(line.translate(PICTURES))
            yield " ".join((line, *files)), Expected(event, int(level), effects, unknown, there)


def tools() -> Iterator[tuple[str, Expected]]:
    for row in (SAMPLES / "tools.jsonl").read_text().splitlines():
        one = json.loads(row)
        event = call(one["tool"], platform=one.get("platform", "claude"), **one["input"])
        expected = (one["level"], tuple(one.get("effects", ())), tuple(one.get("unknown", ())))
        yield row, Expected(event, *expected, tuple(one.get("files", ())))


def told(expected: Expected) -> Risk:
    files = [one if one.startswith("/") else f"{PROJECT}/{one}" for one in expected.files]
    return effects_of(expected.event, context(files=files))


def differs(expected: Expected, found: Risk) -> str:
    """What is otherwise than expected; nothing where all is as it should be."""
    wanted = sorted({one.partition("~")[0] for one in expected.effects})
    kinds = sorted({one.kind for one in found.effects})
    if kinds != wanted:
        return f"effects {kinds}, not {wanted}: {[one.words for one in found.effects]}"
    if found.level != expected.level:
        return f"level {found.level}: {[one.words for one in found.effects]}"
    for one in expected.effects:
        kind, _, piece = one.partition("~")
        words = [effect.words for effect in found.effects if effect.kind == kind]
        if not any(piece.replace("_", " ") in text.replace("_", " ") for text in words):
            return f"{one}: {words}"
    return "" if found.unknown == expected.unknown else f"unknown {found.unknown}"
