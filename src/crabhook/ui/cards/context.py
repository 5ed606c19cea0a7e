"""What the full screen shows around a request: the risk, the reason, and what the desk knows."""

from collections.abc import Iterator, Sequence

from crabhook.model.card import UNTOLD, Card, Level, Risk, State
from crabhook.present import sentence
from crabhook.present.card import suggestions
from crabhook.present.document import NOTHING_RISKY, RESTORED, CardContext
from crabhook.present.phrases import joined
from crabhook.present.summary import brief
from crabhook.ui.text.code import plain_rows, titled
from crabhook.ui.text.layout import Line, Sheet, clip_line, hung
from crabhook.ui.text.width import in_words, wrapped

_UNKNOWN = ": not known here"
_REASON_ROWS = 2  # of why a card is here
_MOST = 1000  # letters of somebody's words that fit in a line


def risk_rows(risk: Risk, sheet: Sheet) -> Iterator[Line]:
    """Return what a call may do, in full: each level behind its mark, the worst first."""
    levels = [(level, " · ".join(words)) for level, words in sentence.by_level(risk, sheet.spell)]
    unknown = [part.removesuffix(_UNKNOWN) for part in risk.unknown if part.endswith(_UNKNOWN)]
    other = [brief(part, sheet.spell) for part in risk.unknown if not part.endswith(_UNKNOWN)]
    if unknown:
        other.append(f"not known here: {brief(', '.join(unknown), sheet.spell)}")
    if risk.level is Level.NONE:
        words = levels.pop()[1] if levels else ""
        levels.append((Level.NONE, joined(NOTHING_RISKY, words)))
    untold = "" if other else UNTOLD.effects[0].words  # a server's level, and not of what
    level, last = levels.pop() if levels else (risk.level, untold)
    levels.append((level, joined(last, *other)))
    for level, words in levels:
        style, mark = sentence.MARKS[level]
        mark = f"{mark} " if mark else ""
        rows = wrapped(words, sheet.columns - len(mark), str, words=True)
        yield from hung(mark, ((True, [(style, row)]) for row in rows), style)


def below_rows(
    card: Card, around: CardContext, sheet: Sheet
) -> tuple[Sequence[Line], Sequence[Line]]:
    """Return the rows below the request: risk and reason whole, then history, a line each."""
    stays = list(risk_rows(card.risk, sheet)) if sentence.has_risk(card) else []
    stays += reason_lines(card, sheet) if card.state is State.WAITING else []
    words = _quoted(around.whose, around.words, sheet)
    before: Line = [("dim", around.before)] if around.before else []
    parting: Line = [("dim", " · ")] if before and words else []
    quotes = (before + parting + words, _quoted("the user asked", around.prompt, sheet))
    return stays, [clip_line(line, sheet.columns) for line in quotes if line]


def _quoted(whose: str, words: str, sheet: Sheet) -> Line:
    """Return the start of somebody's words, quoted on one line; nothing for no words."""
    quoted = brief(" ".join(words[:_MOST].split()), in_words(sheet.spell))
    return [("dim", f"{whose}: "), ("", f'"{quoted}"')] if quoted else []


def reason_lines(card: Card, sheet: Sheet) -> list[Line]:
    """Return why the card is here, a rule first of all, and what a decision cannot bring about."""
    because = brief(card.reason.words, in_words(sheet.spell))
    style = "noted" if card.reason.of_rules else "dim"
    rows = list(wrapped(f"asked because: {because}", sheet.columns, str, words=True))
    if len(rows) > _REASON_ROWS:
        rows = [*rows[: _REASON_ROWS - 1], " ".join(rows[_REASON_ROWS - 1 :])]
    lines: list[Line] = [[(style, row)] for row in rows] if because else []
    lines += [[("noted", RESTORED)]] if card.restored else []
    lines += [[("noted", in_words(sheet.spell)(limit))] for limit in card.limits]
    return [clip_line(line, sheet.columns) for line in lines]


def around_rows(card: Card, around: CardContext, sheet: Sheet) -> Iterator[Line]:
    """Return in full what a card shows the start of: why it is here, and who said what."""
    parts = [("why it is here", card.reason.in_full)]
    parts += [("what a hook cannot do here", limit) for limit in card.limits]
    parts += [(around.whose, around.words), ("the user asked", around.prompt)]
    for title, words in parts:
        if words:
            yield from titled(title, words, sheet)


def suggestion_rows(card: Card, sheet: Sheet) -> Iterator[Line]:
    """Return what the agent suggests to allow from now on, numbered as the keys are."""
    for number, offered in enumerate(suggestions(card), 1):
        kept = f", kept in {offered.where}" if offered.where else ""
        rows = plain_rows(f"{offered.what}{kept}", sheet.inner.less(14), words=True)
        yield from hung(f"suggestion {number:<2} ", rows, "label")
