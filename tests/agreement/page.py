"""docs/maintaining/agreement.md, written from the record: the same bytes for the same verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tests.agreement.record import Pair, Record

if TYPE_CHECKING:
    from tests.agreement.pairs import Call, Group

PAGE = Path(__file__).resolve().parents[2] / "docs" / "maintaining" / "agreement.md"

_HEAD = """\
# Our rules and Claude Code's, on the same calls

Each group of rules below was put into Claude Code {version}'s settings and into a rule file of ours.
Claude Code then ran, headless and against a scripted model that made each of the group's calls, with
hooks that only wrote down what happened; our engine judged the inputs that those hooks were told.
`make agreement` asks both again and writes this page; it is not written by hand.

*Claude Code* is what it did: **allow**, the call ran; **ask**, it would have asked its user (its
PermissionRequest event came); **deny**, its rules refused. *crabhook* is what our rules say, **ask** where
they leave a call to the operator. Where the two differ, the last column names the kind of difference,
which [rules.md](../reference/rules.md#where-we-differ-from-claude-code) explains.

`@project@` is the working directory, in the home `@home@`; `@outside@` is in neither. A line end within
a command is written `⏎`, a tab `⇥`, any other character that cannot be seen by its number.

{pairs} pairs, {agree} agreements, {differ} differences: {laxer} where crabhook gives more, {stricter}
where it gives less.

| difference | pairs | Claude Code → crabhook |
| --- | --- | --- |
{kinds}
"""


def page(record: Record, groups: Sequence[Group]) -> str:
    """Return the page."""
    pairs = [(call, record.of(group, call)) for group in groups for call in group.calls]
    apart = [(call, pair) for call, pair in pairs if not pair.agrees]
    laxer = sum(pair.laxer for _, pair in apart)
    head = _HEAD.format(
        version=record.version,
        pairs=len(pairs),
        agree=len(pairs) - len(apart),
        differ=len(apart),
        laxer=laxer,
        stricter=len(apart) - laxer,
        kinds="\n".join(_kinds(apart)),
    )
    return "\n".join([head, *(_section(group, record) for group in groups)])


def _kinds(apart: Sequence[tuple[Call, Pair]]) -> Iterator[str]:
    kinds = Counter(call.differs for call, _ in apart)
    for kind, number in sorted(kinds.items(), key=lambda item: (-item[1], item[0])):
        ways = Counter(
            f"{pair.claude} → {pair.ours}" for call, pair in apart if call.differs == kind
        )
        yield f"| {kind} | {number} | {', '.join(sorted(ways))} |"


def _section(group: Group, record: Record) -> str:
    rules = "\n".join(
        f"- {sentence}: {', '.join(map(_code, texts))}"
        for sentence, texts in group.rules.items()
        if texts
    )
    where = ", in the project's own settings" if group.of_project else ""
    rows = [_row(call, record.of(group, call)) for call in group.calls]
    table = ["| call | Claude Code | crabhook | |", "| --- | --- | --- | --- |", *rows]
    return f"## {group.title}{where}\n\n{rules}\n\n" + "\n".join(table) + "\n"


def _row(call: Call, pair: Pair) -> str:
    return f"| {_code(call.text)} | {pair.claude} | {pair.ours} | {call.differs} |"


def _code(text: str) -> str:
    shown = "".join(map(_seen, text)).replace("|", "\\|")
    fence = "``" if "`" in shown else "`"
    space = " " if "`" in shown or shown != shown.strip() else ""
    return f"{fence}{space}{shown}{space}{fence}"


def _seen(letter: str) -> str:
    known = {"\n": "⏎", "\t": "⇥"}
    return known.get(letter, letter if letter.isprintable() else f"U+{ord(letter):04X}")
