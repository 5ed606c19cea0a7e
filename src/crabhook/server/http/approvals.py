"""The approvals of AAP agents: each waits on a card, is decided once, and is consumed once.

No connection holds an approval. An agent may ask for it and end, and another process of the agent
may come for the decision. So the server itself waits on the card, also after its restart, until the
deadline or a cancel. What was consumed is a row of the record before the agent reads it.
"""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from http import HTTPStatus
from secrets import token_hex
from time import time
from uuid import UUID, uuid4

from crabhook.broker.messages import Refusal
from crabhook.datatypes import frozen
from crabhook.model.card import Leg, Origin, Request
from crabhook.model.decision import Reply
from crabhook.model.errors import CrabhookError
from crabhook.model.event import Event
from crabhook.model.jsontext import Value, canonical, compact, object_at, text_at
from crabhook.platforms.aap import submissions, write
from crabhook.platforms.aap.events import ASKED
from crabhook.server.core.intake import Intake
from crabhook.server.core.pending_call import PendingCall, RefusedError
from crabhook.server.core.runner import Runner
from crabhook.server.http.middleware import STATUS, TurnedAwayError
from crabhook.store import entries
from crabhook.store.change import Change, KeptReply

PENDING, EXPIRED = "pending", "expired"
PLATFORM = "aap"
VALID_FOR = 600.0  # seconds from the decision; shorter than a record keeps an answer for its client
ENDED_KEPT = 4096  # approvals that have ended, the oldest forgotten first
ENDED_SIZE = 64 << 20  # bytes of their requests

_RANDOM = 4  # the version of a UUID that is drawn by chance
_TICKET = "aap:"  # begins the ids of our requests at the broker, and of our rows
_CONSUMED = "/consumed"  # ends the id of the row of what was consumed
_ENDS: Mapping[Refusal, str] = {Refusal.UNDECIDED: EXPIRED}
_ELSEWHERE = frozenset({Refusal.HANDED_OVER, Refusal.ELSEWHERE, Refusal.SUPERSEDED})
"""The refusals after which another server, or our next one, has the request."""


class ApprovalError(TurnedAwayError):
    """A request about an approval that is refused; `code` is the protocol's word for it."""

    def __init__(self, status: HTTPStatus, code: str, words: str, *, notice: str = "") -> None:
        super().__init__(status, words, notice=notice)
        self.code = code


def conflict(code: str, words: str) -> ApprovalError:
    """Return the error of what cannot be done to an approval as it is."""
    return ApprovalError(HTTPStatus.CONFLICT, code, words)


def not_here(words: str = "another server has this approval now: ask again") -> ApprovalError:
    """Return the error of what another server, or a later try, can do."""
    return ApprovalError(HTTPStatus.SERVICE_UNAVAILABLE, "unavailable", words)


