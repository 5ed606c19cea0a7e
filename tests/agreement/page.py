"""The record as tables for people: the same bytes for the same verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tests.agreement.record import Pair, Record

if TYPE_CHECKING:
    from tests.agreement.pairs import Call, Group

_HEAD = """\
# Our rules and Claude Code {version}'s, on the same calls

{pairs} pairs, {agree} agreements, {differ} differences.
crabhook gives more in {laxer} of them, and less in {stricter}.

| difference | pairs | Claude Code → crabhook |
| --- | --- | --- |
{kinds}
"""


def page(record: Record, groups: Sequence[Group]) -> str:
    """Return the kinds of difference, then each group with its rules and both verdicts."""
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
