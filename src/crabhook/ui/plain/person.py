"""How the plain desk tells a person what happens: a sentence first, each line clear alone.

It serves eyes and screen readers: no drawing, no colours, no repetition.

The law of this file: it tells which parts of a request were not printed (`readings`), so that no
line allows what nobody could read.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from hashlib import sha256

from crabhook.datatypes import Bounded
from crabhook.desk.commands import AskContext, Outcome
from crabhook.desk.replica import Replica
from crabhook.model.card import Card, FeedEntry, State
from crabhook.model.event import Event
from crabhook.model.jsontext import Value, compact, first_text, pretty
from crabhook.present import sentence
from crabhook.present.around import around
from crabhook.present.card import CardDocument, card_document, suggestions
from crabhook.present.cover import COVER, covered
from crabhook.present.document import RESTORED, Description, OfferedRules
from crabhook.present.phrases import countdown, joined
from crabhook.present.reading import BlockReading, ReadingLog, left_to_read
from crabhook.present.safe import Speller, folded, safe
from crabhook.present.summary import (
    TELLING,
    agent_name,
    as_allowed,
    as_changed,
    brief,
    is_question,
    outcome,
    place,
    summary,
    tool_label,
)
from crabhook.ui.commands.decide import difference, fitting
from crabhook.ui.commands.words import PERSONS_WORDS, for_a_person
from crabhook.ui.plain.output import (
    FIRST,
    LONGEST_FACT,
    PROGRAMS,
    WHOLE,
    Format,
    kept_going_rows,
    left,
)
from crabhook.ui.plain.request import BlockRows, happening_rows, input_rows, offered_rows
from crabhook.ui.text.rows import Row, bounded

_TOLD_KEPT = 10_000  # cards with a memory of what was told beside them
_NOTHING: tuple[Value, ...] = (None, False, "", [], {})  # of a field, worth no line


class DetailLevel(StrEnum):
    """How much to tell of a request that nobody asked to see."""

    BRIEF = "brief"  # the request and its risk
    FULL = "full"  # all that it asks


class PersonFormat(Format):
    """Tells a person; `detail` may change at any time. `say` has a line printed in its turn."""

    words = PERSONS_WORDS

    def __init__(self, desk: Replica, detail: DetailLevel) -> None:
        self.detail = detail
        self.say: Callable[[str], None] = lambda _: None
        self._desk = desk
        self._readings = ReadingLog()
        self._asked: Bounded[int, None] = Bounded(_TOLD_KEPT)  # cards whose last words were
        self._lookers_told: Bounded[tuple[int, str], None] = Bounded(_TOLD_KEPT)
        self._listed: set[tuple[str, ...]] = set()  # lists of words that were printed

    def header(self, card: Card, spell: Speller = covered) -> str:
        """Return the sentence that a card is: `#18 Claude Code · api-server wants to run: …`."""
        event = card.event
        who = joined(f"#{card.number} {agent_name(event, spell)}", place(event, spell))
        return f"{who} {_said(card, spell)}"

    def left_to_read(self, card: Card, *, keeps: bool) -> int:
        """Return how many rows of a card were not printed; `keeps`: with what its agent offers."""
        return self._readings.left(card.number, keeps=keeps, offered=_offered(card))

    def listed(self, card: Card, now: float) -> str:
        """Return a card that waits in one line of a list, its time at the end."""
        held = sentence.held_elsewhere(card, self._desk, covered)
        line = f"{self.header(card)} · {left(card, now)}"
        return joined(line, held, self._lookers(card.number), by=", ")

    def looks(self, card: int) -> str:
        """Return that others look at a card that waits, each of them once; else nothing."""
        names = sentence.looking_elsewhere(card, self._desk)
        new = [name for name in names if (card, name) not in self._lookers_told]
        for name in new:
            self._lookers_told[card, name] = None
        waits = self._desk.card(card)
        if waits is None or waits.state is not State.WAITING:
            return ""
        if held := sentence.held_elsewhere(waits, self._desk, covered):
            return f"· #{card}: {held}"
        return f"· {sentence.are_looking(new, covered)} at #{card}" if new else ""

    def _lookers(self, card: int) -> str:
        return sentence.are_looking(sentence.looking_elsewhere(card, self._desk), covered)

    def block(
        self, card: Card, now: float, *, whole: bool = False, bare: bool = False
    ) -> list[str]:
        """Return as much about a card as the person wants, or `whole`; `bare` with its secrets."""
        whole = whole or bare
        changed, edited = as_changed(card), list[str]()
        if changed is not card and card.event.tool is not None:
            will = "will be allowed" if card.state is State.WAITING else "was allowed"
            edited = [
                f"  edited: it {will} as it is here",
                *difference(card.event.tool, changed.event.given),
            ]
            card = changed
        if card.number not in self._asked and (whole or self.detail is DetailLevel.FULL):
            self._ask_words(card)
        document = card_document(card, around(card, self._desk))
        facts, context = [*self._known(document)], [*_around(document, now)]
        bounds = WHOLE if whole else FIRST
        asked = [(block, [*rows]) for block, rows in _body(card, bounds[1], fold=not whole)]
        every, request = [row for _, rows in asked for row in rows], list[Row]()
        if self.detail is DetailLevel.FULL or whole:
            request = bounded(every, *bounds)
            facts += context
        printed = {id(row) for row in request if not row.shortened}
        readings: tuple[list[BlockReading], list[BlockReading]] = [], []
        for block, rows in asked:
            unseen = sum(id(row) not in printed for row in rows)
            readings[isinstance(block, OfferedRules)].append(BlockReading(unseen))
        left_out = left_to_read(readings[0]) or (request and left_to_read(readings[1]))
        header = self.header(card, safe if bare else covered)
        shown = [*(row.cut(LONGEST_FACT) for row in facts), *request]
        lines = [row.bare_line if bare else row.line for row in shown]
        if left_out:
            more = "this is the most that is printed" if whole else f"{card.number} show prints it"
            lines.append(f"  not all of it is printed: {more}")
        if not bare and any(COVER in line for line in (header, *lines)):
            lines.append(f"  secrets are covered: {card.number} show secrets prints them")
        if not edited:
            self._readings.shown(card.number, *readings, _offered(card))
        return [header, *lines, *edited, *self._ending(card)]

    def _ask_words(self, asked: Card) -> None:
        """Show the last words around a card when they are read; later words come apart."""
        number, prompt_before = asked.number, sentence.last_prompt(asked, self._desk)
        late: list[bool] = []

        def then(_: Outcome) -> None:
            card = self._desk.card(number)
            if (
                not late
                or self._desk.around(number) is None
                or card is None
                or card.state is not State.WAITING
            ):
                return
            context = around(card, self._desk)
            prompt = context.prompt if context.prompt != prompt_before else ""
            late_words = (("the user asked", prompt), (context.whose, context.words))
            rows = (
                Row(f"#{number} {who}: ", " ".join(text.split()))
                for who, text in late_words
                if text
            )
            if lines := [row.cut(LONGEST_FACT).line for row in rows]:
                self.say("\n".join(lines))

        self._asked[number] = None
        self._desk.submit(AskContext(number), then)
        late.append(True)

    def raw(self, card: Card, now: float) -> list[str]:
        """Return everything that was sent about a card: ids, paths, its process, its JSON."""
        lines = PROGRAMS.block(card, now, whole=True)[:-2]
        for leg in card.requests:
            lines.append(f"  {leg.event.name}, request {leg.id}, its JSON:")
            text = pretty(dict(leg.event.fields))
            rows = bounded((Row("    ", line, piece=True) for line in text.split("\n")), *WHOLE)
            lines += [row.line for row in rows]
        return lines

    def answers(self, card: Card) -> str:
        """Return what a card can be answered with, in one line."""
        number = f"{card.number} "
        words = [
            for_a_person(usage).removeprefix(number)
            for usage in fitting(card, newer=True, role=self._desk.role())
        ]
        return f"  #{card.number} can be answered with: {'; '.join(words)}"

    def outcome(self, card: Card) -> str:
        """Return how a card ended, and what was allowed where that was changed."""
        ended = joined(outcome(card), sentence.by_another(card, self._desk, covered), by=" ")
        line = super().outcome(card).replace(card.outcome, ended, 1)
        allowed = as_allowed(card)
        if allowed is card.event or is_question(allowed):
            return line
        return f"{line}: {summary(allowed, covered)}"

    def fate(self, card: Card) -> str:
        """Return that an answer did not reach its hook; that it did is not told."""
        return "" if card.delivered else super().fate(card)

    def went_by(self, entry: FeedEntry) -> str:
        """Return what went wrong, what the desk did, and in full what was decided by itself."""
        event = entry.event
        if entry.alarm or not event.platform:
            return super().went_by(entry)
        if self.detail is DetailLevel.BRIEF or entry.number is not None or not entry.text:
            return ""
        about = joined(tool_label(event, covered), summary(event, covered), by=": ")
        who = joined(agent_name(event, covered), place(event, covered))
        return f"· {who}: {brief(entry.text, covered)} · {about}"

    def _known(self, document: CardDocument) -> Iterator[Row]:
        """Yield what nobody may miss: errors, the risk, the limits of a decision."""
        card, reason = document.card, document.reason
        yield from (Row("  ALARM: ", alarm) for alarm in card.alarms)
        if document.risk is not None:
            yield Row(f"  risk: {sentence.risk_words(document.risk.risk, covered)}")
        if card.state is State.WAITING:
            yield from [Row(f"  {RESTORED}")] if reason.restored else ()
            yield from (Row("  limit: ", limit) for limit in reason.limits)
            if reason.votes:
                yield Row("  votes: ", reason.votes)
            if held := sentence.held_elsewhere(card, self._desk, covered):
                yield Row(f"  {held}")
            if lookers := self._lookers(card.number):
                yield Row(f"  {lookers}")

    def _ending(self, card: Card) -> Iterable[str]:
        """Return the words that can be written about a card, or how it ended."""
        if card.state is not State.WAITING:
            by = sentence.by_another(card, self._desk, covered)
            return [joined("  ended:", outcome(card), by, by=" ")]
        kind = tuple(usage.split()[1] for usage in fitting(card, role=self._desk.role()))
        if kind in self._listed:
            return []
        self._listed.add(kind)
        return [self.answers(card)]


def _offered(card: Card) -> bytes:
    """Return what names what a card's agent suggests to allow from now on."""
    return sha256(compact([dict(it.update) for it in suggestions(card)]).encode()).digest()


