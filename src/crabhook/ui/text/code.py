"""Code, JSON and Markdown in colours.

The shown letters are exactly those sent; otherwise the text is shown plain. Markdown loses only its
marks. A link's target is shown beside its words; unknown Markdown stays as it is.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import Enum, auto
from functools import cache
from itertools import groupby
from operator import itemgetter

from prompt_toolkit.formatted_text.utils import split_lines
from pygments.lexer import Lexer
from pygments.lexers.data import JsonLexer
from pygments.lexers.shell import BashLexer
from pygments.token import _TokenType, is_token_subtype, string_to_tokentype

from crabhook.data_files import tables
from crabhook.datatypes import frozen
from crabhook.model.jsontext import Value, literal
from crabhook.present.safe import TAB, Speller
from crabhook.ui.text.layout import Line, Rows, Sheet, Span, framed, hung, rows_of_a_line
from crabhook.ui.text.width import Mask, cuts, lines_of, spelling_of, wrapped

LONGEST = 8_000  # letters that are coloured; a lexer's time may grow faster than the text
SHORT = 200  # letters of a text shown beside its key
_LONGEST_LINE = 2_000  # letters of a line of Markdown that may have emphasis; a longer one is plain

_BASH = BashLexer()
_JSON = JsonLexer()
_ENCODER = json.JSONEncoder(indent=2, ensure_ascii=False)

_STYLES: Mapping[_TokenType, str] = {
    string_to_tokentype(name): style for name, style in tables(__file__, "style")["tokens"].items()
}


def shell_rows(text: str, sheet: Sheet) -> Rows:
    """Return a shell command in rows; the flag tells whether a row begins a line."""
    text, spell = sheet.fold(text), sheet.spell
    if len(text) > LONGEST:
        yield from plain_rows(text, sheet)
        return
    if isinstance(spell, Mask):
        text, spell = spell.apart(text)  # whole, to know which quotes are open
    spelt = "\n".join(spell(line.replace("\t", TAB)) for line in lines_of(text))
    for spans in split_lines(_tokens(spelt, _BASH)):
        line = in_red([span[:2] for span in spans])
        yield from rows_of_a_line(wrap_line(line, sheet.columns))


_UNSEEN = re.compile(r"([⟨<]U\+[0-9A-F]{4,6}[⟩>])")


def in_red(line: Line) -> Line:
    """Return a safe line whose marks of letters that nobody sees are in the colour of a danger."""
    if not any("U+" in text for _, text in line):
        return line
    pieces = ((style, piece) for style, text in line for piece in _UNSEEN.split(text) if piece)
    return [("danger" if _UNSEEN.fullmatch(text) else style, text) for style, text in pieces]


def json_line(text: str) -> Line:
    """Return one short line of JSON, already safe, in colours."""
    return _tokens(text, _JSON) if len(text) <= LONGEST else [("", text)]


def titled(title: str, text: str, sheet: Sheet) -> Iterator[Line]:
    """Return an agent's text in full under a title, as words."""
    yield [("label", title)]
    yield from quoted(text, sheet, words=True)


def quoted(text: str, sheet: Sheet, *, style: str = "", words: bool = False) -> Iterator[Line]:
    """Return an agent's text in full behind a bar, in one style."""
    return framed(plain_rows(text, sheet.inner, style=style, words=words))


def paragraph(text: str, sheet: Sheet, style: str = "") -> Iterator[Line]:
    """Return words in full as wide as the sheet, in one style."""
    return (row for _, row in plain_rows(text, sheet, style=style, words=True))


def plain_rows(text: str, sheet: Sheet, *, style: str = "", words: bool = False) -> Rows:
    """Return an agent's text in rows of one style; the flag tells whether a row begins a line."""
    for line in lines_of(sheet.fold(text)):
        rows = wrapped(line.replace("\t", TAB), sheet.columns, sheet.spell, words=words)
        yield from rows_of_a_line(in_red([(style, row)]) for row in rows)


