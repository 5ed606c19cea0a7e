"""The history of ended cards, read page by page from the record, or from memory without a record.

A thread reads a page, the newest records first, so that no hook waits. A call has several records,
near each other: a page also reads a little beyond its two ends.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from time import time as wall
from typing import Any

from crabhook.broker.messages import Arrived, Effect, Fact, Resolve, RestoredRequest, Show
from crabhook.datatypes import Bounded
from crabhook.desk.updates import HistoryRead, Past
from crabhook.model.card import NO_RISK, UNTOLD, Card, Leg, Origin, Request, Risk, Stance, State
from crabhook.model.decision import Decided, Decision, Verdict
from crabhook.model.errors import CrabhookError
from crabhook.model.event import Event, ToolCall
from crabhook.policy.context import not_looked
from crabhook.rulebook.files import RuleFiles
from crabhook.rulebook.history import recalled
from crabhook.rulebook.rulings import CurrentRules
from crabhook.store.actors import actor_in, end_in
from crabhook.store.ballots import ballot_of
from crabhook.store.interface import Query
from crabhook.store.opening import Place, open_history
from crabhook.store.record import Record, RecordKind

_LOG = logging.getLogger(__name__)

PAGE = 100  # entries
NEAR = 5_000  # records around an end, which may be about the same call
LOOKED_AT = 20_000  # records that a page reads at most
KEPT = 1_000  # ends, where no record is kept

_STATES = {RecordKind.WITHDRAWN: State.WITHDRAWN, RecordKind.EXPIRED: State.EXPIRED}
ENDS = (RecordKind.DECIDED.value, *(kind.value for kind in _STATES))
_BESIDE = (RecordKind.ASKED.value, RecordKind.DELIVERED.value, RecordKind.RAN_OTHER.value)

DeliverPage = Callable[[HistoryRead], object]
DeliverEntry = Callable[[Past | None], object]


class RecordHistory:
    """Reads the record at `place`; `files` are the rules for the risk."""

    def __init__(self, place: Place, files: RuleFiles) -> None:
        self._place, self._files = place, files

    def ask(self, before: int, deliver: DeliverPage) -> None:
        """Give `deliver` the page of what ended before an entry; 0 is the newest."""
        loop = asyncio.get_running_loop()
        reading = loop.run_in_executor(None, read_page, self._place, self._files, before)
        reading.add_done_callback(lambda done: deliver(_page_of(done, before)))

    def entry(self, number: int, deliver: DeliverEntry) -> None:
        """Give `deliver` a whole entry, None if the record has no such entry."""
        loop = asyncio.get_running_loop()
        reading = loop.run_in_executor(None, read_entry, self._place, self._files, number)
        reading.add_done_callback(lambda done: deliver(_entry_of(done)))


def _page_of(done: "asyncio.Future[HistoryRead]", before: int) -> HistoryRead:
    return HistoryRead(before, why=_wrong(done)) if _wrong(done) else done.result()


def _entry_of(done: "asyncio.Future[Past | None]") -> Past | None:
    return None if _wrong(done) else done.result()


def _wrong(done: "asyncio.Future[Any]") -> str:
    if done.cancelled():
        return "the server ends"
    if (error := done.exception()) is not None and not isinstance(error, CrabhookError):
        _LOG.error("the history could not be read", exc_info=error)
        return "the history could not be read: a fault, which the log tells of"
    return "" if error is None else f"the record cannot be read: {error}"


def read_page(place: Place, files: RuleFiles, before: int) -> HistoryRead:
    """Return the page of what ended before an entry. Raises StoreError."""
    records, kinds = _Found(), (*ENDS, *_BESIDE)
    with open_history(place) as history:
        first = next(history.find(), None)
        last = next(history.find(Query(last=1)), None)
        if first is None or last is None:
            return HistoryRead(before)
        above = before or last.seq + 1
        below = max(above - LOOKED_AT, 0)
        goes_on = below + 1 if below >= first.seq else 0
        for record in history.find(
            Query(kinds=kinds, after=below, before=above + NEAR, backwards=True)
        ):
            if record.kind not in ENDS:
                records.beside(record)
            elif record.seq < above:
                if len(records.ends) == PAGE:
                    goes_on = records.ends[-1].seq
                    break
                records.ends.append(record)
        if records.untold and records.ends:
            for record in history.find(_around(records.ends[-1].seq, records.untold)):
                records.beside(record)
    return HistoryRead(before, records.entries(files), goes_on)


def read_entry(place: Place, files: RuleFiles, number: int) -> Past | None:
    """Return one entry, whole. Raises StoreError."""
    records = _Found(whole=True)
    with open_history(place) as history:
        records.ends += history.find(Query(kinds=ENDS, after=number - 1, before=number + 1))
        for record in history.find(_around(number, records.cards)):
            records.beside(record)
    return next(iter(records.entries(files)), None)


def _around(number: int, cards: set[int]) -> Query:
    """Return the query for the other records of cards near an end."""
    only = min(cards) if len(cards) == 1 else None
    return Query(kinds=_BESIDE, card=only, after=max(number - NEAR, 0), before=number + NEAR)


class _Found:
    """Records of ends, with other records about the same cards.

    `whole`: keep the whole input of each request, not only its start.
    """

    def __init__(self, *, whole: bool = False) -> None:
        self.ends: list[Record] = []
        self._whole = whole
        self._asked: dict[int, Record] = {}
        self._delivered: dict[int, Mapping[str, Any]] = {}
        self._ran: dict[int, str] = {}

    @property
    def cards(self) -> set[int]:
        """The cards with an end."""
        return {end.card for end in self.ends if end.card}

    @property
    def untold(self) -> set[int]:
        """The cards whose request is in no record read so far."""
        ends = (
            end
            for end in self.ends
            if end.card and not (end.tool and end.kind == RecordKind.DECIDED)
        )
        return {end.card for end in ends if end.card} - self._asked.keys()

    def beside(self, record: Record) -> None:
        """Add a record about a card that is no end."""
        if (number := record.card) is None:
            return
        if record.kind == RecordKind.ASKED:
            self._asked[number] = record
        elif record.kind == RecordKind.DELIVERED:
            data = record.data()
            if number not in self._delivered or data.get("whole"):
                self._delivered[number] = data
        else:
            self._ran[number] = str(record.data().get("why", ""))

    def entries(self, files: RuleFiles) -> tuple[Past, ...]:
        """Return the entries, without records that are not readable as an end."""
        risks, read = _Risks(files), list[Past]()
        for record in self.ends:
            with suppress(ValueError, TypeError, KeyError, AttributeError, OverflowError):
                read.append(self._entry(record, risks))
        return tuple(read)

    def _entry(self, record: Record, risks: "_Risks") -> Past:
        data, number = record.data(), record.card or 0
        asked = self._asked.get(number)
        event = _event(record, data, asked)
        state = _STATES.get(RecordKind(record.kind), State.DECIDED)
        decided, end = None, end_in(data) if state is not State.DECIDED else None
        if state is State.DECIDED:
            decided = Decided(_decision(record.verdict, data), actor_in(data))
        fate, ran = self._delivered.get(number, {}), self._ran.get(number, "")
        at = _wall(record)
        waited = data.get("waited", at - _wall(asked) if asked else 0.0)
        card = Card(
            number,
            (Leg(record.request_id, event if self._whole else event.brief(), 0.0),),
            at - float(waited),
            state,
            decided if self._whole else _brief(decided),
            end,
            at,
            bool(fate["whole"]) if "whole" in fate else None,
            alarms=(ran,) if ran else (),
            risk=risks.of(event),
            ballot=ballot_of(data),
        )
        why = "" if decided or end else str(data.get("why", ""))
        return Past(record.seq, at, card, float(waited), str(fate.get("why", "")), why)


def ended(card: Card, record: Record, now: float) -> Card:
    """Return a waiting card in its recorded final state; ValueError for an unreadable record."""
    data, state = record.data(), _STATES.get(RecordKind(record.kind), State.DECIDED)
    if state is not State.DECIDED:
        return replace(card, state=state, end=end_in(data), ended_at=now)
    decided = Decided(_decision(record.verdict, data), actor_in(data))
    ballot = ballot_of(data)
    return replace(card, state=state, decided=decided, ended_at=now, ballot=ballot)


def asked_again(record: Record, now: float, at: float) -> RestoredRequest:
    """Return the request in a record of its arrival or its card's end, without its secret.

    `now` is the broker's clock, `at` the wall clock. Raises ValueError, TypeError or AttributeError
    where the record is not readable.
    """
    data = record.data()
    who = data.get("from", {})
    host, user, machine = (str(who.get(key, "")) for key in ("host", "user", "machine"))
    until = datetime.fromisoformat(str(data.get("expires", record.at))).timestamp()
    leg = Request(
        record.request_id,
        _event(record, data, record),
        wait_until=now + until - at,
        stance=Stance(data.get("stance", Stance.GATE)),
        origin=Origin(host, int(who.get("pid", 0)), user, machine),
        secret="",
    )
    return RestoredRequest(record.card or 0, leg, max(0.0, at - _wall(record)))


def _wall(record: Record) -> float:
    return datetime.fromisoformat(record.at).timestamp()


def _event(record: Record, data: Mapping[str, Any], asked: Record | None) -> Event:
    first = asked.data() if asked else {}
    fields = first.get("fields")
    tool_input = data.get("input", fields.get("tool_input") if isinstance(fields, dict) else None)
    tool = ToolCall(record.tool, tool_input, record.tool_use_id) if record.tool else None
    return Event(
        record.platform,
        str(first.get("event") or ("PreToolUse" if tool else "")),
        session=record.session,
        cwd=record.cwd,
        agent_id=record.agent_id,
        agent_type=record.agent_type,
        tool=tool,
        fields=fields if isinstance(fields, dict) else {},
        machine=str(data.get("machine", "")),
    )


_TEXTS = ("reason", "note", "halt", "user_message")
_OTHERS = ("output", "content")
_FLAGS = ("interrupt", "suppress_output")


def _decision(verdict: str, data: Mapping[str, Any]) -> Decision:
    """Return a record's decision; raises ValueError for an unknown verdict."""
    edited = data.get("edited")
    content: dict[str, Any] = {name: str(data.get(name, "")) for name in _TEXTS}
    content |= {name: data.get(name) for name in _OTHERS}
    content |= {name: data.get(name) is True for name in _FLAGS}
    return Decision(
        Verdict(verdict),
        updated_input=edited if isinstance(edited, dict) else None,
        permissions=tuple(
            permission for permission in data.get("permissions", ()) if isinstance(permission, dict)
        ),
        despite=tuple(map(str, data.get("despite", ()))),
        **content,
    )


