"""A line of the plain desk taken apart: which requests, which word, and what follows it."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum

from crabhook.datatypes import frozen
from crabhook.desk.acts import Field, Reach
from crabhook.desk.replica import Replica
from crabhook.model.card import Card
from crabhook.present.safe import EXCERPT, excerpt
from crabhook.present.sentence import by_another
from crabhook.present.summary import brief
from crabhook.ui.commands.words import MAX_LINE, WORDS, LineError, Word

_WHOLE_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_LISTED = 5
JUST_NOW = 1.0  # seconds in which a person who writes may not have read what has changed
_COMPARED = 500  # cards; with more, finding equal requests costs more than it helps
_NUMBER = r"#?[0-9]{1,9}"
NUMBERS = rf"{_NUMBER}(?:,{_NUMBER})*"
_WRITTEN = re.compile(
    rf"(?:(?P<numbers>{NUMBERS})|same=(?P<same>{_NUMBER})|session=(?P<session>\S+)|(?P<all>all))"
    r"(?:\s+|$)",
    re.IGNORECASE,
)
_MISPLACED = re.compile(rf"({NUMBERS})(?:\s|$)")


def shown_session(session: str) -> str:
    """Return a session's id in one word, as cards and lines write it."""
    return brief(session).replace(" ", "⟨U+0020⟩")


def find_session(start: str, sessions: Iterable[str], usage: str) -> str:
    """Return the session whose id is `start`, or else the only session whose id begins so."""
    shown_as = {session: shown_session(session) for session in sessions if session}
    fitting = [session for session, shown in shown_as.items() if shown.startswith(start)]
    fitting = [session for session in fitting if shown_as[session] == start] or fitting
    if len(fitting) == 1:
        return fitting[0]
    asked = excerpt(start)
    if not fitting:
        raise LineError(f"no session that is known begins with {asked}", usage)
    listed = ", ".join(shown_as[session][:EXCERPT] for session in fitting[:_LISTED])
    raise LineError(f"{len(fitting)} sessions begin with {asked}: {listed}", usage)


def known_session(start: str, desk: Replica, usage: str) -> str:
    """Return the session meant, among those that wait, are live, or have orders.

    An unknown id is taken as written.
    """
    sessions = [card.event.session for card in desk.waiting()]
    sessions += [entry.event.session for entry in desk.feed()]
    sessions += [order.session for order in desk.orders()]
    sessions += [view.session for view in desk.live()]
    if _WHOLE_ID.fullmatch(start) and start not in sessions:
        return start
    return find_session(start, sessions, usage)


class Naming(StrEnum):
    """How requests are named."""

    OLDEST = "the oldest"
    NUMBERS = "numbers"
    SAME = "same"
    SESSION = "session"
    ALL = "all"


@frozen
class LineTarget:
    """The requests a line names: by `numbers`, or by the start of a `session`'s id."""

    kind: Naming = Naming.OLDEST
    numbers: tuple[int, ...] = ()
    session: str = ""

    @property
    def reach(self) -> Reach:
        """How many requests it may name."""
        if self.kind in (Naming.ALL, Naming.SESSION):
            return Reach.ANY
        return Reach.NAMED if self.kind is Naming.SAME or len(self.numbers) > 1 else Reach.ONE

    @property
    def number(self) -> int | None:
        """The number for a hint: the number of the only card that the line named."""
        return self.numbers[0] if len(self.numbers) == 1 else None


OLDEST = LineTarget()


def read_target(text: str) -> tuple[LineTarget, str]:
    """Return the target a line begins with, and the rest of the line; without one, the oldest."""
    match = _WRITTEN.match(text)
    if match is None:
        return OLDEST, text
    rest = text[match.end() :]
    if match["all"]:
        return LineTarget(Naming.ALL), rest
    if match["session"]:
        return LineTarget(Naming.SESSION, session=match["session"]), rest
    listed = match["same"] or match["numbers"]
    numbers = dict.fromkeys(int(number.lstrip("#")) for number in listed.split(","))
    return LineTarget(Naming.SAME if match["same"] else Naming.NUMBERS, tuple(numbers)), rest


