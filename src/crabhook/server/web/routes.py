"""What a page asks of the web desk, a route each, over the service of desks elsewhere."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from time import monotonic, time
from typing import Any, NamedTuple, TypeAlias

from aiohttp import web

from crabhook.datatypes import Bounded, frozen
from crabhook.desk.commands import (
    Ask,
    AskContext,
    Claim,
    Command,
    Decide,
    DecideWithRule,
    Done,
    Stale,
    TooLate,
)
from crabhook.desk.updates import NEVER
from crabhook.model.actor import Operator
from crabhook.model.card import Card
from crabhook.model.errors import CrabhookError
from crabhook.model.signing import DecisionSignature
from crabhook.remote.signing import Signatory, to_sign
from crabhook.server.address import MAX_REQUEST
from crabhook.server.http.bodies import read
from crabhook.server.http.middleware import TurnedAwayError
from crabhook.server.operators import refusals
from crabhook.server.operators.authentication import Asserted, PasskeyCaller, Sent
from crabhook.server.operators.service import (
    Bookmark,
    Gap,
    Hello,
    OpenCall,
    OperatorService,
    SubmittedCommand,
    Watched,
    Whole,
)
from crabhook.server.push.push import PageOf, Push
from crabhook.server.web.face import ChangedCard, Face
from crabhook.server.web.guard import HEADERS
from crabhook.server.web.held import (
    AT_ONCE,
    LONGEST,
    AnswerToHold,
    Given,
    HeldAnswers,
    TakenBack,
)
from crabhook.server.web.open_page import OpenPage, PageEvent
from crabhook.server.web.sessions import Session
from crabhook.team.decision_signatures import PASSKEY
from crabhook.team.membership import Permission, Principal, Team, TeamRefusal
from crabhook.team.passkeys import Assertion, PasskeyError, to_text

RPC = "web/do"
"""The name of the one call that a passkey signs: all that it does is in its bytes."""

SMALL = 64 << 10  # bytes of a request that carries no call
WRITE_WITHIN = 30.0  # seconds for a page to take what it is sent
PAGES_KEPT = 256
_PAGE = re.compile(r"[0-9a-f]{16,64}")
_UNCOVERED_KEPT = 4096  # ids of calls; an assertion counts for two minutes
_NOT_HELD = "no such answer is held here"

STATUS: Mapping[type[refusals.DeskRefusal], HTTPStatus] = {
    refusals.NeedsPresence: HTTPStatus.UNAUTHORIZED,
    refusals.Forbidden: HTTPStatus.FORBIDDEN,
    refusals.NoRoom: HTTPStatus.TOO_MANY_REQUESTS,
    refusals.Malformed: HTTPStatus.BAD_REQUEST,
    refusals.Gone: HTTPStatus.GONE,
    refusals.StandsBy: HTTPStatus.MISDIRECTED_REQUEST,
}
"""The status by which a browser reads each refusal."""


@frozen
class Visit:
    """A request of a page of ours, whose person is signed in."""

    request: web.BaseRequest
    session: Session
    origins: frozenset[str]

    def caller(self, asserted: Asserted | None = None) -> PasskeyCaller:
        """Return who calls, with an assertion if the call brought one."""
        address = self.request.remote or ""
        session = self.session
        return PasskeyCaller(session.operator, session.passkey, asserted, self.origins, address)


Answer: TypeAlias = Callable[[Visit], Awaitable[web.StreamResponse]]


class _Statements(NamedTuple):
    """The assertions for the statements of strict hooks, and when these were made (ms)."""

    at: int
    assertions: tuple[Assertion, ...]


class _SignedCall(NamedTuple):
    """A call as a page posted it, its bytes, and the assertion for them, if one came.

    For a card of strict hooks the statements are signed in place of the bytes.
    """

    page: str
    call: Mapping[str, Any]
    raw: bytes
    asserted: Asserted | None
    statements: _Statements | None


class Pages:
    """Answers the pages of people who are signed in."""

    def __init__(
        self,
        service: OperatorService,
        team: Callable[[], Team | TeamRefusal],
        face: Face,
        push: Push,
    ) -> None:
        self._service, self._team, self._face, self._push = service, team, face, push
        self._pages: Bounded[tuple[str, str], OpenPage] = Bounded(PAGES_KEPT)
        self._held = HeldAnswers()
        self._uncovered: Bounded[tuple[str, str], None] = Bounded(_UNCOVERED_KEPT)

    def _seen(self, card: Card) -> bytes:
        return self._service.inputs.seen(card)

    # The stream of news.

    async def news(self, visit: Visit) -> web.StreamResponse:
        """Send what a page shows, and every change, until the page or the person's right ends."""
        request = visit.request
        page = self._page(visit, request.query.get("page", ""))
        behind = page.after(request.headers.get("Last-Event-ID", ""))
        response = web.StreamResponse(
            headers={
                **HEADERS,
                "Content-Type": "text/event-stream",
                "X-Accel-Buffering": "no",
            }
        )
        with self._service.open(visit.caller()) as call:
            if not isinstance(call, OpenCall):
                return self.refusal(call)
            with page.only_stream():
                await response.prepare(request)
                await self._send_news(call, page, behind, response)
        with suppress(ConnectionError):
            await response.write_eof()
        return response

    async def _send_news(
        self,
        call: OpenCall,
        page: OpenPage,
        behind: Sequence[PageEvent] | None,
        response: web.StreamResponse,
    ) -> None:
        """Send the news; after the hello first what an earlier stream sent and nobody got."""
        hello: Hello | None = None
        after = NEVER if behind is None else page.cursor
        async with aclosing(self._service.watch(call, after)) as parts:
            async for part in parts:
                if (event := self._event(part, page, hello)) is not None:
                    await _write(response, event)
                if isinstance(part, Hello):
                    hello = part
                    for missed in behind or () if part.resumed else ():
                        await _write(response, missed)

    def _event(
        self, part: Watched | refusals.DeskRefusal, page: OpenPage, hello: Hello | None
    ) -> PageEvent | None:
        match part:
            case Hello():
                return PageEvent.of("hello", self._hello(part))
            case Gap():
                return None  # all there is follows
            case Bookmark(now=now):
                return PageEvent.of("beat", {"now": now})
            case refusals.DeskRefusal(why):
                return PageEvent.of("over", {"why": why})
        assert hello is not None  # noqa: S101 - the first part
        if isinstance(part, Whole):
            page.put(replace(part.snapshot, me=_sits_at(hello.principal)))
            name, seq = "all", part.seq
            fragments = self._face.everything(page.desk, self._seen)
        else:
            page.put(part.news)
            name, seq = "some", part.logged.seq
            fragments = self._face.changed(part.news, page.desk, self._seen)
        cursor = hello.cursor._replace(seq=seq)
        event = PageEvent.of(name, {"now": page.desk.now(), "put": fragments}, cursor)
        page.sends(event, cursor)
        return event

    def _hello(self, hello: Hello) -> Mapping[str, Any]:
        team = self._team()
        return {
            "now": hello.now,
            "resumed": hello.resumed,
            "team": team.id if isinstance(team, Team) else "",
            "operator": hello.principal.operator,
            "challenge": hello.challenge.hex(),
            "rpc": RPC,
            "name": hello.principal.name,
            "device": hello.principal.device_name,
            "role": hello.principal.role.value,
            "part": hello.part,
            "desks_at": hello.desks_at,
            "page_at": hello.page_at,
        }

    def _page(self, visit: Visit, name: str) -> OpenPage:
        """Return a page by the name that it gave itself."""
        if not _PAGE.fullmatch(name):
            raise _bad("a page names itself by 16 letters of hex")
        key = visit.session.passkey, name
        page = self._pages.get(key) or OpenPage(monotonic)
        self._pages[key] = page
        return page

    # A whole card.

    async def card(self, visit: Visit) -> web.StreamResponse:
        """Send a whole card as it is now, with what its agent last said."""
        query = visit.request.query
        number, page = _card_number(query.get("card", "")), self._page(visit, query.get("page", ""))
        with self._service.open(visit.caller()) as call:
            if not isinstance(call, OpenCall):
                return self.refusal(call)
            card = await self._service.card(call, number)
            if isinstance(card, refusals.DeskRefusal):
                return self.refusal(card)
            with suppress(TurnedAwayError):  # the card counts, also without these words
                await self._read(call, page, AskContext(number))
            return self._html(self._whole(card, page))

    def _whole(self, card: Card, page: OpenPage) -> str:
        return self._face.card(card, page.desk, self._seen)

    async def uncover(self, visit: Visit) -> web.StreamResponse:
        """Send a whole card with its secrets: a passkey has to sign for that.

        An assertion counts once, so that nobody who has it reads by it.
        """
        signed = await _signed_call(visit.request)
        number, id_ = signed.call.get("card"), signed.call.get("id")
        if signed.call.get("act") != "uncover" or type(number) is not int or type(id_) is not str:
            raise _bad("a card is uncovered by its number, in a call with an id")
        page = self._page(visit, signed.page)
        with self._service.open(visit.caller(signed.asserted)) as call:
            if not isinstance(call, OpenCall):
                return self.refusal(call)
            sent = Sent(RPC, signed.raw)
            card = await self._service.card(call, number, Permission.UNCOVER, sent)
            if isinstance(card, refusals.DeskRefusal):
                return self.refusal(card)
            if (used := (visit.session.passkey, id_)) in self._uncovered:
                raise TurnedAwayError(HTTPStatus.FORBIDDEN, "this was signed for once, and shown")
            self._uncovered[used] = None
            return self._html(self._face.card(card, page.desk, self._seen, covers=False))

    async def _read(self, call: OpenCall, page: OpenPage, ask: Ask) -> Given:
        """Have something read into a page's copy of the news."""
        asked = SubmittedCommand(ask, Sent(RPC, b""))
        try:
            reply = await self._service.carry_out(call, asked)
        except TimeoutError:
            why = "this took too long to read: try again"
            raise TurnedAwayError(HTTPStatus.GATEWAY_TIMEOUT, why) from None
        if not isinstance(reply, refusals.DeskRefusal) and reply.read is not None:
            page.put(reply.read)
        return reply

    # What a page does.

    async def statements(self, visit: Visit) -> web.StreamResponse:
        """Answer with what a passkey has to sign to decide a card of strict hooks; none for others.

        The same call comes back to `do` with an assertion for each statement, and the statements
        are made once more. So nothing is kept here.
        """
        signed = await _signed_call(visit.request)
        page = self._page(visit, signed.page)
        with self._service.open(visit.caller()) as call:
            if not isinstance(call, OpenCall):
                return self.refusal(call)
            card = await self._card_of(call, signed.call)
            if isinstance(card, refusals.DeskRefusal):
                return self.refusal(card)
            at = round(time() * 1000)
            try:
                command = self._face.command(signed.call, card, page.desk)
                unsigned = self._unsigned(visit, command, card, at)
            except CrabhookError as error:
                return self.answer(HTTPStatus.UNPROCESSABLE_ENTITY, {"why": str(error)})
        statements = [to_text(each.statement) for each in unsigned]
        return self.answer(HTTPStatus.OK, {"signed_at": at, "statements": statements})

    def _unsigned(
        self, visit: Visit, command: Command, card: Card | None, at: int
    ) -> tuple[DecisionSignature, ...]:
        """Return what a visitor's passkey has to sign; raises CrabhookError."""
        team, session = self._team(), visit.session
        if card is None or not isinstance(command, Decide) or isinstance(team, TeamRefusal):
            return ()
        who = Signatory(team.id, session.operator, session.passkey, PASSKEY)
        return to_sign(card, command.decision, who, at)

    def _with_signatures(
        self, visit: Visit, command: Command, card: Card | None, made: _Statements
    ) -> Command:
        """Return a decision with what the visitor's passkey signed; raises CrabhookError."""
        unsigned = self._unsigned(visit, command, card, made.at)
        if not isinstance(command, Decide) or len(unsigned) != len(made.assertions):
            raise CrabhookError("the card changed while it was signed: look again, and sign again")
        signed = (
            replace(
                each,
                signature=assertion.signature,
                authenticator_data=assertion.authenticator_data,
                client_data=assertion.client_data,
            )
            for each, assertion in zip(unsigned, made.assertions, strict=True)
        )
        return replace(command, signed=tuple(signed))

    async def do(self, visit: Visit) -> web.StreamResponse:
        """Carry out a call of a page, which a passkey may have signed; answer with its outcome."""
        signed = await _signed_call(visit.request)
        page = self._page(visit, signed.page)
        with self._service.open(visit.caller(signed.asserted)) as call:
            if not isinstance(call, OpenCall):
                return self.refusal(call)
            return await self._carry_out(visit, call, page, signed)

    async def _carry_out(
        self, visit: Visit, call: OpenCall, page: OpenPage, signed_call: _SignedCall
    ) -> web.StreamResponse:
        page_call = signed_call.call
        card = await self._card_of(call, page_call)
        if isinstance(card, refusals.DeskRefusal):
            return self.refusal(card)
        try:
            command = self._face.command(page_call, card, page.desk)
            if signed_call.statements is not None:
                command = self._with_signatures(visit, command, card, signed_call.statements)
        except ChangedCard as error:
            return self._changed(str(error), card, page)
        except CrabhookError as error:
            return self.answer(HTTPStatus.UNPROCESSABLE_ENTITY, {"why": str(error)})
        signed = command.signed if isinstance(command, Decide) else ()
        sent = Sent(RPC, signed_call.raw, signed)
        asked = SubmittedCommand(command, sent, _hex(page_call.get("seen_sha256")))
        hold = page_call.get("hold", 0)
        if not isinstance(hold, int | float) or isinstance(hold, bool) or not 0 <= hold <= LONGEST:
            raise _bad(f"an answer is held for 0 to {LONGEST:g} seconds")
        if not hold or not isinstance(command, Decide | DecideWithRule):
            return self._outcome(await self._service.carry_out(call, asked), page)
        if (refusal := await self._service.look_over(call, asked)) is not None:
            return self.refusal(refusal)
        held = AnswerToHold(
            hold,
            partial(self._service.carry_out, call, asked),
            partial(self._claimed, visit, command, page.desk.now() + hold),
        )
        if not self._held.begin(visit.session.passkey, command.id, held):
            why = f"{AT_ONCE} answers are held already: wait until they were given"
            raise TurnedAwayError(HTTPStatus.TOO_MANY_REQUESTS, why)
        # A browser has six connections to a server: an answer that is held takes none of them.
        return self.answer(HTTPStatus.ACCEPTED, {"held": hold})

    async def _card_of(
        self, call: OpenCall, page_call: Mapping[str, Any]
    ) -> Card | refusals.DeskRefusal | None:
        number = page_call.get("card")
        if number is None:
            return None
        if not isinstance(number, int) or isinstance(number, bool):
            raise _bad("a card has a number")
        return await self._service.card(call, number)

    @asynccontextmanager
    async def _claimed(
        self, visit: Visit, command: Decide | DecideWithRule, due: float
    ) -> AsyncIterator[None]:
        """Show other desks that a decision is held."""
        # A claim is another call than the one that was signed, and the session alone may make it.
        bare, verdict = OpenCall(visit.caller()), command.decision.verdict

        async def tell(claim: Claim) -> None:
            await self._service.carry_out(bare, SubmittedCommand(claim, Sent(RPC, b"")))

        await tell(Claim(command.card, verdict=verdict, due=due))
        try:
            yield
        finally:
            await tell(Claim(command.card, release=True, verdict=verdict))

    async def outcome(self, visit: Visit) -> web.StreamResponse:
        """Answer with what became of an answer that is held, once it was given or taken back."""
        body = await posted(visit.request)
        page = self._page(visit, _text(body, "page"))
        reply = await self._held.outcome(visit.session.passkey, _text(body, "id"))
        if reply is None:
            return self.answer(HTTPStatus.NOT_FOUND, {"why": _NOT_HELD})
        return self._outcome(reply, page)

    async def take_back(self, visit: Visit) -> web.StreamResponse:
        """Take an answer back that is still held."""
        body = await posted(visit.request)
        taken = self._held.take_back(visit.session.passkey, _text(body, "id"))
        if taken is None:
            return self.answer(HTTPStatus.NOT_FOUND, {"why": _NOT_HELD})
        if not taken:
            return self.answer(HTTPStatus.CONFLICT, {"why": "it was given already"})
        return self.answer(HTTPStatus.OK, {"taken_back": True})

    def _outcome(self, reply: Given | TakenBack, page: OpenPage) -> web.StreamResponse:
        """Answer with what became of a command."""
        if isinstance(reply, TakenBack):
            return self.answer(HTTPStatus.OK, {"taken_back": True})
        if isinstance(reply, refusals.DeskRefusal):
            return self.refusal(reply)
        outcome = reply.outcome
        match outcome:
            case Done():
                needs = reply.card.still_needs if reply.card else ""
                waits = {"still_needs": needs} if needs else {}
                return self.answer(HTTPStatus.OK, {"done": True, **waits})
            case TooLate(why, by):
                name = by.name if isinstance(by, Operator) else ""
                return self.answer(HTTPStatus.CONFLICT, {"why": why, "late": True, "by": name})
            case Stale(why):
                return self._changed(why, reply.card, page)
        return self.answer(HTTPStatus.UNPROCESSABLE_ENTITY, {"why": outcome.why})

    def _changed(self, why: str, card: Card | None, page: OpenPage) -> web.StreamResponse:
        """Answer that a card is not as it was seen, with the card as it is now."""
        value = {"why": why, "changed": True, "card": self._whole(card, page) if card else ""}
        return self.answer(HTTPStatus.CONFLICT, value)

    # What a page has read for it.

    async def ask(self, visit: Visit) -> web.StreamResponse:
        """Have something read, and answer with what it changes on the page."""
        body = await posted(visit.request, MAX_REQUEST)
        page = self._page(visit, _text(body, "page"))
        with self._service.open(visit.caller()) as call:
            if not isinstance(call, OpenCall):
                return self.refusal(call)
            card = await self._card_of(call, body)
            if isinstance(card, refusals.DeskRefusal):
                return self.refusal(card)
            try:
                command = self._face.command(body, card, page.desk)
            except CrabhookError as error:
                return self.answer(HTTPStatus.UNPROCESSABLE_ENTITY, {"why": str(error)})
            if not isinstance(command, Ask):
                raise _bad("here a page asks, and does nothing")
            reply = await self._read(call, page, command)
            if isinstance(reply, refusals.DeskRefusal):
                return self.refusal(reply)
            if reply.read is None:
                return self.answer(HTTPStatus.UNPROCESSABLE_ENTITY, {"why": reply.outcome.why})
            put = self._face.changed(reply.read, page.desk, self._seen)
            return self.answer(HTTPStatus.OK, {"put": put})

    async def beat(self, visit: Visit) -> web.StreamResponse:
        """Note whether a page is looked at: then nobody calls its person by a notification."""
        value, session = await posted(visit.request), visit.session
        of = PageOf(session.operator, session.passkey, _text(value, "page"))
        number = value.get("number")
        if type(number) is not int:
            raise _bad("a page numbers its beats")
        self._push.beat(of, number, visible=value.get("visible") is True)
        return web.Response(status=HTTPStatus.NO_CONTENT, headers=HEADERS)

    # Bodies and answers.

    def _html(self, text: str) -> web.Response:
        headers = {**HEADERS, "Content-Type": "text/html; charset=utf-8"}
        return web.Response(body=text.encode("utf-8", "replace"), headers=headers)

    def answer(self, status: HTTPStatus, value: Mapping[str, Any]) -> web.Response:
        """Return an answer in JSON."""
        headers = {**HEADERS, "Content-Type": "application/json"}
        return web.Response(status=status, body=json.dumps(value).encode("ascii"), headers=headers)

    def refusal(self, refusal: refusals.DeskRefusal) -> web.Response:
        """Return the answer of a call that was refused."""
        value: dict[str, Any] = {"why": refusal.why}
        if isinstance(refusal, refusals.NeedsPresence):
            value["needs"] = "assertion"
        if isinstance(refusal, refusals.StandsBy):
            value["desks_at"] = refusal.desks_at
        return self.answer(STATUS[type(refusal)], value)


