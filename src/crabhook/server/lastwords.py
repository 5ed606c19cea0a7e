"""An agent's last words, read from the end of its transcript: why it asks what it asks.

The agent names the file, so nothing about it is taken on trust: only a
regular file of our own user is opened, only on the machine the hook ran on,
and of its content only what an assistant said comes back.  Claude Code writes
one JSON object a line: {"type": "assistant", "message": {"content": [{"type":
"text", "text": …}]}}.  What a plan's own file says is read in the same way.
"""

import asyncio
import json
import os
import re
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

from crabhook.broker.card import Card
from crabhook.model.event import Event
from crabhook.server.ownfile import open_own
from crabhook.server.planfile import plan_file, read_plan

TAIL = 256 * 1024  # bytes of the transcript's end that are read
LONGEST = 2_000  # letters of what was said that are kept
KEPT = 256  # cards whose words are remembered
_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")


class LastWords:
    """What the agents of the cards shown lately said last; each file is read once a card."""

    def __init__(self) -> None:
        self._words: OrderedDict[int, str | None] = OrderedDict()
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
            if len(self._words) > KEPT:
                self._words.popitem(last=False)
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
    return transcript_of(event), read_last_words


def transcript_of(event: Event) -> str:
    """Return where the event's agent keeps its transcript: the session's, or a subagent's own."""
    path = event.text("agent_transcript_path") or event.text("transcript_path")
    if not event.agent_id or event.text("agent_transcript_path"):
        return path
    if not _ID.fullmatch(event.agent_id) or not path.endswith(".jsonl"):
        return ""
    return f"{path.removesuffix('.jsonl')}/subagents/agent-{event.agent_id}.jsonl"


def read_last_words(path: str) -> str:
    """Return what an assistant last said since it was last spoken to; empty where nothing can be.

    Whatever is wrong with the file, nothing raises.
    """
    try:
        lines = _tail(path).split(b"\n")
    except (OSError, ValueError):  # ValueError: a name that no file can have
        return ""
    for line in reversed(lines):
        entry = _entry(line)
        if entry is None or entry.get("isMeta") is True:
            continue
        texts = list(_texts(entry))
        if entry.get("type") == "assistant" and any(text.strip() for text in texts):
            return "\n".join(texts).strip()[:LONGEST]
        if entry.get("type") == "user" and texts:
            return ""
    return ""


def _tail(path: str) -> bytes:
    """Return the end of the file at `path` from the first whole line on; raises OSError."""
    with open_own(path) as (file, size):
        start = max(size - TAIL, 0)
        file.seek(start)
        read = file.read(TAIL)
    return read.partition(b"\n")[2] if start else read


def _entry(line: bytes) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def _texts(entry: dict[str, Any]) -> Iterator[str]:
    """Return what was said in a line; the results of tools are nobody's words."""
    message = entry.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        yield content
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict) and part.get("type") == "text":
            text = part.get("text")
            if isinstance(text, str):
                yield text
