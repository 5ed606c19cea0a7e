"""A hook script as facts, whatever language it is written in."""

from dataclasses import dataclass
from enum import StrEnum

from crabhook.lint.finding import Place
from crabhook.lint.shape import Shape


class Language(StrEnum):
    """What a script is written in."""

    PYTHON = "Python"
    SHELL = "shell"


class Written(StrEnum):
    """How an answer is put on standard output."""

    JSON = "as JSON"
    REPR = "as Python shows a dict, which is not JSON"
    BROKEN = "as text that begins and ends like JSON and is not"


@dataclass(frozen=True, slots=True)
class Answer:
    """One thing on standard output that is, or is meant to be, a JSON object.

    `shapes`: what it may be; none where that is not known.  `behind`: where
    plain text is written that surely comes before it.
    """

    place: Place
    written: Written
    shapes: tuple[Shape, ...] = ()
    behind: Place | None = None


@dataclass(frozen=True, slots=True)
class Exit:
    """One place where the script ends itself; `code` is None where it is not known.

    `refusing`: the words before it say that something is refused.  `answered`:
    an answer on standard output may come before it, and decides.  `failing`:
    it is what is done about an error.
    """

    place: Place
    code: int | None
    refusing: bool = False
    answered: bool = False
    failing: bool = False


@dataclass(frozen=True, slots=True)
class Wait:
    """How long one thing in the script may take, in seconds."""

    place: Place
    seconds: float
    what: str


@dataclass(frozen=True, slots=True)
class Lapse:
    """An `except` that does not end the script: what it does, `raises again` or `just ends`."""

    place: Place
    does: str


@dataclass(frozen=True, slots=True)
class Named:
    """A name that the script uses: an input field, a variable, an event."""

    place: Place
    name: str


class Source(StrEnum):
    """Where a script takes its input from."""

    JSON = "JSON on standard input"
    LINES = "input()"
    ARGUMENTS = "its arguments"
    FILE = "a file"


@dataclass(frozen=True, slots=True)
class Reading:
    """One place where the script takes its input; `guarded`: an error there is handled."""

    place: Place
    source: Source
    guarded: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    """What a script's text says it does.

    `words` are the names and texts in it, to know what it speaks of.
    `fields` are what it asks its input for, `variables` what it asks its
    surroundings for.  `chatter`: plain text on standard output.  `speaks`: it
    may write on standard error.  `unread`: where it was not understood, so
    that nothing is known of it.
    """

    language: Language
    shebang: str = ""
    answers: tuple[Answer, ...] = ()
    chatter: tuple[Place, ...] = ()
    exits: tuple[Exit, ...] = ()
    lapses: tuple[Lapse, ...] = ()
    waits: tuple[Wait, ...] = ()
    readings: tuple[Reading, ...] = ()
    fields: tuple[Named, ...] = ()
    variables: tuple[Named, ...] = ()
    words: frozenset[str] = frozenset()
    unread: tuple[Place, ...] = ()
    speaks: bool = False

    def longest_wait(self) -> Wait | None:
        """Return the longest of its waits."""
        return max(self.waits, key=lambda wait: wait.seconds, default=None)