def named_cards(target: LineTarget, desk: Replica, word: Word) -> Sequence[Card]:
    """Return the cards a target names, which may have ended; raises LineError for none."""
    waiting = desk.waiting()
    if target.kind is Naming.ALL:
        if not waiting:
            raise _nothing_waits()
        return waiting
    if target.kind is Naming.SESSION:
        sessions = [card.event.session for card in waiting]
        session = find_session(target.session, sessions, f"session=ID {word.name}")
        return [card for card in waiting if card.event.session == session]
    cards: list[Card] = []
    for number in target.numbers:
        if (card := desk.card(number)) is None:
            raise LineError(f"there is no #{number}", f"{WORDS['list'].usage()}, to see what waits")
        cards.append(card)
    return [*cards, *alike(cards[0], waiting)] if target.kind is Naming.SAME else cards


def _nothing_waits(first: str = "") -> LineError:
    """Return the error where nothing waits; `first`: who decided what waited last, if another."""
    wrong = f"nothing waits: {first}" if first else "nothing waits"
    return LineError(wrong, f"{WORDS['show'].usage()}, to read what has ended")


def alike(card: Card, waiting: Sequence[Card]) -> list[Card]:
    """Return the cards with the very same request: equal tool, input, folder and machine.

    The agent may differ. A card without a tool is like no other.
    """
    return [other for other in waiting if other.number != card.number and _same(card, other)]


def first_alike(card: Card, waiting: Sequence[Card]) -> Card | None:
    """Return the oldest card that asks the very same and came before; none among very many."""
    earlier = (other for other in waiting if other.number < card.number)
    few = len(waiting) <= _COMPARED
    return next((other for other in earlier if _same(card, other)), None) if few else None


def _same(card: Card, other: Card) -> bool:
    """Compare as an agent does: Python takes 1 for true, fingerprints do not."""
    asked = [
        (
            event.platform,
            event.name,
            event.machine,
            event.cwd,
            tool.name,
            tool.fingerprint,
            tool.input,
        )
        for event in (card.event, other.event)
        if (tool := event.tool) is not None
    ]
    return len(asked) == 2 and asked[0] == asked[1]


class DefaultTarget:
    """The oldest waiting card that is neither put aside nor answered.

    If another card came into this place a moment ago, and not by the operator, a line without a
    card could decide the wrong card; such a line is refused.
    """

    def __init__(self, desk: Replica, answered: Callable[[Card], object] = lambda _: False) -> None:
        self._desk, self._answered = desk, answered
        self._number: int | None = None
        self.refresh()
        self._was: int | None = None
        self._changed_at = 0.0

    def refresh(self) -> None:
        """Take in what a line of the operator's changed, such as which cards are answered."""
        card = self._find()
        self._number = card.number if card else None

    def look(self, news: Card, *, ours: bool) -> None:
        """Take in a changed card; `ours` says whether the operator's own word changed it."""
        before = self._number
        if before is not None and news.number > before:
            return  # what becomes of a younger card changes nothing
        card = self._find()
        self._number = card.number if card else None
        if before not in (None, self._number) and not ours:
            self._was, self._changed_at = before, self._desk.now()

    def meant(self, word: Word) -> Card:
        """Return the card a word without a number is about; raises LineError for none."""
        card = self._find()
        if word.act.id == "take-back":
            card = next((other for other in self._desk.waiting() if self._answered(other)), card)
        if card is None:
            if aside := self._desk.waiting():
                usage = WORDS["show"].usage(aside[0].number)
                raise LineError("all that waits is put aside", usage)
            raise _nothing_waits(self._first())
        recent = self._desk.now() - self._changed_at < JUST_NOW
        if word.act.id != "show" and self._was not in (None, card.number) and recent:
            before = self._desk.card(self._was)
            if before is not None and not before.outcome:
                wrong = f"#{card.number} has just come back, and is the oldest now"
            else:
                ended = self._first() or f"#{self._was} has just ended"
                wrong = f"{ended}, and #{card.number} is the oldest now"
            raise LineError(wrong, word.usage(card.number))
        return card

    def _first(self) -> str:
        """Return who at another desk decided the card that was meant before; else nothing."""
        before = None if self._was is None else self._desk.card(self._was)
        decider = by_another(before, self._desk, str) if before is not None else ""
        return f"#{self._was} has ended ({decider})" if decider else ""

    def _find(self) -> Card | None:
        """Return the card; where each is answered, the oldest, which a stricter line decides."""
        awake = (card for card in self._desk.waiting() if not card.snoozed_until)
        oldest = next(awake, None)
        if oldest is None or not self._answered(oldest):
            return oldest
        return next((card for card in awake if not self._answered(card)), oldest)


