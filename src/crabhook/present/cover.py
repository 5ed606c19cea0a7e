"""Secrets covered on the screen, letter by letter, so that nothing else moves.

A cover stops at a blank, a quote or a letter that a shell acts on. It never covers a word that a
shell could take for a program: an agent cannot hide a command behind "token". Only in a quoted word
that is surely a value are blanks covered too.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from operator import attrgetter
from typing import NamedTuple

from crabhook.data_files import names, tables
from crabhook.present.safe import safe
from crabhook.secrets.context import PRIVATE_KEY, SecretSpan
from crabhook.secrets.find import RANDOM, find

COVER = "•"
ASCII_COVER = "*"

_SHORTEST = 4  # letters of a text that can hold a secret
_REMEMBERED = 2048  # lines whose secrets are known for a while: a screen draws them again and again
_LONGEST = 2048  # such letters of a line
_SHORT = 64  # letters of a text whose covered form is remembered whole
_BEFORE = 600  # letters looked at before a word
_USES = 50  # of a variable that are looked at
_ROUNDS = 8  # a cover can reveal another secret; this seldom takes a second

# Letters of a value: nothing that separates words or that a shell reads as more than itself.
_PLAIN = re.compile(r"[^\s\"'`$();|&<>\\{}\[\],*?#!]+")
_WORD = re.compile(r"[^\s\"'`$();|&<>\\{}]+")  # and what can be between such letters
_VALUE = re.compile(rf"(?:{_PLAIN.pattern}|[ \t])+")
_QUOTES = "\"'"
_BLANKS = " \t"
_OPERATORS = ";|&(){}`\n"
_OPERATOR = re.compile(r"[;|&<>()\n]")
_NAME = re.compile(r"\w+")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_EMPTY = re.compile(r"^(?!-).*\w=$")
# What takes its value from elsewhere than an assignment: an argument, a member of a list, a name
# that another variable holds, or a name (which `for`, `read` or `declare -n` may have set).
_HANDED = re.compile(r"\$(?:[@*1-9]|\{(?:[@*1-9!]|[A-Za-z_]\w*\[)|\{?(?P<name>[A-Za-z_]\w*))")
_RUNNERS, _TAKERS, _ASSIGNERS, _TELLTALES = (
    names(tables(__file__, "cover")[kind])
    for kind in ("runners", "takers", "assigners", "telltales")
)
# A shell line as far as its words can be told without doubt; anything else ends the reading.
_TOKEN = re.compile(
    r"(?P<blank>[ \t]+)|(?P<end>&&|\|\||[;|\n]|&(?!>))|(?P<to>[0-9]?(?:>>?|<)(?![<>&(|]))"
    r"|'(?P<single>[^']*)'|\"(?P<double>[^\"\\`$]*)\"|\"(?P<mixed>(?:[^\"\\`$]|\$[A-Za-z_])*)\""
    r"|(?P<name>\$[A-Za-z_]\w*)|(?P<plain>(?:[^\s\"'`$;&|<>()\\#]|(?<=[^\s;&|])#)+)"
)
# A line of a private key's block, with nothing else in it.
_KEY_LINE = re.compile(r"[\s>|+-]{0,40}[A-Za-z0-9+/]{60,76}={0,2}\\?\s*")


def covered(text: str) -> str:
    """Return an agent's text for a terminal: safe, and its secrets covered."""
    return _known(text) if len(text) <= _SHORT else safe(masked(text))


@lru_cache(maxsize=_REMEMBERED)  # names of tools, events and folders come with every line
def _known(text: str) -> str:
    return safe(masked(text))


def masked(text: str, cover: str = COVER, *, begins: bool = True) -> str:
    """Return `text` with each letter of a secret covered, at the same length.

    `begins`: `text` is no piece of a longer text, in which a quote may be open.
    """
    for _ in range(_ROUNDS):
        parts = (_parts if len(text) > _LONGEST else _remembered)(text, begins)
        if not parts:
            break
        letters = list(text)
        for start, stop in parts:
            letters[start:stop] = cover * (stop - start)
        if (shown := "".join(letters)) == text:
            break
        text = shown
    return text


def _parts(text: str, begins: bool) -> tuple[tuple[int, int], ...]:  # noqa: FBT001 - for a cache
    """Return the parts of secrets in `text` that may be covered, as places from and up to."""
    if len(text) < _SHORTEST or not (spans := find(text)):
        return ()
    values = list(_values(text)) if begins else []
    named = {span.stop for span in spans if span.shown}
    return tuple(
        part
        for span in spans
        if span.kind != RANDOM or span.stop not in named  # it would cover whose secret it is
        for part in _parts_of(text, span, values)
    )


_remembered = lru_cache(maxsize=_REMEMBERED)(_parts)


class _Value(NamedTuple):
    """The inside of a quote of which a shell makes a value, of a variable or a program."""

    start: int
    stop: int
    assigned: bool


