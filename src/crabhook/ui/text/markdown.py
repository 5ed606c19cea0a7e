"""Markdown for a terminal, line by line: styled and indented, with nothing taken out but its marks.

The target of a link stands beside its words, and what is no Markdown we know stands as it is.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from crabhook.ui.text.code import plain_rows, wrap_line
from crabhook.ui.text.layout import Rows, Sheet, Span, hung, rows_of_a_line
from crabhook.ui.text.safe import TAB
from crabhook.ui.text.width import Speller, lines_of

LONGEST = 2_000  # letters of a line that are looked at for emphasis; a longer one stands plain


class LineKind(Enum):
    """What a line of Markdown is."""

    TEXT = auto()
    HEADING = auto()
    CODE = auto()
    FENCE = auto()
    RULE = auto()
    TABLE = auto()


@dataclass(frozen=True, slots=True)
class Mark:
    """One line: what it is, its text as it was sent, and what stands before its words."""

    kind: LineKind
    text: str
    head: str = ""
    words: str = ""


_FENCE = re.compile(r"[ ]{0,12}(?P<fence>`{3,}|~{3,})[^`]*$")
_WHOLE = {  # lines that stand as they are
    LineKind.HEADING: re.compile(r"[ ]{0,3}#{1,6}(?:[ ]|$)"),
    LineKind.RULE: re.compile(r"[ ]{0,3}(?:(?:-[ ]*){3,}|(?:\*[ ]*){3,}|(?:_[ ]*){3,})$"),
    LineKind.TABLE: re.compile(r"\s*\|"),
}
_LIST = re.compile(
    r"(?P<indent>[ ]{0,60})(?P<mark>[-*+]|[0-9]{1,9}[.)])[ ]{1,4}(?P<box>\[[ xX]\] )?"
)
_QUOTE = re.compile(r"[ ]{0,3}(?:>[ ]?){1,9}")
_BULLETS = "-*+"


def marks_of(text: str) -> Iterator[Mark]:
    """Return the lines of a text, each with what it is."""
    fence = ""
    for raw in lines_of(text):
        line = raw.replace("\t", TAB)
        found = _FENCE.match(line[:LONGEST])
        if fence:
            ends = found and found["fence"].startswith(fence) and line.strip() == found["fence"]
            yield Mark(LineKind.FENCE if ends else LineKind.CODE, raw)
            fence = "" if ends else fence
        elif found:
            fence = found["fence"]
            yield Mark(LineKind.FENCE, raw)
        else:
            yield _mark(raw, line)


def _mark(raw: str, line: str) -> Mark:
    start = line[:LONGEST]
    for kind, pattern in _WHOLE.items():
        if pattern.match(start):
            return Mark(kind, raw)
    if found := _LIST.match(start):
        bullet = "·" if found["mark"] in _BULLETS else found["mark"]
        head = f"{found['indent']}{bullet} {found['box'] or ''}"
        return Mark(LineKind.TEXT, raw, head, line[found.end() :])
    if found := _QUOTE.match(start):
        return Mark(LineKind.TEXT, raw, "> " * found[0].count(">"), line[found.end() :])
    indent = line[: len(start) - len(start.lstrip(" "))]
    return Mark(LineKind.TEXT, raw, indent, line[len(indent) :])


_STYLES = {LineKind.HEADING: "heading", LineKind.CODE: "string", LineKind.TABLE: ""}


def mark_rows(mark: Mark, sheet: Sheet) -> Rows:
    """Return a line in rows; the flag tells whether a row begins it."""
    if mark.kind is not LineKind.TEXT:
        style, words = _STYLES.get(mark.kind, "dim"), mark.kind is LineKind.HEADING
        yield from plain_rows(mark.text, sheet, style=style, words=words)
        return
    head = mark.head[: max(sheet.columns // 2, 1)]  # blanks, digits, our marks: safe as it is
    sheet = sheet.less(len(head))
    style = "dim" if ">" in head else "operator"
    if len(mark.words) > LONGEST:
        rows = plain_rows(mark.words, sheet, words=True)
    else:
        spans = list(_inline(sheet.fold(mark.words), sheet.spell))
        rows = rows_of_a_line(wrap_line(spans, sheet.columns, words=True))
    yield from rows_of_a_line(hung(head, rows, style))


_SPANS = re.compile(
    r"(?P<code>(?P<ticks>`{1,3})(?!`)[^\n]{1,400}?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<link>!?\[(?P<words>[^\]\[\n]{0,400})\]\((?P<target>[^()\s]{0,400})\))"
    r"|(?P<strong>(?<![\w*])\*\*(?=[^\s*])[^*\n]{1,400}(?<=[^\s*])\*\*(?![\w*]))"
    r"|(?P<emphasis>(?<![\w*])\*(?=[^\s*])[^*\n]{1,400}(?<=[^\s*])\*(?![\w*]))"
)


def _inline(text: str, spell: Speller) -> Iterator[Span]:
    """Return a line's words, its emphasis as styles; a link's target stands behind its words."""
    end = 0
    for found in _SPANS.finditer(text):
        if found.start() > end:
            yield "", spell(text[end : found.start()])
        end = found.end()
        if found["code"]:
            yield "string", spell(found["code"])
        elif found["link"]:
            yield "name", spell(found["words"])
            yield "dim", f" ({spell(found['target'])})"
        elif found["strong"]:
            yield "strong", spell(found["strong"][2:-2])
        else:
            yield "emphasis", spell(found["emphasis"][1:-1])
    if end < len(text) or not text:
        yield "", spell(text[end:])
