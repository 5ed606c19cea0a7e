"""What is read of agents' transcripts, in threads: their last words, and a summary at the end.

The agent names the file, and only on the machine the hook ran on is it looked for.
"""

import asyncio
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import TypeAlias

from crabhook.bounded import Bounded
from crabhook.model.card import Card, Request
from crabhook.model.event import Event, Scope
from crabhook.platforms.interface import Platform
from crabhook.transcript import (
    Summary,
    last_prompt,
    last_words,
    plan_file,
    read_plan,
    summary,
    transcript_of,
)

WORDS_KEPT = 256  # cards whose words are remembered


TellWords: TypeAlias = Callable[[str, str], object]
"""Is told the last words of a card's agent, and what its session's user asked for last."""


class LastWords:
    """What was said last around the cards shown lately; each file is read once a card."""

    def __init__(self) -> None:
        self._said: Bounded[int, tuple[str, str]] = Bounded(WORDS_KEPT)
        self._reading: dict[int, list[TellWords]] = {}
        self._host = os.uname().nodename

    def ask(self, card: Card, tell: TellWords) -> None:
        """Tell the words of the card's agent, or its plan, and its user's last prompt.

        They are told at once or when they are read.
        """
        number, event = card.number, card.event
        here = card.requests[0].origin.host == self._host
        if number in self._said or not (here and _paths(event)):
            tell(*self._said.get(number, ("", "")))
        elif asked := self._reading.get(number):
            asked.append(tell)
        else:
            self._reading[number] = [tell]
            reading = asyncio.get_running_loop().run_in_executor(None, _said_around, event)
            reading.add_done_callback(lambda done: self._note(number, done))

    def _note(self, number: int, done: "asyncio.Future[tuple[str, str]]") -> None:
        failed = done.cancelled() or done.exception() is not None
        said = self._said[number] = ("", "") if failed else done.result()
        for tell in self._reading.pop(number):
            tell(*said)


def _paths(event: Event) -> bool:
    """Whether an event names a file in which something was said."""
    return any(map(event.text, ("transcript_path", "agent_transcript_path")))


def _said_around(event: Event) -> tuple[str, str]:
    """Read the last words of an event's agent, or its plan, and its session's last prompt."""
    plan, session = plan_file(event), event.text("transcript_path")
    words = read_plan(plan) if plan else last_words(transcript_of(event))
    return words, last_prompt(session) if session else ""


MOST_AT_ONCE = 32  # transcripts that wait to be read; past that a session goes without
AGAIN_AFTER = 10.0  # seconds; several hooks tell of the same end
ENDS_KEPT = 256  # sessions whose end is remembered for that

Record = Callable[[Request, Summary], object]


class Summaries:
    """Hears of requests, and gives `record` a summary for each that is a session's end."""

    def __init__(self, platforms: Mapping[str, Platform], record: Record) -> None:
        self._platforms, self._record = platforms, record
        self._host = os.uname().nodename
        self._ended: Bounded[tuple[str, str], float] = Bounded(ENDS_KEPT)
        self._reader = ThreadPoolExecutor(1, "crabhook-summaries")
        self._waiting = 0

    def hear(self, request: Request) -> None:
        """Begin to read the transcript, if this is a session's end; called in the loop."""
        event = request.event
        path = event.text("transcript_path")
        here = request.origin.host == self._host
        if not (here and path and self._waiting < MOST_AT_ONCE):
            return
        over = self._platforms[event.platform].closes(event) is Scope.SESSION
        if not over or self._is_told_again((event.platform, event.session)):
            return
        self._waiting += 1
        reading = asyncio.get_running_loop().run_in_executor(self._reader, summary, path)
        reading.add_done_callback(lambda done: self._note(request, done))

    def _is_told_again(self, session: tuple[str, str]) -> bool:
        now, before = monotonic(), self._ended.pop(session, -AGAIN_AFTER)
        self._ended[session] = now
        return now - before < AGAIN_AFTER

    def _note(self, request: Request, done: "asyncio.Future[Summary | None]") -> None:
        self._waiting -= 1
        if not done.cancelled() and done.exception() is None and (found := done.result()):
            self._record(request, found)