def _sits_at(principal: Principal) -> Operator:
    """Return who sits at a page, as its own copy of the news names them."""
    return Operator(
        principal.operator, principal.name, principal.device_name, role=principal.role.value
    )


async def _write(response: web.StreamResponse, event: PageEvent) -> None:
    try:
        async with asyncio.timeout(WRITE_WITHIN):
            await response.write(event.encoded)
    except TimeoutError:
        raise ConnectionAbortedError("the page does not read") from None


def _card_number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise _bad("a card has a number")
    return int(text)


async def posted(request: web.BaseRequest, most: int = SMALL) -> Mapping[str, Any]:
    """Return what a page posted; raises TurnedAwayError for anything but a JSON object."""
    try:
        value = json.loads(await read(request, most))
    except (ValueError, RecursionError):
        raise _bad("the body is no JSON") from None
    if not isinstance(value, dict):
        raise _bad("the body is no JSON object")
    return value


async def _signed_call(request: web.BaseRequest) -> _SignedCall:
    """Return the call that a page posted; raises TurnedAwayError."""
    body = await posted(request, MAX_REQUEST)
    text = _text(body, "call")
    try:
        raw = text.encode("utf-8")
        call = json.loads(text)
    except (ValueError, RecursionError):
        raise _bad("the call is no JSON") from None
    if not isinstance(call, dict):
        raise _bad("the call is no JSON object")
    at = call.get("at")
    if not isinstance(at, int | float) or isinstance(at, bool):
        raise _bad("a call says when it was given")
    asserted = _asserted(body.get("assertion"), float(at))
    return _SignedCall(_text(body, "page"), call, raw, asserted, _statements(body))