def _tokens(text: str, lexer: Lexer) -> Line:
    ended = lexer.get_tokens_unprocessed(text + "\n")  # lexers know some things by a line's end
    tokens = ((_style_of(kind), value) for _, kind, value in ended)
    spans = [
        (style, "".join(value for _, value in group))
        for style, group in groupby(tokens, key=itemgetter(0))
    ]
    if "".join(value for _, value in spans) != text + "\n":
        return [("", text)]
    style, last = spans.pop()
    return [*spans, (style, last[:-1])]


@cache
def _style_of(kind: _TokenType) -> str:
    fitting = (style for above, style in _STYLES.items() if is_token_subtype(kind, above))
    return next(fitting, "")


def wrap_line(line: Line, columns: int, *, words: bool = False) -> Iterator[Line]:
    """Return a styled, safe line in rows; `words` breaks at spaces where possible."""
    place = begun = 0  # of the span that is being cut
    for start, end in cuts("".join(text for _, text in line), columns, words=words):
        row: Line = []
        while place < len(line):
            style, text = line[place]
            if piece := text[max(start - begun, 0) : end - begun]:
                row.append((style, piece))
            if begun + len(text) > end:
                break
            begun += len(text)
            place += 1
        yield row


def field_rows(fields: Mapping[str, Value], sheet: Sheet) -> Rows:
    """Return the fields in rows; the flag tells whether a row begins a line."""
    for key, value in fields.items():
        yield from _field(key, value, sheet)


def value_rows(value: Value, sheet: Sheet) -> Rows:
    """Return any value as indented JSON, written only as far as somebody looks."""
    line = ""
    for piece in _ENCODER.iterencode(value):
        *whole, rest = (line + piece).split("\n")
        for text in whole:
            yield from _json_rows(text, sheet)
        line = rest
    yield from _json_rows(line, sheet)


def _field(key: str, value: Value, sheet: Sheet) -> Rows:
    spelt = wrapped(sheet.fold(key), sheet.columns - 1, sheet.spell)
    name = [(True, [("name", row)]) for row in spelt]
    *_, (_, last) = name
    last.append(("dim", ":"))
    beside, sheet = _beside(value), replace(sheet, spell=spelling_of(key, sheet.spell))
    if beside is not None:
        words = sheet.spell(sheet.fold(beside, json=True))
        short = [("", words)] if isinstance(value, str) else json_line(words)
        yield from name[:-1]
        yield from rows_of_a_line(wrap_line([*last, ("", " "), *short], sheet.columns))
        return
    yield from name
    narrow = sheet.less(2)
    rows = plain_rows(value, narrow) if isinstance(value, str) else value_rows(value, narrow)
    yield from ((first, [("", "  "), *row]) for first, row in rows)


def _beside(value: Value) -> str | None:
    """Return what fits beside the key: a number, or a text on one short line."""
    if not isinstance(value, str):
        return None if value and isinstance(value, list | dict) else json.dumps(value)
    if len(value) > SHORT or "\n" in value:
        return None
    return literal(value) if _mistakable(value) else value


def _mistakable(text: str) -> bool:
    """Whether a text without quotes would look like another kind of value."""
    if text in ("", "true", "false", "null") or text != text.strip() or text[0] in '"[{':
        return True
    try:
        float(text)
    except ValueError:
        return False
    return True


def _json_rows(text: str, sheet: Sheet) -> Rows:
    text = sheet.fold(text, json=True)
    if len(text) <= SHORT:
        rows = wrap_line(json_line(sheet.spell(text)), sheet.columns)
    else:
        rows = ([("", row)] for row in wrapped(text, sheet.columns, sheet.spell))
    yield from rows_of_a_line(rows)


class LineKind(Enum):
    """What a line of Markdown is."""

    TEXT = auto()
    HEADING = auto()
    CODE = auto()
    FENCE = auto()
    RULE = auto()
    TABLE = auto()


@frozen
class Mark:
    """One line: its kind, its text as sent, and what precedes its words."""

    kind: LineKind
    text: str
    head: str = ""
    words: str = ""


