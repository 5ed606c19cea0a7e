"""Last words and summaries of sessions, read in threads from agents' transcripts.

The agent names the file, and the server reads it only if the hook ran on this machine.
"""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import TypeAlias

from crabhook.datatypes import Bounded
from crabhook.model.card import Card, Request
from crabhook.model.event import EndScope, Event
from crabhook.platforms.interface import Platform
from crabhook.server.core.pending_call import is_here
from crabhook.transcript import (
    Summary,
    last_prompt,
    last_words,
    plan_file,
    read_plan,
    summary,
    transcript_of,
)

DeliverWords: TypeAlias = Callable[[str, str], object]
"""Takes the last words of a card's agent, and its user's last prompt."""


WORDS_KEPT = 256  # cards with kept words


class LastWords:
    """The last words around recent cards; each file is read once per card."""

    def __init__(self) -> None:
        self._said: Bounded[int, tuple[str, str]] = Bounded(WORDS_KEPT)
        self._reading: dict[int, list[DeliverWords]] = {}

    def ask(self, card: Card, deliver: DeliverWords) -> None:
        """Give `deliver` the words of the card's agent, or its plan, and its user's last prompt."""
        number, event = card.number, card.event
        names_a_file = event.text("transcript_path") or event.text("agent_transcript_path")
        if number in self._said or not (is_here(card.requests[0]) and names_a_file):
            deliver(*self._said.get(number, ("", "")))
        elif asked := self._reading.get(number):
            asked.append(deliver)
        else:
            self._reading[number] = [deliver]
            reading = asyncio.get_running_loop().run_in_executor(None, _said_around, event)
            reading.add_done_callback(lambda done: self._note(number, done))

    def _note(self, number: int, done: "asyncio.Future[tuple[str, str]]") -> None:
        failed = done.cancelled() or done.exception() is not None
        words = self._said[number] = ("", "") if failed else done.result()
        for deliver in self._reading.pop(number):
            deliver(*words)


def _said_around(event: Event) -> tuple[str, str]:
    """Read the last words of an event's agent, or its plan, and its session's last prompt."""
    plan, session = plan_file(event), event.text("transcript_path")
    words = read_plan(plan) if plan else last_words(transcript_of(event))
    return words, last_prompt(session) if session else ""


MOST_AT_ONCE = 32  # transcripts in the queue; more sessions get no summary
AGAIN_AFTER = 10.0  # seconds; several hooks report the same end
ENDS_KEPT = 256  # sessions whose end is kept for that

Record = Callable[[Request, Summary], object]


class Summaries:
    """Gives `record` a summary for each session's end."""

    def __init__(self, platforms: Mapping[str, Platform], record: Record) -> None:
        self._platforms, self._record = platforms, record
        self._ended: Bounded[tuple[str, str], float] = Bounded(ENDS_KEPT)
        self._reader = ThreadPoolExecutor(1, "crabhook-summaries")
        self._waiting = 0

    def on_request(self, request: Request) -> None:
        """Start to read the transcript, if this is a session's end; called in the loop."""
        event = request.event
        if event.tool is not None or self._waiting >= MOST_AT_ONCE:  # no call ends a session
            return
        if not (path := event.text("transcript_path")) or not is_here(request):
            return
        over = self._platforms[event.platform].closes(event) is EndScope.SESSION
        if not over or self._is_repeated((event.platform, event.session)):
            return
        self._waiting += 1
        reading = asyncio.get_running_loop().run_in_executor(self._reader, summary, path)
        reading.add_done_callback(lambda done: self._note(request, done))

    def _is_repeated(self, session: tuple[str, str]) -> bool:
        now, before = monotonic(), self._ended.pop(session, -AGAIN_AFTER)
        self._ended[session] = now
        return now - before < AGAIN_AFTER

    def _note(self, request: Request, done: "asyncio.Future[Summary | None]") -> None:
        self._waiting -= 1
        if not done.cancelled() and done.exception() is None and (summary := done.result()):
            self._record(request, summary)
