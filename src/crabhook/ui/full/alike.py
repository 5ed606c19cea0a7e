"""What was decided about the same kind of thing not long ago: the same tool with the same target.

It counts only what the operator's own desk remembers, and says so: it is a
help to the memory and no advice.
"""

from collections.abc import Iterable
from urllib.parse import urlsplit

from crabhook.broker.card import Card
from crabhook.broker.states import State
from crabhook.model.decision import Verdict
from crabhook.model.event import Event

_LOOKED_AT = 400  # letters of an input's text in which its first word is looked for
_PATHS = ("file_path", "notebook_path", "path")
_TEXTS = ("pattern", "query", "skill", "subagent_type")


def target(event: Event) -> str:
    """Return what a call is about in a word: its program, its file, its host; empty if unknown."""
    value = event.tool.input if event.tool else None
    if not isinstance(value, dict):
        return ""
    for key in ("command", *_PATHS, "url", *_TEXTS):
        text = value.get(key)
        if isinstance(text, str) and text.strip():
            return _word(key, text)
    return ""


def _word(key: str, text: str) -> str:
    if key == "command":
        return text[:_LOOKED_AT].split(maxsplit=1)[0]
    if key == "url":
        try:
            return urlsplit(text[:_LOOKED_AT]).hostname or ""
        except ValueError:
            return ""
    return text


def decided_before(card: Card, ended: Iterable[Card]) -> str:
    """Return how calls like the card's were decided, in a sentence; empty where none were.

    The text holds an agent's own words, and is not yet safe to show.
    """
    mine, tool = target(card.event), card.event.tool
    if tool is None:
        return ""
    alike = [
        one.decision.verdict
        for one in ended
        if one.state is State.DECIDED
        and one.decision is not None
        and one.number != card.number
        and one.event.tool is not None
        and one.event.tool.name == tool.name
        and target(one.event) == mine
    ]
    allowed, denied = alike.count(Verdict.ALLOW), alike.count(Verdict.DENY)
    if not allowed and not denied:
        return ""
    what = f"{tool.name[:_LOOKED_AT]} {mine[:_LOOKED_AT]}".strip()
    calls = "call" if allowed + denied == 1 else "calls"
    decided = f"{allowed or 'none'} allowed, {denied or 'none'} denied"
    return f"{allowed + denied} {calls} like this ({what}) not long ago: {decided}"