_FENCE = re.compile(r"[ ]{0,12}(?P<fence>`{3,}|~{3,})[^`]*$")
_WHOLE = {  # lines shown as they are
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
    """Return the lines of a text, each with its kind."""
    fence = ""
    for raw in lines_of(text):
        line = raw.replace("\t", TAB)
        fenced = _FENCE.match(line[:_LONGEST_LINE])
        if fence:
            ends = fenced and fenced["fence"].startswith(fence) and line.strip() == fenced["fence"]
            yield Mark(LineKind.FENCE if ends else LineKind.CODE, raw)
            fence = "" if ends else fence
        elif fenced:
            fence = fenced["fence"]
            yield Mark(LineKind.FENCE, raw)
        else:
            yield _mark(raw, line)


def _mark(raw: str, line: str) -> Mark:
    start = line[:_LONGEST_LINE]
    for kind, pattern in _WHOLE.items():
        if pattern.match(start):
            return Mark(kind, raw)
    if match := _LIST.match(start):
        bullet = "·" if match["mark"] in _BULLETS else match["mark"]
        head = f"{match['indent']}{bullet} {match['box'] or ''}"
        return Mark(LineKind.TEXT, raw, head, line[match.end() :])
    if match := _QUOTE.match(start):
        return Mark(LineKind.TEXT, raw, "> " * match[0].count(">"), line[match.end() :])
    indent = line[: len(start) - len(start.lstrip(" "))]
    return Mark(LineKind.TEXT, raw, indent, line[len(indent) :])


_MARK_STYLES = {LineKind.HEADING: "heading", LineKind.CODE: "string", LineKind.TABLE: ""}


def mark_rows(mark: Mark, sheet: Sheet) -> Rows:
    """Return a line in rows; the flag tells whether a row begins it."""
    if mark.kind is not LineKind.TEXT:
        style = _MARK_STYLES.get(mark.kind, "dim")
        is_heading = mark.kind is LineKind.HEADING
        yield from plain_rows(mark.text, sheet, style=style, words=is_heading)
        return
    head, words = _parts(mark, sheet.columns // 2)
    sheet = sheet.less(len(head))
    style = "dim" if ">" in head else "operator"
    if len(words) > _LONGEST_LINE:
        rows = plain_rows(words, sheet, words=True)
    else:
        spans = list(_inline(sheet.fold(words), sheet.spell))
        rows = rows_of_a_line(wrap_line(spans, sheet.columns, words=True))
    yield from rows_of_a_line(hung(head, rows, style))


def _parts(mark: Mark, room: int) -> tuple[str, str]:
    """Return what precedes a line's words, and the words; a head that is too wide loses blanks.

    A head is safe as it is: blanks, digits and our marks. One without room stays with the words.
    """
    marks = mark.head.lstrip(" ")
    if len(marks) > room:
        return "", mark.text.replace("\t", TAB).lstrip(" ")
    indent = min(len(mark.head), room) - len(marks)
    return " " * indent + marks, mark.words


_SPANS = re.compile(
    r"(?P<code>(?P<ticks>`{1,3})(?!`)[^\n]{1,400}?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<link>!?\[(?P<words>[^\]\[\n]{0,400})\]\((?P<target>[^()\s]{0,400})\))"
    r"|(?P<strong>(?<![\w*])\*\*(?=[^\s*])[^*\n]{1,400}(?<=[^\s*])\*\*(?![\w*]))"
    r"|(?P<emphasis>(?<![\w*])\*(?=[^\s*])[^*\n]{1,400}(?<=[^\s*])\*(?![\w*]))"
)


def _inline(text: str, spell: Speller) -> Iterator[Span]:
    """Return a line's words, emphasis as styles, a link's target after its words."""
    end = 0
    for match in _SPANS.finditer(text):
        if match.start() > end:
            yield "", spell(text[end : match.start()])
        end = match.end()
        if match["code"]:
            yield "string", spell(match["code"])
        elif match["link"]:
            yield "name", spell(match["words"])
            yield "dim", f" ({spell(match['target'])})"
        elif match["strong"]:
            yield "strong", spell(match["strong"][2:-2])
        else:
            yield "emphasis", spell(match["emphasis"][1:-1])
    if end < len(text) or not text:
        yield "", spell(text[end:])
