"""The blocks of a card's document as HTML."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, groupby, islice, zip_longest
from operator import itemgetter

from crabhook.model.card import Level
from crabhook.model.event import How
from crabhook.model.jsontext import Value, compact, literal
from crabhook.model.order import CAP
from crabhook.model.wording import plural
from crabhook.present.address import about_address
from crabhook.present.compare import Side, changed_words, compared
from crabhook.present.document import (
    LEVELS,
    NOTHING_RISKY,
    RESTORED,
    AgentMessage,
    AskedAgain,
    Block,
    CallRisk,
    CardContext,
    CardReason,
    ChangedFields,
    CommandText,
    Counts,
    Description,
    Fact,
    FilePath,
    HiddenLetters,
    Json,
    KeptGoing,
    LastCalls,
    McpForm,
    Name,
    NewText,
    OddInput,
    OfferedRules,
    OurWords,
    Plan,
    Questions,
    Quote,
    SentEvent,
    ServerAsks,
    TextChange,
    TextChanges,
    UnifiedDiff,
)
from crabhook.present.phrases import joined as phrase
from crabhook.present.safe import folded
from crabhook.present.sentence import MARKS
from crabhook.present.summary import called, json_start
from crabhook.ui.web.forms import form, questions
from crabhook.ui.web.html import NOTHING, Html, el, joined, spaced
from crabhook.ui.web.texts import (
    MOST_LETTERS,
    MOST_LINES,
    Pen,
    StartOfText,
    block,
    line,
    lines_of,
    paragraph,
    rows_of,
    section,
    text_block,
    words_of,
)

_MOST_COMPARED = 800  # lines of both sides; comparing may take their number squared
_ITS_END = "the end of it"
_DEEPEST = 5  # of a value that is drawn as lists
_SHORT = 40  # letters of a text that could be taken for another kind of value
_RAW = 20_000  # letters of JSON


def drawn(blocks: Iterable[Block], pen: Pen) -> Html:
    """Return blocks; part by part where the page has no drawing for a block."""
    return joined(chain.from_iterable(_drawn(each, pen) for each in blocks))


def _drawn(each: Block, pen: Pen) -> Iterator[Html]:
    if (drawing := _DRAWINGS.get(type(each))) is not None:
        yield drawing(each, pen)
    else:
        yield from (html for part in each.parts for html in _drawn(part, pen))


# What a tool is given.


def _command(each: CommandText, pen: Pen) -> Html:
    return text_block("patch" if each.is_patch else "command", each.text, pen, "command")


def _change(each: TextChange, pen: Pen, title: str = "") -> Html:
    before, after = StartOfText.of(each.before), StartOfText.of(each.after)
    lines = changed_lines(before.text, after.text, pen)
    rest = before.rest or after.rest or ("" if each.whole else _ITS_END)
    return block("change", lines, _counts(title or "change", each.counts), rest)


def _counts(title: str, counts: Counts | None) -> str:
    added, removed = counts or (None, None)
    come = f"{plural(added, 'line')} added" if added is not None else ""
    go = f"{plural(removed, 'line')} removed" if removed is not None else ""
    return phrase(title, come, go)


def changed_lines(old: str, new: str, pen: Pen) -> list[Html]:
    """Return the change from one text to another, line by line, with nothing left out."""
    if old.count("\n") + new.count("\n") > _MOST_COMPARED:
        sides = [(Side.REMOVED, each) for each in old.split("\n")]
        runs = [(Side.REMOVED, [each for _, each in sides]), (Side.ADDED, new.split("\n"))]
    else:
        runs = _compared(old, new)
    lines: list[Html] = []
    for at, (side, run) in enumerate(runs):
        before, after = runs[at - 1] if at else None, runs[at + 1] if at + 1 < len(runs) else None
        beside = {Side.REMOVED: after, Side.ADDED: before}.get(side)
        others = beside[1] if beside and beside[0] is not Side.KEPT else []
        for each, other in zip_longest(run, others[: len(run)]):
            pieces = [(False, each)] if other is None else changed_words(each, other)
            lines.append(_side(side, pieces, pen))
    return lines


def _compared(old: str, new: str) -> list[tuple[Side, list[str]]]:
    changes = list(compared(old.split("\n"), new.split("\n")))
    bare = {(side, spaced(each).rstrip()) for side, each in changes}
    alike = any((Side.ADDED, each) in bare for side, each in bare if side is Side.REMOVED)
    runs = groupby(changes, itemgetter(0))
    return [
        (
            side,
            [_blanks_shown(each) if alike and side is not Side.KEPT else each for _, each in run],
        )
        for side, run in runs
    ]


def _blanks_shown(each: str) -> str:
    """Return a line with its tabs and the blanks at its end made visible."""
    bare = each.rstrip(" ")
    return bare.replace("\t", "→   ") + "·" * (len(each) - len(bare))


_OF_A_SIDE = {Side.ADDED: "added", Side.REMOVED: "removed", Side.KEPT: ""}


def _side(side: Side, pieces: Sequence[tuple[bool, str]], pen: Pen) -> Html:
    whole = "".join(words for _, words in pieces)
    if pen.words(whole, piece=True) != whole:  # a cover does not stop where a word does
        pieces = [(False, pen.words(whole, piece=True))]
    inner = (
        el("b", words_of(words), class_="changed") if changed else words_of(words)
        for changed, words in pieces
    )
    return line(el("span", f"{side} ", class_="sign"), *inner, class_=_OF_A_SIDE[side])


def _changes(each: TextChanges, pen: Pen) -> Html:
    count = len(each.edits)
    parts = []
    for place, edit in enumerate(each.edits, 1):
        title = f"edit {place} of {count}"
        if edit.change is not None:
            parts.append(_change(edit.change, pen, title))
        if edit.rest:
            parts.append(_fields(edit.rest, pen, "with" if edit.change else title))
    return joined(parts)


def _new_text(each: NewText, pen: Pen) -> Html:
    shown = StartOfText.of(each.text)
    body = shown.text if shown.rest else shown.text.removesuffix("\n")
    plus = [(False, words) for words in folded(body).split("\n")]
    lines = [_side(Side.ADDED, [words], pen) for words in plus]
    if not each.text.endswith("\n"):
        lines.append(line("(no newline at the end)", class_="dim"))
    rest = shown.rest or ("" if each.whole else _ITS_END)
    return block("new", lines, _counts("new text", each.counts), rest)


def _plan(each: Plan, pen: Pen) -> Html:
    """Return a plan line by line; a line has a button for a note while the plan waits."""
    shown = StartOfText.of(each.text)
    numbered = enumerate(pen.words(shown.text).split("\n"), 1)
    lines = [
        line(_line_number(place, pen), words_of(folded(words)), data_line=place)
        for place, words in numbered
    ]
    return block("plan", lines, "plan", shown.rest)


def _line_number(place: int, pen: Pen) -> Html:
    if not pen.open:
        return el("span", str(place), class_="number")
    words = f"note on line {place}"
    return el(
        "button", str(place), type="button", class_="number", data_line=place, aria_label=words
    )


def _changed_fields(each: ChangedFields, pen: Pen) -> Html:
    return joined(
        _change(TextChange({}, before, after), pen, f"what was changed: {key}")
        for key, before, after in each.changes
    )


# Fields as they were sent.


def _fields(fields: Mapping[str, Value], pen: Pen, title: str = "with") -> Html:
    return value_block(dict(fields), pen, title)


def value_block(value: Value, pen: Pen, title: str) -> Html:
    """Return a value in lists; the start of its JSON where it is too long for a page."""
    if not _is_short(value):
        written = StartOfText.of(json_start(value, MOST_LETTERS, indent=2))
        return block("fields", lines_of(pen.words(written.text)), title, _ITS_END)
    return section("fields", _value("", value, pen), title=title)


def _is_short(value: Value) -> bool:
    few = sum(1 for _ in islice(_values_in(value), MOST_LINES + 1)) <= MOST_LINES
    return few and len(json_start(value, MOST_LETTERS)) <= MOST_LETTERS


def _values_in(value: Value) -> Iterator[Value]:
    """Yield a value and all that is in it."""
    yield value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for each in inner:
        yield from _values_in(each)


def _value(key: str, value: Value, pen: Pen, depth: int = 0) -> Html:
    """Return a value in lists, and what lies too deep in them as JSON."""
    if isinstance(value, dict | list) and value and depth > _DEEPEST:
        value = json.dumps(value, ensure_ascii=False)
    match value:
        case dict(fields) if fields:
            pairs = (
                (_key(name, pen), el("dd", _value(name, each, pen, depth + 1)))
                for name, each in fields.items()
            )
            return el("dl", *chain.from_iterable(pairs), class_="fields")
        case list(items) if items:
            return el("ol", *(el("li", _value(key, item, pen, depth + 1)) for item in items))
        case str(words) if "\n" in words:
            return block("text", lines_of(pen.of(key, words)))
        case str(words):
            return line(_covered(key, literal(words) if _mistakable(words) else words, pen))
    return line(el("code", compact(value), class_="value"))


def _key(name: str, pen: Pen) -> Html:
    return el("dt", line(_covered("", name, pen)))


def _covered(key: str, words: str, pen: Pen) -> Html:
    return words_of(folded(pen.of(key, words)))


def _mistakable(words: str) -> bool:
    """Whether a text without quotes would look like another kind of value."""
    if words != words.strip() or words[:1] in ("", '"', "[", "{"):
        return True
    with suppress(ValueError):
        json.loads(words[:_SHORT])
        return len(words) <= _SHORT
    return False


def _odd_input(each: OddInput, pen: Pen) -> Html:
    return value_block(each.value, pen, "input")


def _path(each: FilePath, pen: Pen) -> Html:
    return block("path", lines_of(pen.words(each.path)), "file")


def sent(each: SentEvent, pen: Pen) -> Html:
    """Return, as JSON that nobody needs to have seen, what else a hook sent of an event."""
    of = f" of {each.tool}" if each.tool else ""
    written = json_start(dict(each.rest), _RAW, indent=2)
    lines = lines_of(pen.words(written[:_RAW]))
    if len(written) > _RAW:
        lines.append(line("… the rest of it is left out …", class_="dim"))
    return el(
        "details",
        el("summary", f"the event itself: {each.event}{of}"),
        rows_of(lines),
        class_="raw",
    )


# What an event tells, and what an agent or a server asks.


def _fact(each: Fact, pen: Pen) -> Html:
    label = each.shown.label if each.shown else each.short or each.key
    how = each.shown.how if each.shown else How.FIELD
    match how, each.value:
        case How.MONEY, int(amount) | float(amount) if not isinstance(amount, bool):
            return paragraph(f"{label} about ${amount:,.4f}")
        case How.FLAG, bool(flag) if each.shown:
            words = each.shown.yes if flag else each.shown.no
            return paragraph(words) if words else NOTHING
        case How.SEVERAL, []:
            return paragraph(f"{label}: none")
        case _, str(words):
            return text_block("words", words, pen, label)
        case _, dict(fields):
            return _fields(fields, pen, label)
    return value_block(each.value, pen, label)


def link(asks: ServerAsks, pen: Pen) -> Html:
    """Return the address that an MCP server wants opened, and what to know of it."""
    about = (
        el("p", words, class_="warning" if style == "warning" else "words")
        for style, words in about_address(asks.url)
    )
    opens = paragraph("accept lets the agent go on. It opens nothing on this machine", "dim")
    address = block("address", lines_of(pen.words(asks.url)), "the address")
    return joined((address, *about, opens))


# What the desk says.


def risk_items(risk: CallRisk, pen: Pen) -> Html:
    """Return what a call may do, each level behind its mark and its word, the worst first."""
    items = [
        _level(level, f"{LEVELS[level]}: ", "; ".join(map(pen.words, words)))
        for level, words in risk.levels
    ]
    if risk.risk.level is Level.NONE:
        items.insert(0, _level(Level.NONE, NOTHING_RISKY, ""))
    if risk.risk.unknown:
        unknown = "; ".join(map(pen.words, risk.risk.unknown))
        items.append(el("li", el("strong", "not known: "), unknown, class_="caution"))
    if not items:  # of a server that tells a level, and not of what
        items.append(_level(risk.risk.level, LEVELS[risk.risk.level], ""))
    return el("ul", *items, class_="risk")


def _level(level: Level, word: str, words: str) -> Html:
    look, mark = MARKS[level]
    bar = el("span", f"{mark} ", class_="bar", aria_hidden="true") if mark else NOTHING
    return el("li", bar, el("strong", word), words, class_=look or "none")


def _going(each: KeptGoing, _: Pen) -> Html:
    if not each.times:
        return paragraph(f"its first stop in a row: you can keep it going {CAP} times")
    over = ": now it stops anyway" if each.times >= CAP else ""
    words = f"kept going {each.times} of {CAP} times in a row{over}"
    return paragraph(words, "warning" if over else "")


def _hidden(each: HiddenLetters, _: Pen) -> Html:
    return joined(
        paragraph(part.text, "warning") for part in each.parts if isinstance(part, OurWords)
    )


def _again(each: AskedAgain, pen: Pen) -> Html:
    return el("div", el("h3", f"asked again as {each.event}"), drawn(each.body.every, pen))


def _offered(each: OfferedRules, pen: Pen) -> Html:
    if not each.offered:
        return NOTHING
    items = (
        el("li", line(pen.words(phrase(it.what, it.where and f"kept in {it.where}", by=", "))))
        for it in each.offered
    )
    return section("suggestions", el("ol", *items), title="its agent suggests to allow")


def reason(each: CardReason, pen: Pen) -> Html:
    """Return why a card is here, and what a decision cannot bring about."""
    because = each.because
    why = pen.words(because.words)
    return joined(
        (
            el("p", why, class_="noted" if because.of_rules else "words") if why else NOTHING,
            paragraph(RESTORED, "noted") if each.restored else NOTHING,
            *(paragraph(pen.words(limit), "noted") for limit in each.limits),
            paragraph(pen.words(each.votes), "noted votes") if each.votes else NOTHING,
        )
    )


def quote(label: str, words: str, pen: Pen) -> Html:
    """Return somebody's words under our label."""
    return text_block("quote", words, pen, label) if words else NOTHING


