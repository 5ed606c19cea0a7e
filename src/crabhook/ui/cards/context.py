"""What the desk knows around a card; how its like were decided is a help to memory, no advice."""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from crabhook.desk.commands import AskContext
from crabhook.desk.replica import Replica
from crabhook.model.card import Card, State
from crabhook.model.decision import Verdict
from crabhook.model.event import Event
from crabhook.model.jsontext import text_at
from crabhook.tables import tables
from crabhook.ui.cards.summary import brief, names_plan
from crabhook.ui.commands.decide import suggestions
from crabhook.ui.text.code import plain_rows, titled
from crabhook.ui.text.layout import Line, Sheet, hung
from crabhook.ui.text.width import Speller, cells, clip

_TARGET = tables(__file__, "fields")["tool"]["target"].split()
_LOOKED_AT = 400  # letters of a program's name, or of an address, that are looked at


def target(event: Event) -> str:
    """Return what a call is about in a word: its program, its file, its host; empty if unknown."""
    value = event.tool.input if event.tool else None
    texts = {key: text_at(value, key) for key in _TARGET} if isinstance(value, dict) else {}
    key = next((key for key, text in texts.items() if text.strip()), "")
    if key == "command":
        return texts[key].split(maxsplit=1)[0][:_LOOKED_AT]
    if key != "url":
        return texts.get(key, "")
    with suppress(ValueError):
        return urlsplit(texts[key][:_LOOKED_AT]).hostname or ""
    return ""


def decided_before(card: Card, ended: Iterable[Card]) -> str:
    """Return how calls like the card's were decided, in words not yet safe; empty for none."""
    if card.event.tool is None:
        return ""
    mine, name = target(card.event), card.event.tool.name
    alike = Counter(
        before.decision.verdict
        for before in ended
        if before.state is State.DECIDED and before.decision and before.number != card.number
        if before.event.calls(name) and target(before.event) == mine
    )
    allowed, denied = alike[Verdict.ALLOW], alike[Verdict.DENY]
    if not allowed + denied:
        return ""
    what = f"{name[:_LOOKED_AT]} {mine[:_LOOKED_AT]}".strip()
    calls = "call" if allowed + denied == 1 else "calls"
    decided = f"{allowed or 'none'} allowed, {denied or 'none'} denied"
    return f"{allowed + denied} {calls} like this ({what}) not long ago: {decided}"


_WIDE = 50  # columns from which there is room to say whose words they are
_LAST_WORDS = "the agent's last words"
_A_PLAN = "the plan, as its file says"


@dataclass(frozen=True, slots=True)
class CardContext:
    """What the desk knows about a card besides the card itself.

    `words` are the agent's last words, or its plan, and `whose` says which.  `before` counts the
    decisions on calls like it.  Neither is yet safe to show.
    """

    words: str = ""
    before: str = ""
    whose: str = _LAST_WORDS


def _words_in_a_line(around: CardContext, columns: int, spell: Speller) -> tuple[str, str, int]:
    """Return an agent's words, whose they are, and in how many columns the words are to stand."""
    said = f'"{brief(" ".join(around.words[:1000].split()), spell)}"'
    whose = f"({around.whose})" if columns >= _WIDE else ""
    return said, whose, columns - cells(whose) - 5


def words_line(around: CardContext, columns: int, spell: Speller) -> Line:
    """Return the start of an agent's words in one line."""
    said, whose, room = _words_in_a_line(around, columns, spell)
    return [("", f"    {clip(said, room)} "), ("dim", whose)]


def words_rows(around: CardContext, sheet: Sheet) -> Iterator[Line]:
    """Return an agent's words in full, where one line cannot hold them."""
    said, _, room = _words_in_a_line(around, sheet.columns, sheet.spell)
    if "\n" in around.words or cells(said) > room:
        yield from titled(around.whose, around.words, sheet)


def reason_lines(card: Card, sheet: Sheet) -> list[Line]:
    """Return why the card is here, a rule first of all, and what a decision cannot bring about."""
    style = "noted" if card.law else "dim"
    because = [(style, f"    {brief(card.because, sheet.spell)}")] if card.because else []
    limits = [[("noted", f"    {sheet.spell(limit)}")] for limit in card.limits]
    return [because, *limits] if because else limits


def reason_rows(card: Card, sheet: Sheet) -> Iterator[Line]:
    """Return in full what of `reason_lines` a line cannot hold."""
    room = sheet.columns - 5
    if cells(brief(card.because, sheet.spell)) > room:
        yield from titled("why it is here", card.because, sheet)
    for limit in card.limits:
        if cells(limit) > room:
            yield from titled("what a hook cannot do here", limit, sheet)


def alarm_lines(card: Card, sheet: Sheet) -> list[Line]:
    """Return which claims about the call cannot be true, and what ran in its place."""
    return [[("warning", f"  ! {sheet.spell(alarm)}")] for alarm in card.alarms]


def before_rows(before: str, sheet: Sheet) -> Iterator[Line]:
    """Return what was decided about calls like it."""
    rows = plain_rows(before, sheet.columns, sheet.spell, style="dim", words=True)
    return (row for _, row in rows if before)


def suggestion_rows(card: Card, sheet: Sheet) -> Iterator[Line]:
    """Return what the agent suggests to allow from now on, numbered as the keys are."""
    for number, offered in enumerate(suggestions(card), 1):
        kept = f", kept in {offered.where}" if offered.where else ""
        said = plain_rows(f"{offered.what}{kept}", sheet.inner - 14, sheet.spell, words=True)
        yield from hung(f"suggestion {number:<2} ", said, "label")


class CardContexts:
    """The contexts of the cards that were looked at; each is found once."""

    def __init__(self, desk: Replica) -> None:
        self._desk = desk
        self._found: dict[int, CardContext] = {}
        self._asked: set[int] = set()

    def of(self, card: Card) -> CardContext:
        """Return what is known around a card; its agent's last words may follow in a moment."""
        if found := self._found.get(card.number):
            return found
        # what the event tells itself is not read of a transcript
        told = card.event.fields.get("last_assistant_message") is not None
        if not told and card.number not in self._asked:
            self._asked.add(card.number)
            self._desk.submit(AskContext(card.number))
        words = "" if told else self._desk.words(card.number)
        whose = _A_PLAN if names_plan(card.event) else _LAST_WORDS
        found = CardContext(words or "", decided_before(card, self._desk.ended()), whose)
        if words is not None:
            self._found[card.number] = found
        return found

    def forget(self, number: int) -> None:
        """Forget a card that nobody looks at any more."""
        self._found.pop(number, None)
        self._asked.discard(number)
