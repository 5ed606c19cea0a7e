"""An agent's last words, read from the end of its transcript: why it asks what it asks.

The agent names the file, and only on the machine the hook ran on is it looked
for.  What a plan's own file says is read in the same way.  Each is read in a
thread.
"""

import asyncio
import os
import re
from collections.abc import Callable

from crabhook.broker.card import Card
from crabhook.model.bounded_dict import Bounded
from crabhook.model.event import Event
from crabhook.server.planfile import plan_file, read_plan
from crabhook.transcript import last_words

KEPT = 256  # cards whose words are remembered
_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")


class LastWords:
    """What the agents of the cards shown lately said last; each file is read once a card."""

    def __init__(self) -> None:
        self._words: Bounded[int, str | None] = Bounded(KEPT)
        self._host = os.uname().nodename

    def __repr__(self) -> str:
        return f"<LastWords {len(self._words)}>"

    def of(self, card: Card) -> str | None:
        """Return the words of the card's agent, or its plan; None while they are being read."""
        if card.number not in self._words:
            path, read = _source(card.event)
            here = card.requests[0].origin.host == self._host
            if not (here and path):
                return ""
            self._words[card.number] = None
            reading = asyncio.get_running_loop().run_in_executor(None, read, path)
            reading.add_done_callback(lambda done: self._note(card.number, done))
        return self._words[card.number]

    def _note(self, number: int, done: "asyncio.Future[str]") -> None:
        if number in self._words:
            failed = done.cancelled() or done.exception() is not None
            self._words[number] = "" if failed else done.result()


def _source(event: Event) -> tuple[str, Callable[[str], str]]:
    """Return the file that tells most about a card, and how it is read."""
    if plan := plan_file(event):
        return plan, read_plan
    return transcript_of(event), last_words


def transcript_of(event: Event) -> str:
    """Return where the event's agent keeps its transcript: the session's, or a subagent's own."""
    path = event.text("agent_transcript_path") or event.text("transcript_path")
    if not event.agent_id or event.text("agent_transcript_path"):
        return path
    if not _ID.fullmatch(event.agent_id) or not path.endswith(".jsonl"):
        return ""
    return f"{path.removesuffix('.jsonl')}/subagents/agent-{event.agent_id}.jsonl"