def context(each: CardContext, pen: Pen) -> Html:
    """Return what the desk knows of the session: how such calls were decided, who said what."""
    before = paragraph(pen.words(each.before), "dim") if each.before else NOTHING
    quotes = quote(each.whose, each.words, pen), quote("the user asked", each.prompt, pen)
    return joined((before, *quotes))


def last_calls(each: LastCalls, pen: Pen) -> Html:
    """Return the last calls of the session, the newest last, and what came of each."""
    items = (
        el(
            "li",
            line(pen.words(called(entry.event, pen.words))),
            el("span", f" {pen.words(entry.outcome)}", class_="dim"),
        )
        for entry in each.calls
    )
    return (
        el("ol", *items, class_="calls")
        if each.calls
        else paragraph("no result of a call yet", "dim")
    )


_DRAWINGS: Mapping[type[Block], Callable[..., Html]] = {
    Json: lambda each, pen: _fields(each.fields, pen),
    OddInput: _odd_input,
    FilePath: _path,
    CommandText: _command,
    Description: lambda each, pen: text_block(
        "quote", each.text, pen, "the agent says that it does"
    ),
    AgentMessage: lambda each, pen: text_block("words", each.text, pen, "prompt"),
    Name: lambda each, pen: text_block("name", each.text, pen, next(iter(each.fields), "")),
    Plan: _plan,
    Questions: questions,
    TextChange: _change,
    TextChanges: _changes,
    NewText: _new_text,
    UnifiedDiff: lambda each, pen: text_block(
        "patch", each.text, pen, _counts("change", each.counts)
    ),
    McpForm: form,
    Fact: _fact,
    OurWords: lambda each, _: paragraph(each.text),
    Quote: lambda each, pen: quote(each.label, each.text, pen),
    HiddenLetters: _hidden,
    ChangedFields: _changed_fields,
    KeptGoing: _going,
    AskedAgain: _again,
    OfferedRules: _offered,
}
