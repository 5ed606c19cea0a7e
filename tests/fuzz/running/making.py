"""Lines made by the grammar in `grammar.txt`, and varied: the same of the same seed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random

from tests.unit.policy.law import PICTURES

HERE = Path(__file__).parent
LONGEST = 400
_NAMED = re.compile("⟨(\\w+)⟩")
_DEEPEST = 7
_PIECE = re.compile(r"\w+|\s+|\$[({]|<<-?|[<>]\(|[|&;<>]{2}|[^\w\s]", re.ASCII)
_SPECIAL = ["$", "`", "'", '"', "\\", "\n", ";", "|", "&", "(", ")", "{", "}", "[", "]", "<", ">", "#", "!", "*", "?", "~", "=", ",", ":", "@", "%", "^", "+", "-", "/", "\t", "\r", "$(", "${", "$((", "))", "}}", "``", "''", '""', "$'", '$"', "<(", ">(", "<<", "<<-", "<<<", "<<E", "<<'E'", "\nE\n", "\\\n", ";;", ";&", "&&", "||", "|&", ">&", "&>", ">|", "<>", "[[", "]]", "$[", "$@", "$*", "$x", "$/", "$$", "${x}", "[a]", "a[0]", "=(", "if", "then", "fi", "for", "do", "done", "while", "case", "esac", "in", "f()", "time", "coproc", "function", "select", "until", "eval", "exec", ".", "zz", "rm", "x=1", "x=", "--", "\\'", '\\"', "\\`", "\\$", "$'\\''", "{a,b}", "é", "\xa0", "\x01", "\x7f", "\x0b", "\x0c"]  # fmt: skip
_QUOTES = ("'{}'", '"{}"', "$'{}'", '$"{}"', "\\{}", "`{}`", "$({})", '"$({})"', "${{x:-{}}}", "({})", "{{ {}; }}", "[{}]", "<({})", "$(( {} ))", "'{}", '"{}', "{}'", '{}"', "`{}", "eval '{}'", "bash -c '{}'", "! {}", "time {}", "<<E\n{}\nE\n", "[[ {} ]]", "if {}; then {}; fi", "{} {}")  # fmt: skip


@cache
def grammar() -> Mapping[str, Sequence[str]]:
    """Return what there is to make lines of: from a name to the ways to write it."""
    return sections((HERE / "grammar.txt").read_text(encoding="utf-8"))


def sections(text: str) -> Mapping[str, Sequence[str]]:
    """Return the rows of a table's text, by the names of its sections."""
    found: dict[str, list[str]] = {}
    rows = found.setdefault("", [])
    for row in text.split("\n"):
        if row.startswith("== "):
            rows = found.setdefault(row[3:], [])
        elif row:
            rows.append(plain(row))
    return found


def plain(row: str) -> str:
    """Return what a row of a table stands for."""
    return row.translate(PICTURES).replace("␠", " ")


def pictured(line: str) -> str:
    """Return a line as a row of a table: what cannot be seen as its picture."""
    table = {code: 0x2400 + code for code in range(0x20)} | {0x0A: 0x2424}
    line = line.translate(table)
    bare = line.strip(" ")
    before, after = len(line) - len(line.lstrip(" ")), len(line) - len(line.rstrip(" "))
    return line if line == bare else f"{'␠' * before}{bare}{'␠' * (after if bare else 0)}"


def kinds() -> list[str]:
    """Return the kinds of line that were once allowed and should not have been."""
    return [name for name in grammar() if name.startswith(("met: ", "denied: "))]


def known() -> list[str]:
    """Return every line that once broke the law: as it was found, or as a row of a kind."""
    found = (HERE / "found.txt").read_text(encoding="utf-8").split("\n")
    rows = [row for kind in kinds() for row in grammar()[kind] if "⟨" not in row]
    return [*(plain(row) for row in found if row), *rows]


def usable(draw: Callable[[], str]) -> Iterator[str]:
    """Yield lines that are drawn, without end: cut, without NUL, and none of blanks alone."""
    while True:
        line = draw()[:LONGEST].replace("\0", "")
        if line.strip():
            yield line