def stamp(at: float) -> str:
    """Return wall seconds as the protocol writes a time."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _seconds(text: str) -> float:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC).timestamp()


@frozen
class Consumed:
    """That an approval was taken, by which key, at which wall second."""

    key: str
    at: float


@dataclass(slots=True, eq=False)
class Approval:
    """One request for approval, of one machine's agents; times are wall seconds.

    `request` is what was sent, and `about` what we add: id, key, times. `ticket` is the broker's
    secret. `entering` ends when the broker has it.
    """

    machine: str
    request: Mapping[str, Value] = field(repr=False)
    about: Mapping[str, Value] = field(repr=False)
    ticket: str = field(repr=False)
    pending: PendingCall | None = None
    entering: "asyncio.Future[None] | None" = None
    status: str = PENDING
    note: str = ""
    decided: float = 0.0
    counts_until: float = 0.0  # on the broker's clock, of a decision to allow
    consumed: Consumed | None = None
    on_record: bool = True
    outcome: Mapping[str, Value] | None = None
    elsewhere: bool = False
    accused: bool = False
    _waiters: list["asyncio.Future[None]"] = field(default_factory=list)

    @property
    def id(self) -> str:
        """Its id, a UUID."""
        return text_at(self.about, "id")

    @property
    def key(self) -> tuple[str, str]:
        """By what a repeated request is found: machine, and digest of its idempotency key."""
        return self.machine, text_at(self.about, "key")

    @property
    def expires(self) -> float:
        """When a decision to allow counts no more."""
        return self.decided + VALID_FOR

    def end(self, status: str, note: str = "", at: float | None = None) -> None:
        """Set how it ended, once, and wake who waits for that."""
        if self.status == PENDING:
            begun = _seconds(text_at(self.about, "created_at"))
            self.status, self.note = status, note
            self.decided = max(begun, time() if at is None else at)
        self.wake()

    def wake(self) -> None:
        """Wake who waits for news."""
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)
        self._waiters.clear()

    async def news(self, within: float) -> None:
        """Wait until it has ended, at most so many seconds."""
        if self.status != PENDING or self.elsewhere:
            return
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(within):
                    await waiter
        finally:
            with suppress(ValueError):
                self._waiters.remove(waiter)

    def as_json(self) -> dict[str, Value]:
        """Return it as the protocol writes it."""
        content: dict[str, Value] = {**self.request, "status": self.status}
        content |= {name: self.about[name] for name in ("id", "created_at", "deadline_at")}
        if self.status == PENDING:
            return content
        decision: dict[str, Value] = {"status": self.status, "decided_at": stamp(self.decided)}
        decision |= {"note": self.note} if self.note else {}
        if self.status == write.APPROVED:
            decision["expires_at"] = stamp(self.expires)
        content["decision"] = decision
        if self.consumed is not None:
            outcome: dict[str, Value] = {"outcome": {**self.outcome}} if self.outcome else {}
            content["consumption"] = {"consumed_at": stamp(self.consumed.at), **outcome}
        return content


_ABOUT = ("id", "key", "created_at", "deadline_at")


def _read_back(request_id: str, fields: Mapping[str, Value], machine: str) -> Approval | None:
    """Return the approval of a stored request; None for what the door has not stored.

    No hook can choose an id like ours. A row changed by hand must keep no server from starting.
    """
    about = {name: text_at(fields, name) for name in _ABOUT}
    if request_id != f"{_TICKET}{about['id']}":
        return None
    try:
        request = submissions.read(
            compact(submissions.request_in(fields)).encode("ascii"), submissions.REQUEST
        )
        if UUID(about["id"]).version != _RANDOM or _seconds(about["created_at"]) >= _seconds(
            about["deadline_at"]
        ):
            return None
    except (CrabhookError, ValueError, KeyError):
        return None
    return Approval(machine, request, about, "")


def digest(text: str) -> str:
    """Return the digest under which an idempotency key is kept."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _looked_at(entering: "asyncio.Future[None]") -> None:
    """Take in a refusal for which no connection waits any more."""
    if not entering.cancelled():
        entering.exception()


