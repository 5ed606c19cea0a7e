"""Every key of the desk, in one table: the help line, the help page and the docs are made from it.

A key is named as prompt_toolkit names it.  At most one row of the table
applies to a key at any moment; a test tries them all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum, auto

from crabhook.ui.moment import (
    Mode,
    Moment,
    When,
    always,
    answering,
    at,
    deciding,
    deciding_a_call,
    in_the_form,
    reviewing,
    taking_back,
    with_a_card,
)


class Act(StrEnum):
    """What a key does."""

    UP = auto()
    DOWN = auto()
    FIRST = auto()
    LAST = auto()
    PAGE_UP = auto()
    PAGE_DOWN = auto()
    OPEN = auto()
    BACK = auto()
    ALLOW = auto()
    ALLOW_WITH_NOTE = auto()
    DENY = auto()
    HAND_BACK = auto()
    PASS = auto()
    TAKE_BACK = auto()
    CHOOSE_NUMBER = auto()
    CHOOSE = auto()
    OWN_WORDS = auto()
    REMARK = auto()
    NEXT_QUESTION = auto()
    QUESTION_BEFORE = auto()
    QUESTION_AFTER = auto()
    REVIEW = auto()
    SEND = auto()
    ENTER_LINE = auto()
    LEAVE_LINE = auto()
    EARLIER_LINE = auto()
    LATER_LINE = auto()
    HELP = auto()
    QUIT = auto()


@dataclass(frozen=True, slots=True)
class Key:
    """One row of the table.

    `shown` is what a person calls the key, `name` what the help line says (a
    row without one is left to the help page), `does` the help page's words.
    """

    keys: tuple[str, ...]
    shown: str
    name: str
    does: str
    act: Act
    when: When


@dataclass(frozen=True, slots=True)
class Group:
    """Keys that apply at the same moments.

    On the help page a group without a title goes on with the one before it,
    and those to know first come first.
    """

    title: str
    keys: tuple[Key, ...]
    first: bool = False


_SHOWN = {
    "escape": "esc",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "tab": "tab",
    "s-tab": "shift-tab",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "c-c": "ctrl-c",
}


def _group(title: str, when: When, *rows: tuple[str, str, str, Act], first: bool = False) -> Group:
    return Group(title, tuple(_key(when, *row) for row in rows), first)


def _key(when: When, keys: str, name: str, does: str, act: Act) -> Key:
    names = tuple(keys.split())
    digits = len(names) == 9 and names[0] == "1"
    shown = "1-9" if digits else " ".join(_SHOWN.get(one, one) for one in names)
    return Key(names, shown, name, does, act, when)


_LOOKING = at(Mode.TEXT, Mode.FORM, Mode.REVIEW, Mode.HELP)
_NOT_TYPING = at(Mode.QUEUE, Mode.TEXT, Mode.FORM, Mode.REVIEW, Mode.HELP)
_NOT_IN_HELP = at(Mode.QUEUE, Mode.TEXT, Mode.FORM, Mode.REVIEW)

# In the order of the help line, the most needed first.
TABLE: tuple[Group, ...] = (
    _group(
        "when an allow is held back",
        taking_back,
        ("u", "TAKE BACK", "take back the allow, which was not sent yet", Act.TAKE_BACK),
    ),
    _group(
        "before sending answers",
        reviewing,
        ("enter y", "send", "send exactly the answers shown", Act.SEND),
    ),
    _group(
        "in a form",
        in_the_form,
        ("space", "choose", "choose the marked row, or take the choice back", Act.CHOOSE),
        ("enter", "next", "the next question; after the last, the review", Act.NEXT_QUESTION),
    ),
    _group(
        "answering questions",
        answering,
        ("1 2 3 4 5 6 7 8 9", "choose", "choose that option, or take it back", Act.CHOOSE_NUMBER),
        ("o", "own words", "answer the question in your own words", Act.OWN_WORDS),
        ("t", "note", "put a note to the model beside the answer", Act.REMARK),
        ("r", "review & send", "see exactly which answers would be sent", Act.REVIEW),
    ),
    _group(
        "deciding",
        deciding,
        ("a", "allow", "allow; unanswered questions then show the agent's own dialog", Act.ALLOW),
        first=True,
    ),
    _group(
        "",
        deciding_a_call,
        ("n", "allow+note", "allow, and tell the model something", Act.ALLOW_WITH_NOTE),
        first=True,
    ),
    _group(
        "",
        deciding,
        ("d", "deny…", "deny; the model reads the reason you type", Act.DENY),
        ("h", "hand back", "let the agent ask its own user in its own prompt", Act.HAND_BACK),
        ("p", "pass", "no opinion: the agent goes on as if crabhook were not there", Act.PASS),
        first=True,
    ),
    _group(
        "in the input box",
        at(Mode.BOX),
        ("enter", "send", "send the line", Act.ENTER_LINE),
        (
            "escape",
            "leave",
            "send nothing; the line is kept among the earlier ones",
            Act.LEAVE_LINE,
        ),
        ("up", "earlier lines", "the line typed before", Act.EARLIER_LINE),
        ("down", "", "the line typed after", Act.LATER_LINE),
    ),
    _group(
        "in the queue",
        with_a_card,
        ("enter tab right", "open", "into the request: scroll it, answer its questions", Act.OPEN),
    ),
    _group(
        "choosing a card",
        at(Mode.QUEUE),
        ("up k", "", "the card above", Act.UP),
        ("down j", "next card", "the card below", Act.DOWN),
    ),
    _group(
        "in a request, a form or this page",
        _LOOKING,
        ("up k", "", "a row up", Act.UP),
        ("down j", "", "a row down", Act.DOWN),
    ),
    _group(
        "between questions",
        at(Mode.FORM),
        ("left s-tab", "", "the question before", Act.QUESTION_BEFORE),
        ("right tab", "", "the question after", Act.QUESTION_AFTER),
        ("escape", "queue", "back to the queue; the answers are kept", Act.BACK),
    ),
    _group(
        "out again",
        at(Mode.TEXT),
        ("escape tab left", "queue", "back to the queue", Act.BACK),
    ),
    _group("", at(Mode.REVIEW), ("escape r", "form", "back to the form", Act.BACK)),
    _group("", at(Mode.HELP), ("escape ? q", "close", "close this page", Act.BACK)),
    _group(
        "far",
        _NOT_TYPING,
        ("g home", "", "the oldest card, or the first row", Act.FIRST),
        ("G end", "", "the newest card, or the last row", Act.LAST),
        ("pageup", "", "a page of the request up", Act.PAGE_UP),
        ("pagedown", "", "a page of the request down", Act.PAGE_DOWN),
    ),
    _group("always", _NOT_IN_HELP, ("?", "all keys", "show this page", Act.HELP)),
    _group("", always, ("c-c", "", "twice: quit; what waits is released, no opinion", Act.QUIT)),
)

KEYS: tuple[Key, ...] = tuple(key for group in TABLE for key in group.keys)


def key_for(pressed: str, moment: Moment) -> Key | None:
    """Return what the pressed key does at this moment."""
    return next((key for key in KEYS if pressed in key.keys and key.when(moment)), None)


def line_keys(moment: Moment) -> Sequence[Key]:
    """Return the keys that make sense now and have a name for the help line."""
    return [key for key in KEYS if key.name and key.when(moment)]