class Maker:
    """Makes lines without end; `kind` limits it to one of `kinds`."""

    def __init__(self, seed: int, kind: str = "") -> None:
        self._chance = Random(seed)
        self._grammar = grammar()
        self._starts = [kind] if kind else kinds()
        self._narrow = bool(kind)
        self._lately: list[str] = []

    def lines(self) -> Iterator[str]:
        """Yield one line after the other."""
        return usable(self._line)

    def _line(self) -> str:
        chance = self._chance.random()
        if self._narrow:
            start = self._starts[0]
        elif chance < 0.45:
            start = "line"
        elif chance < 0.5:
            start = self._chance.choice(("compound", "inside", "heredoc", "test", "builtin"))
        else:
            start = self._chance.choice(self._starts)
        line = self._written(start, 0)
        for _ in range(
            self._chance.choice((0, 0, 1, 1, 2, 3) if self._narrow else (0, 1, 1, 2, 4))
        ):
            line = self.varied(line)
        self._keep(line)
        return line

    def _keep(self, line: str) -> None:
        """Remember some lines, of which others get a part."""
        if len(self._lately) < 300:
            self._lately.append(line)
        else:
            self._lately[self._chance.randrange(300)] = line

    def _written(self, name: str, depth: int) -> str:
        rows = self._grammar[name]
        row = self._chance.choice(rows)
        if depth > _DEEPEST:
            row = next((one for one in self._chance.sample(rows, len(rows)) if "⟨" not in one), "a")
        return _NAMED.sub(lambda match: self._written(match[1], depth + 1), row)

    def varied(self, line: str) -> str:
        """Return the line with one piece of it put in, taken out, exchanged or quoted otherwise."""
        pieces = _PIECE.findall(line) or [line]
        self._chance.choice(_WAYS)(self._chance, pieces, self._part)
        return "".join(pieces)

    def _part(self) -> list[str]:
        """Return pieces of something else: of a line made lately, or of what the grammar names."""
        if self._lately and self._chance.random() < 0.5:
            other = _PIECE.findall(self._chance.choice(self._lately))
            at = self._chance.randint(0, len(other))
            return other[at : at + self._chance.choice((1, 2, 4, 8))]
        name = self._chance.choice(("form", "form", "word", "redirect", "run", "test", "safe"))
        return [self._written(name, 3)]


def _put_in(chance: Random, pieces: list[str], _: Callable[[], list[str]]) -> None:
    pieces.insert(chance.randint(0, len(pieces)), chance.choice(_SPECIAL))


def _take_out(chance: Random, pieces: list[str], _: Callable[[], list[str]]) -> None:
    at = chance.randrange(len(pieces))
    del pieces[at : at + chance.choice((1, 1, 1, 2, 3))]


def _repeat(chance: Random, pieces: list[str], _: Callable[[], list[str]]) -> None:
    at, to = chance.randrange(len(pieces)), chance.randint(0, len(pieces))
    pieces[to:to] = pieces[at : at + chance.choice((1, 1, 2, 4))]


def _swap(chance: Random, pieces: list[str], _: Callable[[], list[str]]) -> None:
    one, other = chance.randrange(len(pieces)), chance.randrange(len(pieces))
    pieces[one], pieces[other] = pieces[other], pieces[one]


def _quote(chance: Random, pieces: list[str], _: Callable[[], list[str]]) -> None:
    at = chance.randrange(len(pieces))
    end = at + chance.choice((1, 1, 1, 3, 5, 9))
    inside = "".join(pieces[at:end])
    pieces[at:end] = [chance.choice(_QUOTES).replace("{}", "\0").format().replace("\0", inside)]


def _break(chance: Random, pieces: list[str], _: Callable[[], list[str]]) -> None:
    blanks = [at for at, piece in enumerate(pieces) if piece.isspace()]
    at = chance.choice(blanks) if blanks else chance.randrange(len(pieces))
    pieces[at] = chance.choice(("\n", "\\\n", " \\\n", "\t", "", "  ", "\r\n", "\n\n", " #\n"))


def _replace(chance: Random, pieces: list[str], part: Callable[[], list[str]]) -> None:
    at = chance.randrange(len(pieces))
    pieces[at : at + chance.choice((1, 1, 2))] = part()


def _splice(chance: Random, pieces: list[str], part: Callable[[], list[str]]) -> None:
    at = chance.randint(0, len(pieces))
    pieces[at:at] = part()


def _append(chance: Random, pieces: list[str], part: Callable[[], list[str]]) -> None:
    pieces += [chance.choice((";", "\n", " ", "|", " && ", "&", "")), *part()]


_WAYS = (_put_in, _put_in, _put_in, _take_out, _take_out, _repeat, _swap, _quote, _quote, _break, _replace, _replace, _splice, _splice, _append)  # fmt: skip