def _parts_of(text: str, span: SecretSpan, values: Sequence[_Value]) -> Iterator[tuple[int, int]]:
    start, stop = span.start + span.shown, span.stop
    place = bisect_right(values, start, key=attrgetter("start")) - 1
    inside = values[place] if place >= 0 and stop <= values[place].stop else None
    if inside and not (inside.assigned and _OPERATOR.search(text, start, stop)):
        yield from (value.span() for value in _VALUE.finditer(text, start, stop))
    elif (word := _WORD.match(text, start, stop)) and not _may_run(text, span):
        yield from (value.span() for value in _PLAIN.finditer(text, *word.span()))


def _may_run(text: str, span: SecretSpan) -> bool:
    """Whether a shell could run the secret as a program, or as a part of its name."""
    if span.shown or span.kind == PRIVATE_KEY:
        return not span.shown
    if _takes_a_program(text):
        return True
    start = _word_start(text, span.start)
    glued = text[start : span.start].strip(_QUOTES)
    by_shape = span.kind == RANDOM
    if glued and not (by_shape and not set(glued) & set("=:@")):
        assigned = _ASSIGNMENT.fullmatch(glued)
        return assigned is not None and _is_run(text, assigned[0][:-1])
    words = _words_before(text, start)
    if words and _EMPTY.search(words[-1]):
        return True  # `TOKEN= x` assigns nothing, and runs x
    while words and (_ASSIGNMENT.match(words[-1]) or (by_shape and set(words[-1]) & set("<>"))):
        words.pop()
    if not words:
        return not _stands_alone(text, span)
    return not _RUNNERS.isdisjoint(words) if by_shape else words[-1] in _RUNNERS


def _is_run(text: str, variable: str) -> bool:
    """Whether the text may take a program's name from the variable."""
    if re.search(rf"=[\"']?{variable}(?!\w)", text):
        return True  # another variable has its name
    return _any_program(text, re.finditer(rf"\$\{{?{variable}\b", text))


@lru_cache(maxsize=64)
def _takes_a_program(text: str) -> bool:
    """Whether the text runs arguments of a function, members of a list, or names by name."""
    return _any_program(text, _HANDED.finditer(text))


def _any_program(text: str, uses: Iterator[re.Match[str]]) -> bool:
    """Whether one of the uses is a program's name; many uses count as yes, unread.

    A use with the group `name` counts only where the text may set that name.
    """
    for use in islice(uses, _USES):
        name = use.groupdict().get("name")
        set_here = name is None or re.search(rf"(?<![\w$]){name}(?![\w=])", text) is not None
        if set_here and _is_program(text, use.start()):
            return True
    return next(uses, None) is not None


def _is_program(text: str, place: int) -> bool:
    """Whether a shell would take the word at `place` for a program's name."""
    words = _words_before(text, _word_start(text, place))
    while words and _ASSIGNMENT.match(words[-1]):
        words.pop()
    return not words or words[-1] in _RUNNERS


def _behind(text: str, letters: str, place: int) -> int:
    """Return the place after the last of these letters before `place`, within a bound."""
    least = max(0, place - _BEFORE)
    return max(least, *(text.rfind(letter, least, place) + 1 for letter in letters))


def _word_start(text: str, place: int) -> int:
    return _behind(text, _BLANKS + _OPERATORS, place)


def _words_before(text: str, start: int) -> list[str]:
    return text[_behind(text, _OPERATORS, start) : start].split()


def _stands_alone(text: str, span: SecretSpan) -> bool:
    """Whether the secret is a whole line, longer than any program's name."""
    most = min(len(text), span.stop + _BEFORE)
    ended = text.find("\n", span.stop, most)
    begun = _behind(text, "\n", span.start)
    return _KEY_LINE.fullmatch(text, begun, most if ended < 0 else ended) is not None


def _values(text: str) -> Iterator[_Value]:
    """Return the insides of quotes that the shell line `text` surely uses as values only.

    Such a quote is in an assignment whose name appears nowhere else, or an argument of a program
    that runs no arguments. Reading stops at the first ambiguity, and a line that could run its
    assigned values elsewhere has none.
    """
    named = Counter(_NAME.findall(text))
    if not _TELLTALES.isdisjoint(named):
        return
    program, is_target = "", False  # no program yet: all words so far are assignments
    for word, quoted, ended_by in _shell_words(text):
        assigned = _ASSIGNMENT.match(word)
        if not word or is_target:
            pass  # nothing, or where a redirection leads
        elif assigned and program in ("", *_ASSIGNERS):
            if named[assigned[0].rstrip("=")] == 1:
                yield from (_Value(*place, assigned=True) for place in quoted)
        elif not program:
            program = word
        elif program in _TAKERS:
            yield from (_Value(*place, assigned=False) for place in quoted)
        is_target = ended_by == "to" or (is_target and not word and ended_by == "blank")
        if ended_by == "end":
            program = ""


def _shell_words(text: str) -> Iterator[tuple[str, list[tuple[int, int]], str]]:
    """Yield each word with quotes replaced, the places of its quoted parts, and its end."""
    word, place = "", 0
    quoted: list[tuple[int, int]] = []
    while token := _TOKEN.match(text, place):
        place, kind = token.end(), token.lastgroup or ""
        if kind in ("blank", "end", "to"):
            yield word, quoted, kind
            word, quoted = "", []
        elif kind in ("single", "double"):
            quoted.append(token.span(kind))
            word += "'"
        else:
            word += token[0]
    if place == len(text):
        yield word, quoted, "end"