def _said(card: Card, spell: Speller) -> str:
    """Return the request in words; for several command lines, how many there are."""
    asks, (key, text) = sentence.sentence(card, spell), first_text(card.event.given, TELLING)
    lines = text.strip().count("\n") + 1
    if lines > 1 and key == "command":
        return f"{asks}, {lines} lines"
    return asks.whole


def _fold(fields: Mapping[str, Value]) -> dict[str, Value]:
    """Return fields whose runs of blanks or empty lines are folded to marks."""
    return {
        key: folded(value) if isinstance(value, str) else value for key, value in fields.items()
    }


def _around(document: CardDocument, now: float) -> Iterator[Row]:
    """Yield why the card is here, who asks, and what happened to similar cards."""
    card, context = document.card, document.context
    event = card.event
    for note in document.body.of(Description):
        yield from [Row("  in its own words: ", note.text)] if note.text else ()
    if document.reason.because.words:
        yield Row("  asked because: ", document.reason.because.words)
    yield from kept_going_rows(document)
    if context.before:
        yield Row("  before: ", context.before)
    for who, words in (("the user asked", context.prompt), (context.whose, context.words)):
        if words:
            yield Row(f"  {who}: ", " ".join(words.split()))
    who = f"subagent {brief(event.agent_type, covered)}".rstrip() if event.agent_id else "agent"
    mode = f", mode {brief(event.permission_mode, covered)}" if event.permission_mode else ""
    waiting = card.state is State.WAITING
    left = f"; {countdown(card.wait_until - now)} left" if waiting and not card.went_on else ""
    yield Row(f"  asked by the {'' if event.agent_id else 'main '}{who}{mode}{left}")


