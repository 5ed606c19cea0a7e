"""The texts by which a rule may allow a command: each is the whole of it, in one reading."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from crabhook.policy.names import names
from crabhook.policy.shell.script import Command, Word
from crabhook.policy.shell.unfold import BLANK, line
from crabhook.policy.shell.wrappers import is_safe, unwrapped

# They run other programs, so a wildcard on them would allow anything.
_RUNNERS = frozenset({"watch", "setsid", "ionice", "flock"})
_FIND_ACTS = frozenset(
    {"-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"}
)
# These evaluate the subscripts in their arguments: `printf -v 'a[$(…)]'`.
_EVALUATORS = names(
    "printf read unset test [ [[ let declare typeset local readonly export mapfile readarray "
    "wait getopts"
)


@dataclass(frozen=True, slots=True)
class Reading:
    """One text for a command; `exact`: only a rule without wildcards may allow it.

    `assigned`: the text begins with assignments, which a rule must name.
    """

    text: str
    exact: bool = False
    assigned: bool = False


def readings(command: Command) -> tuple[Reading, ...]:
    """Return the texts of which a rule must match one to allow the command."""
    found = []
    inside_xargs = False
    skippable = all(map(is_safe, command.assignments))
    for words in unwrapped(command):
        if not _evaluates(words):
            tail = [BLANK] if inside_xargs else []  # arguments that nobody knows yet
            text = line([*map(_text, words), *tail])
            exact = _needs_exact(words, unknown_tail=inside_xargs)
            if skippable:
                found.append(Reading(text, exact))
            if command.assignments and len(words) == len(command.words):
                before = line([f"{one.name}={_text(one.value)}" for one in command.assignments])
                found.append(Reading(f"{before} {text}", exact, assigned=True))
        inside_xargs |= words[0].text == "xargs"
    return tuple(found)


def _text(word: Word) -> str:
    return word.text if word.fixed else word.raw


def _needs_exact(words: Sequence[Word], *, unknown_tail: bool) -> bool:
    name = words[0].text
    if name != "find":
        return name in _RUNNERS
    acts = any(word.text in _FIND_ACTS for word in words)
    return acts or unknown_tail or not all(word.fixed for word in words)


def _evaluates(words: Sequence[Word]) -> bool:
    if words[0].text not in _EVALUATORS:
        return False
    return any("[" in text and ("$(" in text or "`" in text) for text in _values(words[1:]))


def _values(words: Sequence[Word]) -> Iterator[str]:
    for word in words:
        yield from word.values