class Approvals:
    """All approvals of one runner. `wait` is how many seconds a request may wait at most."""

    def __init__(self, runner: Runner, wait: float) -> None:
        self._runner, self._intake, self._wait = runner, Intake(runner), wait
        self._all: dict[str, Approval] = {}
        self._by_key: dict[tuple[str, str], Approval] = {}
        self._ended: dict[str, int] = {}  # bytes of each, in the order of the ends
        self._size = 0  # bytes of all these
        self._take_up()

    def __repr__(self) -> str:
        return f"<Approvals {len(self._all)} ended={len(self._ended)}>"

    # What the routes do.

    def named(self, request_id: str, machine: str) -> Approval:
        """Return an approval of this machine's agents; raises ApprovalError.

        Another machine's is as unknown as none.
        """
        self._is_ours()
        approval = self._all.get(request_id)
        if approval is None or approval.machine != machine:
            words = "there is no such request: it never was, it is another's, or it ended long ago"
            raise ApprovalError(HTTPStatus.NOT_FOUND, "not_found", words)
        return approval

    async def create(
        self, request: Mapping[str, Value], key: str, origin: Origin
    ) -> tuple[Approval, bool]:
        """Return the approval of a request, and whether it is new. Raises ApprovalError.

        The same key returns the same approval, and is refused with another request.
        """
        self._is_ours()
        own = origin.machine, digest(key)
        approval = self._by_key.get(own)
        is_new = approval is None
        if approval is None:
            approval = self._begun(request, own)
            approval.entering = asyncio.ensure_future(self._enter(approval, origin))
            approval.entering.add_done_callback(_looked_at)
        elif canonical(dict(approval.request)) != canonical(dict(request)):
            raise conflict("idempotency_conflict", "this key came with another request before")
        if approval.entering is not None:
            try:
                # The connection may end meanwhile, and the agent then asks again by its key.
                await asyncio.shield(approval.entering)
            except RefusedError as error:
                raise self._refused(error.refusal) from error
        return approval, is_new

    async def cancel(self, approval: Approval) -> None:
        """Withdraw a request that waits; raises ApprovalError where it was decided."""
        if approval.status == write.CANCELLED:
            return
        if approval.status != PENDING:
            raise conflict("already_terminal", f"the request is {approval.status} already")
        if approval.elsewhere or approval.pending is None:
            raise not_here()
        approval.end(write.CANCELLED)  # first: a decision under way counts no more
        approval.pending.leave()
        self._forget_old(approval)

    async def consume(self, approval: Approval, key: str) -> None:
        """Take a decision to allow, once: by its first key alone. Raises ApprovalError.

        Returns only when no later server gives it again.
        """
        if approval.status != write.APPROVED:
            raise conflict("not_approved", f"the request is {approval.status}, not approved")
        own = digest(key)
        if approval.consumed is None:
            if self._runner.now() >= approval.counts_until:
                raise conflict("approval_expired", "the approval is too old: ask again")
            at = max(time(), approval.decided)
            approval.consumed, approval.on_record = Consumed(own, at), False
        elif approval.consumed.key != own:
            raise conflict("already_consumed", "this approval was taken before")
        if not approval.on_record:
            await self._record(approval, approval.consumed)
        self._runner.confirm(f"{_TICKET}{approval.id}", approval.ticket)

    async def report(
        self, approval: Approval, outcome: Mapping[str, Value], origin: Origin
    ) -> None:
        """Take in what became of a consumed call, once. Raises ApprovalError.

        A call that was not consumed must not have run: the desk reads that in red.
        """
        event = self._of(
            approval, submissions.event_told(approval.request, approval.about, outcome)
        )
        if approval.consumed is None:
            await self._accuse(approval, event, origin)
            raise conflict("not_consumed", f"the request is {approval.status}, and not consumed")
        if approval.outcome is not None:
            before = {name: approval.outcome.get(name) for name in ("status", "note")}
            if before != {name: outcome.get(name) for name in ("status", "note")}:
                raise conflict("outcome_conflict", "another outcome was reported before")
            return
        at = max(time(), approval.consumed.at)
        approval.outcome = {**outcome, "reported_at": stamp(at)}
        try:
            await self._observe(event, origin)
        except ApprovalError:
            approval.outcome = None
            raise

    async def _accuse(self, approval: Approval, event: Event, origin: Origin) -> None:
        """Tell the desk, once, that a call ran which had no right to."""
        if approval.accused:
            return
        approval.accused = True
        if approval.status == write.DENIED:
            await self._observe(event, origin)  # the broker compares, and its card gets the alarm
        else:
            what = f"says that this ran, and its request is {approval.status} and was not consumed"
            self._runner.contradict(event, what)

    async def _observe(self, event: Event, origin: Origin) -> None:
        now = self._runner.now()
        sent = Request(token_hex(16), event, now, origin=origin, secret=token_hex(16))
        try:
            await self._intake.enter(sent)
        except RefusedError as error:
            raise self._refused(error.refusal) from error

    def heard(self, approval: Approval) -> None:
        """Note that an agent has read how its request ended; a yes is taken by `consume`."""
        if approval.status not in (PENDING, write.APPROVED):
            self._runner.confirm(f"{_TICKET}{approval.id}", approval.ticket)

    # How they come and go.

    def _is_ours(self) -> None:
        try:
            self._runner.take_in()
        except RefusedError as error:
            raise self._refused(error.refusal) from error

    def _refused(self, refusal: Refusal) -> ApprovalError:
        code = "too_many" if STATUS[refusal] is HTTPStatus.TOO_MANY_REQUESTS else "unavailable"
        status = STATUS[refusal] if code == "too_many" else HTTPStatus.SERVICE_UNAVAILABLE
        return ApprovalError(status, code, refusal.value)

    def _begun(self, request: Mapping[str, Value], key: tuple[str, str]) -> Approval:
        now = time()
        until = now + min(self._wait, submissions.seconds(text_at(request, "timeout")))
        about: dict[str, Value] = {"id": str(uuid4()), "key": key[1]}
        about |= {"created_at": stamp(now), "deadline_at": stamp(until)}
        approval = Approval(key[0], request, about, token_hex(16))
        self._list(approval)
        return approval

    def _list(self, approval: Approval) -> None:
        self._all[approval.id] = self._by_key[approval.key] = approval

    async def _enter(self, approval: Approval, origin: Origin) -> None:
        event = submissions.event_asked(approval.request, approval.about)
        try:
            asked = self._asked(approval, event, origin)
            self._follow(approval, await self._intake.enter(asked))
            if approval.pending is not None:
                await approval.pending.recorded()
        except BaseException:
            self._unlist(approval)
            raise
        finally:
            approval.entering = None

    def _asked(self, approval: Approval, event: Event, origin: Origin) -> Request:
        left = max(0.0, _seconds(text_at(approval.about, "deadline_at")) - time())
        until = self._runner.now() + left
        return Request(
            f"{_TICKET}{approval.id}",
            event,
            until,
            origin=origin,
            gives_up_at=until,
            size=len(compact(dict(event.fields))),
            when_lost="deny",
            secret=approval.ticket,
        )

    def _follow(self, approval: Approval, pending: PendingCall) -> None:
        """Take in the decision of a request that waits now, when it comes."""
        approval.pending, pending.receipt_within = pending, VALID_FOR
        pending.when_over = lambda: self._over(approval, pending)
        if pending.over:
            self._over(approval, pending)

    def _over(self, approval: Approval, pending: PendingCall) -> None:
        if pending.given is not None:
            self._decide(approval, pending.given, undecided=self._is_late(pending))
        elif pending.refused is not None:
            refusal = pending.refused.refusal
            if refusal in _ELSEWHERE:
                approval.elsewhere = True
                approval.wake()
                return
            approval.end(_ENDS.get(refusal, write.CANCELLED))
        self._forget_old(approval)

    def _is_late(self, pending: PendingCall) -> bool:
        """Whether a reply tells that nobody decided in time: its card may be open still."""
        return not pending.confirm and self._runner.now() >= pending.request.wait_until

    def _decide(
        self, approval: Approval, reply: Reply, at: float | None = None, *, undecided: bool = False
    ) -> None:
        """Set what was decided, of exactly this request; a denial by nobody is no denial."""
        output = reply.output or {}
        decided = submissions.request_in(object_at(output, "request"))
        same = canonical(decided) == canonical(dict(approval.request))
        status = text_at(output, "status") if same else write.CANCELLED
        status = EXPIRED if undecided and status == write.DENIED else status
        approval.end(status, text_at(output, "note"), at)
        # A wall clock that is set back makes no approval last longer.
        left = min(VALID_FOR, max(0.0, approval.expires - time()))
        approval.counts_until = self._runner.now() + left

    def _forget_old(self, approval: Approval) -> None:
        """Count an ended approval, and forget the oldest of them beyond the bounds."""
        if approval.id not in self._ended:
            self._ended[approval.id] = size = len(compact(dict(approval.request)))
            self._size += size
        while len(self._ended) > ENDED_KEPT or self._size > ENDED_SIZE:
            self._unlist(self._all[next(iter(self._ended))])

    def _unlist(self, approval: Approval) -> None:
        self._size -= self._ended.pop(approval.id, 0)
        self._all.pop(approval.id, None)
        if self._by_key.get(approval.key) is approval:
            del self._by_key[approval.key]

    # The record.

    async def _record(self, approval: Approval, consumed: Consumed) -> None:
        """Write that an approval was taken; raises ApprovalError where that is not on record.

        Where it surely is not, nobody has taken it, and any key may.
        """
        event = self._of(approval, submissions.event_asked(approval.request, approval.about))
        row = f"{_TICKET}{approval.id}{_CONSUMED}"
        kept = KeptReply(row, consumed.key, b"", "", 0, consumed.at)
        entry = entries.consumed(event, consumed.at, approval=approval.id, row=row)
        commit = self._runner.keep_at_once(Change((entry,), answers=(kept,)))
        if commit is None:
            approval.consumed, approval.on_record = None, True
            raise not_here(Refusal.UNSPENT.value)
        try:
            await commit.wait()
        except CrabhookError as error:
            raise not_here(Refusal.UNRECORDED.value) from error
        approval.on_record = True

    @staticmethod
    def _of(approval: Approval, event: Event) -> Event:
        return replace(event, machine=approval.machine)

    def _take_up(self) -> None:
        """Take up what an earlier server left: requests that wait, and decisions not long ago."""
        recorder, runner = self._runner.recorder, self._runner
        if recorder is None or runner.elsewhere or runner.handed_over:
            return
        rows = {row.request_id: row for row in recorder.recover().answers}
        for name, row in rows.items():
            if name.startswith(_TICKET) and not name.endswith(_CONSUMED):
                self._take_up_decided(row, rows.get(f"{name}{_CONSUMED}"))
        for leg in self._waiting_legs():
            approval = _read_back(leg.id, leg.event.fields, leg.event.machine)
            if approval is None:
                continue
            approval.ticket = runner.broker.secret_of(leg.id)
            self._list(approval)
            back = self._asked(approval, leg.event, leg.origin)
            try:
                self._follow(approval, runner.enter(back, None))
            except RefusedError:
                approval.elsewhere = True

    def _waiting_legs(self) -> Iterator[Leg]:
        for card in self._runner.broker.waiting():
            for leg in () if card.went_on else card.requests:
                if leg.event.platform == PLATFORM and leg.event.name == ASKED:
                    yield leg

    def _take_up_decided(self, row: KeptReply, taken: KeptReply | None) -> None:
        reply = Reply.verbatim(row.stdout, row.stderr, row.exit_code)
        output = reply.output or {}
        fields, machine = object_at(output, "request"), text_at(output, "machine")
        approval = _read_back(row.request_id, fields, machine)
        if approval is None:
            return
        approval.ticket = row.secret
        self._list(approval)
        self._decide(approval, reply, row.decided)
        self._forget_old(approval)
        if taken is not None:
            approval.consumed = Consumed(taken.secret, max(taken.decided, approval.decided))
            self._runner.confirm(row.request_id, row.secret)
        elif row.owed:
            left = approval.counts_until - self._runner.now()
            self._runner.await_receipt(row.request_id, row.secret, max(0.0, left))