def _body(card: Card, longest: int, *, fold: bool) -> Iterator[BlockRows]:
    """Yield the request, without what the card's sentence tells whole, and the suggestions."""
    event, tool = card.event, card.event.tool
    telling = {key: value for key, value in event.fields.items() if value not in _NOTHING}
    shown = replace(event, fields=_fold(telling) if fold else telling)
    if tool is not None and fold and event.given:
        shown = replace(shown, tool=replace(tool, input=_fold(event.given)))
    leg = replace(card.requests[0], event=shown)
    document = card_document(replace(card, requests=(leg,), decided=None))
    if tool is not None:
        asked, (key, text) = document.body, first_text(event.given, TELLING)
        is_told = _tells(sentence.sentence(card, covered), text, event)
        every = (*asked.lead, *asked.blocks)
        elsewhere = [block for block in every if is_told and key in block.fields]
        elsewhere += [note for note in asked.of(Description) if key not in note.fields]
        yield from input_rows(asked, longest, elsewhere)
    yield from happening_rows(document.happening, longest, others=tool is None)
    offered = OfferedRules(suggestions(card))  # of any of its hooks
    yield offered, offered_rows(offered)


def _tells(asks: sentence.Sentence, text: str, event: Event) -> bool:
    """Whether a sentence tells all of a text: one whole line."""
    text = text.strip()
    near = text.removeprefix(event.cwd.rstrip("/") + "/")
    return (
        bool(near)
        and "\n" not in text
        and (asks.exactly == covered(text) or asks.exactly.startswith(covered(near)))
    )
