"""A past call as rules can be asked about it again, though not all of it was recorded."""

import re
from dataclasses import replace

from crabhook.model.event import Event
from crabhook.model.jsontext import Value

# What the record has in the place of a secret (docs/reference/audit.md).
_MARK = re.compile(r"\[(?:redacted [a-z0-9-]{1,40}|cut) len=\d{1,12} #([0-9a-f]{8})\]")
_STAND_IN = re.compile(r"\bredacted-[0-9a-f]{8}\b")


def recalled(event: Event) -> Event:
    """Return the event as it is judged: in the default mode, with a word for each secret.

    The permission mode is not recorded.  The mark of a secret has blanks and
    a `#` in it, which a shell would read as several words and a comment; the
    secret was most likely one word, so one stands in for it.
    """
    tool = event.tool and replace(event.tool, input=_with_words(event.tool.input))
    return replace(event, tool=tool, permission_mode="default")


def holds_a_stand_in(text: str) -> bool:
    """Whether the text has a word in it that stands for a secret."""
    return _STAND_IN.search(text) is not None


def _with_words(value: Value) -> Value:
    """Return an input with its marks replaced, as deep as rules look into it."""
    if not isinstance(value, dict):
        return value
    return {
        key: list(map(_word, one)) if isinstance(one, list) else _word(one)
        for key, one in value.items()
    }


def _word(value: Value) -> Value:
    return _MARK.sub(r"redacted-\1", value) if isinstance(value, str) else value
