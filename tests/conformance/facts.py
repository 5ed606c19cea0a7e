"""Facts that many cells share: words for the table, each with the look that makes them true."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.conformance.cell import Fact
from tests.support.scripted_model import MAIN

if TYPE_CHECKING:
    from tests.conformance.outcome import Outcome

WORD = "a word from the desk"
"""What the agent's user is told in every cell that tells the user something."""

LAST_WORDS = "All said."
"""What the scripted model says last, wherever a cell waits for it."""

OWN_PROMPT = "Do you want to"
"""How Claude Code's own permission prompts begin to ask."""


def ran(name: str = "made", words: str = "the command ran") -> Fact:
    """The command left its file."""
    return Fact(words, lambda seen: seen.exists(name))


def did_not_run(name: str = "made", words: str = "the command did not run") -> Fact:
    """The command left no file."""
    return Fact(words, lambda seen: not seen.exists(name))


def model_read(text: str, words: str, conversation: str | None = None) -> Fact:
    """A text stood in a request to the model."""
    return Fact(words, lambda seen: seen.read_by_model(text, conversation))


def model_did_not_read(text: str, words: str, conversation: str | None = None) -> Fact:
    """A text stood in no request to the model."""
    return Fact(words, lambda seen: not seen.read_by_model(text, conversation))


def told_as_result(text: str, words: str) -> Fact:
    """A text stood in what the model was told a tool call came to."""
    return Fact(words, lambda seen: text in seen.results())


def turns(number: int, words: str, conversation: str = MAIN) -> Fact:
    """The model was asked exactly so often."""
    return Fact(words, lambda seen: seen.turns(conversation) == number)


def shown(text: str, words: str) -> Fact:
    """A text was on the agent's screen at the end, or printed by a headless run."""
    return Fact(words, lambda seen: text in _flowing(seen.screen) or text in seen.stdout)


def not_shown(text: str, words: str) -> Fact:
    """A text was neither on the agent's screen at the end nor printed."""
    return Fact(words, lambda seen: text not in _flowing(seen.screen) and text not in seen.stdout)


def _flowing(screen: str) -> str:
    """A screen's text without the breaks of its lines."""
    return " ".join(screen.split())


def fired(event: str, words: str, number: int | None = None, **fields: Any) -> Fact:
    """An event came, with these values; so often, or at least once."""

    def holds(seen: Outcome) -> bool:
        many = seen.fired(event, **fields)
        return many > 0 if number is None else many == number

    return Fact(words, holds)


def fact(words: str, holds: Callable[[Outcome], bool]) -> Fact:
    """Anything else."""
    return Fact(words, holds)


ASKED_AGAIN = turns(2, "the model went on from there")
ENDED = turns(1, "the turn ended there: the model was not asked again")
UNHALTED = turns(2, "the stop was ignored: the model went on")
UNTOLD = fact(
    "the message was neither shown nor kept",
    lambda seen: (
        WORD not in _flowing(seen.screen)
        and "hook_system_message" not in seen.kept()
        and LAST_WORDS in seen.kept()
    ),  # so that all before them would be there too
)
NOTHING_SAID = fact("nothing was printed", lambda seen: seen.decided[0].stdout == b"")
OWN_DIALOG = shown(OWN_PROMPT, "Claude Code's own prompt came up")
