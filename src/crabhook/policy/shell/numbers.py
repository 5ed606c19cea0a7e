"""Commands that print a number and nothing else, so that a line may compute with it."""

import re

from crabhook.policy.names import names
from crabhook.policy.shell.script import NUMBER, Atom, Command, Shape, Word

# The whole command, its words fixed; a blank stands between words.
_FORMS = tuple(
    map(
        re.compile,
        (
            r"wc -[lcwm]",
            r"nproc(?: --all)?",
            r"date (?:-u )?\+(?:%[sdmYHMSjNyuw])+",
            r"id -[ug]",
            r"tput (?:cols|lines)",
            r"git rev-list --count(?: [\w./@{}~^][\w./@{}~^-]*)+",
        ),
    )
)
_GREP = re.compile(r"-[ivwxEFsa]*c[ivwxEFsa]*|--count")
_GREP_OPTION = re.compile(r"-[ivwxEFsa]+")
_OPERATORS = frozenset({"+", "-", "*", "/", "%"})
_STAT = (("stat", "-c", "%s"), ("stat", "-c", "%Y"), ("stat", "-f%z"), ("stat", "-f", "%z"))

# Whose output a line may count on: no function of the line may have such a name.
NUMBER_PRINTERS = names("wc nproc date id tput git grep stat seq expr")


def counts(shape: Shape) -> tuple[Atom, ...]:
    """Return what must be digits for commands of this form to print digits; nothing if none do."""
    if shape.last is None or not shape.last.words or shape.mixed or shape.last.assignments:
        return ()
    words = shape.last.words
    if all(word.fixed and " " not in word.text for word in words):
        text = " ".join(word.text for word in words)
        if any(form.fullmatch(text) for form in _FORMS):
            return (NUMBER,)
    return (NUMBER,) if _counts_matches(words) or _is_size(words) else _computes(words)


def _counts_matches(words: tuple[Word, ...]) -> bool:
    """Whether it is `grep -c` of at most one file, which then is not named in what is printed."""
    if len(words) < 3 or not words[0].fixed or words[0].text not in ("grep", "egrep", "fgrep"):
        return False
    options = [word for word in words[1:] if word.raw.startswith("-")]
    others = words[1 + len(options) :]
    if any(word.raw.startswith("-") for word in others) or not 1 <= len(others) <= 2:
        return False
    if not all(word.fixed for word in options) or not all(map(_is_one, others)):
        return False
    texts = [word.text for word in options]
    if not others[0].fixed or others[0].text.startswith("-"):
        return False
    if any(not (word.fixed and not word.text.startswith("-")) for word in others[1:]):
        return False
    return any(map(_GREP.fullmatch, texts)) and all(
        _GREP.fullmatch(text) or _GREP_OPTION.fullmatch(text) for text in texts
    )


def _is_size(words: tuple[Word, ...]) -> bool:
    head = tuple(word.text for word in words[:-1] if word.fixed)
    last = words[-1]
    return (
        len(words) == len(head) + 1
        and head in _STAT
        and _is_one(last)
        and last.raw[:1] not in "-$`\"'"
    )


def _computes(words: tuple[Word, ...]) -> tuple[Atom, ...]:
    """Return the operands of `seq` or `expr`: of numbers these make numbers."""
    if len(words) < 2 or not words[0].fixed or words[0].text not in ("seq", "expr"):
        return ()
    given = [word for word in words[1:] if not (word.fixed and word.text in _OPERATORS)]
    if not all(word.atoms and not word.glob and not word.parts for word in given):
        return ()
    return tuple(atom for word in given for atom in word.atoms)


def _is_one(word: Word) -> bool:
    return not word.glob and not word.parts and all(atom.joined for atom in word.atoms)


def printed(command: Command) -> tuple[str, ...]:
    """Return what a command is likely to print: a guess, to deny by."""
    texts = [word.text for word in command.words]
    if texts[0] in ("which", "echo") or texts[:2] in (
        ["command", "-v"],
        ["type", "-p"],
        ["type", "-P"],
    ):
        rest = [text for text in texts[1:] if not text.startswith("-")]
    elif texts[0] == "printf":
        rest = [text for text in texts[1:] if text not in ("--", "%s", "%s\\n")]
    else:
        return ()
    return (" ".join(rest),) if rest else ()