def _brief(decided: Decided | None) -> Decided | None:
    """Return a decision with only the start of its changed input."""
    if decided is None or decided.decision.updated_input is None:
        return decided
    call = Event("", "", tool=ToolCall("", dict(decided.decision.updated_input))).brief().tool
    edited = call.input if call and isinstance(call.input, dict) else {}
    return replace(decided, decision=replace(decided.decision, updated_input=edited))


class _Risks:
    """The risk of calls by today's rules, without a look into folders."""

    def __init__(self, files: RuleFiles) -> None:
        self._today = CurrentRules(files)

    def of(self, event: Event) -> Risk:
        """Return the risk of a call."""
        if event.tool is None:
            return NO_RISK
        try:
            there = self._today(event)
            return there.policy.risk(recalled(event), replace(there.context, below=not_looked))
        except CrabhookError:
            return UNTOLD


class MemoryHistory:
    """What ended since the server's start, without a record; `now` is the wall clock."""

    def __init__(self, now: Callable[[], float] = wall) -> None:
        self._now = now
        self._ends: Bounded[int, Past] = Bounded(KEPT)
        self._of_card: Bounded[int, int] = Bounded(KEPT)
        self._last = 0

    def on_fact(self, fact: Fact, effects: Sequence[Effect]) -> None:
        """Keep the calls that a fact ended."""
        for effect in effects:
            match fact, effect:
                case _, Show(card) if card.state is not State.WAITING:
                    self._add(card, card.ended_at - card.asked_at)
                case Arrived(request), Resolve(request_id, decided=Decided() as made, again=False):
                    if request_id == request.id and not _on_card(effects, request_id):
                        legs = (Leg(request.id, request.event, 0.0),)
                        self._add(Card(0, legs, 0.0, State.DECIDED, made), 0.0)

    def _add(self, card: Card, waited: float) -> None:
        number = self._of_card.get(card.number, 0) if card.number else 0
        before = self._ends.get(number)
        if before is None:
            number = self._last = self._last + 1
        if card.number:
            self._of_card[card.number] = number
        legs = tuple(replace(leg, event=leg.event.brief()) for leg in card.requests)
        card = replace(card, requests=legs, decided=_brief(card.decided))
        at = before.at if before else self._now()
        self._ends[number] = Past(number, at, card, waited, recorded=False)

    def ask(self, before: int, deliver: DeliverPage) -> None:
        """Give `deliver` the page of what ended before an entry; 0 is the newest."""
        newest = sorted(self._ends.values(), key=lambda end: -end.id)
        ends = [end for end in newest if not before or end.id < before]
        goes_on = ends[PAGE - 1].id if len(ends) > PAGE else 0
        deliver(HistoryRead(before, tuple(ends[:PAGE]), goes_on))

    def entry(self, number: int, deliver: DeliverEntry) -> None:
        """Give `deliver` an entry; None where it is no longer kept."""
        deliver(self._ends.get(number))


def _on_card(effects: Sequence[Effect], request_id: str) -> bool:
    shown = (effect.card for effect in effects if isinstance(effect, Show))
    return any(leg.id == request_id for card in shown for leg in card.requests)