@frozen
class LineCommand:
    """A line that can be followed; without a target it means the oldest card that waits."""

    word: Word
    target: LineTarget = OLDEST
    rest: str = ""


def parse(line: str, words: Mapping[str, Word] = WORDS) -> LineCommand | None:
    """Return what `line` asks for in these words, or None for an empty line; raises LineError."""
    if len(line.encode(errors="replace")) > MAX_LINE:
        raise LineError(f"the line is longer than {MAX_LINE} bytes", "a shorter one")
    text = line.strip()
    if not text:
        return None
    target, asked = read_target(text)
    name, rest = _first(asked)
    second, further = _first(rest)
    word = words.get(name.lower())
    if longer := words.get(f"{name.lower()} {second}"):
        word, rest = longer, further
    if word is None:
        raise _unknown(name, target, words)
    if word.act.id == "help" and target.kind is not Naming.OLDEST:
        word = words.get("words", word)
    _check_target(word, target, rest)
    if rest and not word.act.takes:
        wrong = f'nothing follows "{word.name}": "{excerpt(rest)}"'
        raise LineError(wrong, word.usage(target.number))
    if word.needs and not rest and word.act.field is not Field.REASON:  # which a card may not take
        raise LineError(f'"{word.name}" needs something after it', word.usage(target.number))
    return LineCommand(word, target, rest)


def _first(text: str) -> tuple[str, str]:
    name, *rest = text.split(maxsplit=1) or [""]
    return name, rest[0] if rest else ""


def _unknown(name: str, target: LineTarget, words: Mapping[str, Word]) -> LineError:
    if name and words is not WORDS:
        return LineError(f'"{excerpt(name)}" is none of the words', "?, to read them")
    if name:
        listed = ", ".join(name for name in WORDS if " " not in name)
        wrong = f'"{excerpt(name)}" is none of the words'
        return LineError(wrong, f"one of {listed}; help explains them")
    if (number := target.number) is not None:
        return LineError(f"what about #{number}?", f"{number} show, or {number} allow")
    return LineError("what about them?", "1,3 allow, or all deny REASON")


def _check_target(word: Word, target: LineTarget, rest: str) -> None:
    """Refuse a word that does not fit such a target."""
    if target.kind is Naming.OLDEST:
        # `allow 7` would decide the oldest card with "7" as the note; `always 7` has its own number
        takes_number = word.act.takes.startswith(("K", "[K]")) or not word.about_a_card
        misplaced = None if takes_number else _MISPLACED.match(rest)
        if misplaced:
            number, *others = (int(each.lstrip("#")) for each in misplaced[1].split(","))
            listed = ",".join(map(str, [number, *others]))
            usage = word.usage(number).replace(str(number), listed, 1)
            raise LineError(f'the number comes before "{word.name}"', usage)
    elif not word.about_a_card:
        raise LineError(f'"{word.name}" is about no single request', word.usage())
    elif word.act.reach < target.reach:
        if word.act.reach is Reach.ONE:
            raise LineError(f'"{word.name}" is said of one request at a time', word.usage())
        usage = word.usage().replace("[N]", "1,3,5", 1)
        raise LineError(f'"{word.name}" is said only of requests you name by number', usage)