MOST_STATEMENTS = 8  # of a card: each takes a touch


def _statements(body: Mapping[str, Any]) -> _Statements | None:
    """Return the assertions for statements that came with a call; raises TurnedAwayError."""
    assertions, at = body.get("assertions"), body.get("signed_at")
    if assertions is None:
        return None
    if not isinstance(assertions, list) or not 0 < len(assertions) <= MOST_STATEMENTS:
        raise _bad("assertions must be a list of some")
    if not isinstance(at, int) or isinstance(at, bool) or not 0 <= at < 1 << 62:
        raise _bad("signed_at must be the time of the statements")
    try:
        return _Statements(at, tuple(map(Assertion.from_json, assertions)))
    except PasskeyError as error:
        raise _bad(str(error)) from None


def _bad(words: str) -> TurnedAwayError:
    return TurnedAwayError(HTTPStatus.BAD_REQUEST, words)


def _text(posted: Mapping[str, Any], name: str) -> str:
    value = posted.get(name)
    if not isinstance(value, str):
        raise _bad(f"{name} must be a text")
    return value


def _hex(value: object) -> bytes:
    try:
        return bytes.fromhex(value) if isinstance(value, str) else b""
    except ValueError:
        raise _bad("seen_sha256 must be hexadecimal") from None


def _asserted(assertion: object, at: float) -> Asserted | None:
    """Return the assertion that came with a call, and when it was asked for."""
    if assertion is None:
        return None
    try:
        return Asserted(at, Assertion.from_json(assertion))
    except PasskeyError as error:
        raise _bad(str(error)) from None
