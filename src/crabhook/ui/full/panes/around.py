"""What the full screen shows around a request: the risk, the reason, and what the desk knows."""

from collections.abc import Iterator, Sequence

from crabhook.model.card import UNTOLD, Level, State
from crabhook.present import sentence
from crabhook.present.card import CardDocument
from crabhook.present.document import (
    NOTHING_RISKY,
    RESTORED,
    CallRisk,
    CardReason,
    OfferedRules,
)
from crabhook.present.phrases import joined
from crabhook.present.summary import brief
from crabhook.ui.text.code import plain_rows, titled
from crabhook.ui.text.layout import Line, Sheet, clip_line, hung
from crabhook.ui.text.width import in_words, wrapped

_UNKNOWN = ": not known here"
_REASON_ROWS = 2  # of why a card is here
_MOST = 1000  # letters of somebody's words that fit in a line


def risk_rows(block: CallRisk, sheet: Sheet) -> Iterator[Line]:
    """Return what a call may do, in full: each level behind its mark, the worst first."""
    risk, spell = block.risk, sheet.spell
    levels = [
        (level, " · ".join(brief(effect, spell) for effect in words))
        for level, words in block.levels
    ]
    unknown = [part.removesuffix(_UNKNOWN) for part in risk.unknown if part.endswith(_UNKNOWN)]
    other = [brief(part, spell) for part in risk.unknown if not part.endswith(_UNKNOWN)]
    if unknown:
        other.append(f"not known here: {brief(', '.join(unknown), spell)}")
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


def below_rows(document: CardDocument, sheet: Sheet) -> tuple[Sequence[Line], Sequence[Line]]:
    """Return the rows below the request: risk and reason whole, then history, a line each."""
    stays = list(risk_rows(document.risk, sheet)) if document.risk is not None else []
    waits = document.card.state is State.WAITING
    stays += reason_lines(document.reason, sheet) if waits else []
    context = document.context
    words = _quoted(context.whose, context.words, sheet)
    before: Line = [("dim", context.before)] if context.before else []
    parting: Line = [("dim", " · ")] if before and words else []
    quotes = (before + parting + words, _quoted("the user asked", context.prompt, sheet))
    return stays, [clip_line(line, sheet.columns) for line in quotes if line]


def _quoted(whose: str, words: str, sheet: Sheet) -> Line:
    """Return the start of somebody's words, quoted on one line; nothing for no words."""
    quoted = brief(" ".join(words[:_MOST].split()), in_words(sheet.spell))
    return [("dim", f"{whose}: "), ("", f'"{quoted}"')] if quoted else []


def reason_lines(reason: CardReason, sheet: Sheet) -> list[Line]:
    """Return why the card is here, a rule first of all, and what a decision cannot bring about."""
    because = brief(reason.because.words, in_words(sheet.spell))
    style = "noted" if reason.because.of_rules else "dim"
    rows = list(wrapped(f"asked because: {because}", sheet.columns, str, words=True))
    if len(rows) > _REASON_ROWS:
        rows = [*rows[: _REASON_ROWS - 1], " ".join(rows[_REASON_ROWS - 1 :])]
    lines: list[Line] = [[(style, row)] for row in rows] if because else []
    lines += [[("noted", RESTORED)]] if reason.restored else []
    lines += [[("noted", in_words(sheet.spell)(limit))] for limit in reason.limits]
    votes = in_words(sheet.spell)(reason.votes)
    lines += [[("noted", row)] for row in wrapped(votes, sheet.columns, str, words=True) if votes]
    return [clip_line(line, sheet.columns) for line in lines]


def around_rows(document: CardDocument, sheet: Sheet) -> Iterator[Line]:
    """Return in full what a card shows the start of: why it is here, and who said what."""
    reason, context = document.reason, document.context
    parts = [("why it is here", reason.because.in_full)]
    parts += [("what a hook cannot do here", limit) for limit in reason.limits]
    parts += [("who must allow it", reason.votes)]
    parts += [(context.whose, context.words), ("the user asked", context.prompt)]
    for title, words in parts:
        if words:
            yield from titled(title, words, sheet)


def offered_rows(block: OfferedRules, sheet: Sheet) -> Iterator[Line]:
    """Return what the agent suggests to allow from now on, numbered as the keys are."""
    for number, offered in enumerate(block.offered, 1):
        kept = f", kept in {offered.where}" if offered.where else ""
        rows = plain_rows(f"{offered.what}{kept}", sheet.inner.less(14), words=True)
        yield from hung(f"suggestion {number:<2} ", rows, "label")
