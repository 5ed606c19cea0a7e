"""Lines that put a text into a variable and have a shell evaluate it: every way, in every place.

`evaluating.txt` has a table of the ways to set a variable, and one of the places that evaluate it.
`pairs` draws each pair once; `Varied` draws pairs without end, varied, the same of the same seed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from random import Random

from tests.fuzz.running.making import HERE, Maker, sections, usable

SHAPES = (
    "path[$({})1]",
    "b[$({})]",
    "path[`{}`1]",
    "([$({})1]=1)",
    "{}",
    "0+b[$({})]",
    "path[0$({})]",
    "x[$({})1]",
    "path[1]=path[$({})1]",
)
"""What runs a program where a shell evaluates it: in arithmetic, as a subscript, as an array, as a line."""
RUNS = ("zz", "z\\z", "/bin/z?", "z${q}z", "$(echo z)z", "z$@z", "${q-zz}", "rm y", "r\\m y", "/bin/r? y", "$(printf 'r%s' m) y", "dd if=a", "git push")  # fmt: skip
"""Programs that no rule covers, or that a rule denies; some by names that only a shell can read."""
NAMES = ("x", "i", "n", "key", "index", "KEY", "N", "line", "match", "status", "f", "BASE_URL", "count", "path", "COLUMNS", "_x", "reply")  # fmt: skip
BEFORE = ("", "", "", "ls; ", "ls\n", "echo a && ", "true; ", "cd a_dir; ", "set -e; ", "q=; ", "x=1; ", "! ", "timeout 5 ls; ", "y=(a b); ", "declare -A m=([key]=v); ", "declare -A y; ")  # fmt: skip
BEHIND = ("", "", "", "; ls", "\nls", " && echo a", " | cat", "; echo $?", " > out/b", " # a", "; y=1", " 2>&1", "; unset y", "; echo ${y[0]}")  # fmt: skip
AROUND = ("eval {q}", "trap {q} EXIT", "bash -c {q}", "zsh -c {q}", "f() {{ {0}; }}; f", "( {0} )", "{{ {0}; }}", "echo $({0})", "for o in 1; do {0}; done", "if true; then {0}; fi", "while {0}; do break; done", "{0} &", "echo <({0})", "bash <<< {q}", "case a in a) {0};; esac", "eval eval {q}", "time {0}", "echo {q} | bash", "env bash -c {q}", "find f -exec bash -c {q} \\;")  # fmt: skip
_NAMED = re.compile(r"(?<![\w$-])x(?=[\W_]|$)|(?<=\$)x\b|(?<=\{)x\b")


@cache
def _tables() -> Mapping[str, Sequence[str]]:
    return sections((HERE / "evaluating.txt").read_text(encoding="utf-8"))


def setters() -> Sequence[str]:
    """Return every way to put a text into the variable x."""
    return _tables()["sets"]


def places() -> Sequence[str]:
    """Return every place that evaluates the text of the variable x."""
    return [*here(), *_tables()["evaluates in other versions"]]


def here() -> Sequence[str]:
    """Return those that do in a shell of today, which a test sees."""
    return _tables()["evaluates"]


def written(setter: str, place: str, text: str, quote: str = "'") -> str:
    """Return the line that sets x to the text in this way and evaluates it in this place."""
    if "<<E" in place or place.endswith("\n"):  # the end of a here-document has its line alone
        setter = setter.replace("⟨e⟩; ", "⟨e⟩\n").replace("⟨e⟩)", "⟨e⟩\n)")
    line = setter.replace("⟨eq⟩", _word(place, "'")).replace("⟨e⟩", place)
    return line.replace("⟨v⟩", _word(text, quote)).replace("⟨raw⟩", text)


def _word(text: str, quote: str) -> str:
    """Return the text as one word, in quotes of this kind."""
    if quote == '"':
        return '"' + re.sub(r'([\\"$`])', r"\\\1", text) + '"'
    if quote == "\\":
        return re.sub(r"([^\w./+-])", r"\\\1", text)
    if quote == "$":
        return "$'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("$", "\\x24") + "'"
    return "'" + text.replace("'", "'\\''") + "'"


def pairs(run: str = "zz") -> Iterator[str]:
    """Yield every way to set in every place that evaluates, once."""
    for setter, place in product(setters(), places()):
        yield written(setter, place, SHAPES[0].format(run))


class Varied:
    """Pairs drawn at random and varied: other texts, names, quotes, what stands around and beside."""

    def __init__(self, seed: int) -> None:
        self._chance = Random(seed)
        self._maker = Maker(seed)

    def lines(self) -> Iterator[str]:
        """Yield one line after the other."""
        return usable(self._line)

    def _line(self) -> str:
        chance = self._chance
        text = chance.choice(SHAPES[:1] * 4 + SHAPES).format(chance.choice(RUNS[:1] * 6 + RUNS))
        place = self._place()
        line = written(chance.choice(setters()), place, text, chance.choice("''''\"\"\\$"))
        if chance.random() < 0.3:
            line = _NAMED.sub(chance.choice(NAMES), line)
        if chance.random() < 0.4:
            line = chance.choice(BEFORE) + line + chance.choice(BEHIND)
        if chance.random() < 0.25:
            line = self._around(line)
        for _ in range(chance.choice((0, 0, 0, 0, 1, 1, 2))):
            line = self._maker.varied(line)
        return line

    def _place(self) -> str:
        """Return one place, at times two, or one within something else."""
        place = self._chance.choice(places())
        if self._chance.random() < 0.15:
            place = f"{self._chance.choice(places())}; {place}"
        return self._around(place) if self._chance.random() < 0.15 else place

    def _around(self, line: str) -> str:
        return self._chance.choice(AROUND).format(line, q=_word(line, "'"))
