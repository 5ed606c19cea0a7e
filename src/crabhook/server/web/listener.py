"""Opens the web desk's port: its own listener, since hooks' doors refuse browsers by law."""

import gzip
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from http import HTTPStatus
from time import monotonic, time
from typing import NamedTuple, TypeAlias

from aiohttp import web

from crabhook.datatypes import Bounded, frozen
from crabhook.model.errors import CrabhookError
from crabhook.server.address import HttpAddress, TcpAddress, Tls
from crabhook.server.http.bodies import read
from crabhook.server.http.connections import Connections, transport_of
from crabhook.server.http.listening import ListenerWords, serving
from crabhook.server.http.middleware import TurnedAwayError
from crabhook.server.operators.service import OperatorService
from crabhook.server.push.push import Push
from crabhook.server.repeats import Repeats
from crabhook.server.watch import ListenerWatch
from crabhook.server.web.face import Asset, Face
from crabhook.server.web.guard import HEADERS, BrowserGuard
from crabhook.server.web.notices import Notices
from crabhook.server.web.routes import Answer, Pages, Visit, posted
from crabhook.server.web.sessions import KEPT_FOR, Session, Sessions
from crabhook.server.web.whereabouts import runs_here
from crabhook.team.membership import Team, TeamRefusal
from crabhook.team.passkeys import (
    Assertion,
    PasskeyError,
    Registration,
    from_text,
    signed_in,
    to_text,
)
from crabhook.team.web_enrolling import PageSide, WrongSecretError

_LOG = logging.getLogger(__name__)

WORDS = ListenerWords("the web desk", "browsers", "--web")
COOKIE = "__Host-crabhook"
TRIES, WITHIN = 30, 60.0  # to sign in or enrol, from one address, in so many seconds
_ADDRESSES = 1024
_REPORT = 8 << 10  # bytes
_REPORTS = ("application/csp-report", "application/reports+json", "application/json")
_HOST = re.compile(r"https?://(\[[^]]+\]|[^:]+)(?::[0-9]+)?")

Open: TypeAlias = Callable[[web.BaseRequest, frozenset[str]], Awaitable[web.StreamResponse]]
"""A route for everybody who reaches the port: it gets the request, and our origins there."""


@frozen
class WebOpening:
    """The web desk's address, TLS, and the names that lead to it.

    `complain` shows the operator a notice.
    """

    address: str
    names: Sequence[str] = ()
    tls: Tls | None = None
    complain: Callable[[str], object] = lambda _text: None


class WebParts(NamedTuple):
    """What a web desk is put together from."""

    face: Face
    push: Push
    enrolling: PageSide


class Tries:
    """Bounds how often an address may try to sign in or to enrol."""

    def __init__(self) -> None:
        self._of: Bounded[str, tuple[float, int]] = Bounded(_ADDRESSES)

    def take(self, address: str) -> None:
        """Count a try; raises TurnedAwayError beyond the bound."""
        now = monotonic()
        since, count = self._of.get(address, (now, 0))
        if now - since > WITHIN:
            since, count = now, 0
        self._of[address] = since, count + 1
        if count >= TRIES:
            words = "too many tries from this address: wait a minute"
            raise TurnedAwayError(HTTPStatus.TOO_MANY_REQUESTS, words)


class WebDesk:
    """Answers browsers: documents and files for all, everything else for who is signed in."""

    def __init__(
        self,
        service: OperatorService,
        team: Callable[[], Team | TeamRefusal],
        parts: WebParts,
        opening: WebOpening,
    ) -> None:
        face, push, self._enrolling = parts
        self._team, self._face, self._complain = team, face, opening.complain
        self._guard, self._sessions, self._tries = BrowserGuard(opening.names), Sessions(), Tries()
        self._noticed = Repeats()
        self.pages = pages = Pages(service, team, face, push)
        notices = Notices(push, pages)
        self._packed: dict[str, bytes] = {}
        self.connections = Connections(self.answer)
        self._open: Mapping[tuple[str, str], Open] = {
            ("GET", "/"): self._desk,
            ("GET", "/enrol"): self._enrol_page,
            ("POST", "/challenge"): self._challenge,
            ("POST", "/session"): self._sign_in,
            ("GET", "/session"): self._signed_in,
            ("DELETE", "/session"): self._sign_out,
            ("POST", "/csp"): self._report,
            ("POST", "/enrol"): self._enrol,
            ("POST", "/push/report"): notices.report,
        }
        self._signed: Mapping[tuple[str, str], Answer] = {
            ("GET", "/news"): pages.news,
            ("GET", "/card"): pages.card,
            ("POST", "/uncover"): pages.uncover,
            ("POST", "/statements"): pages.statements,
            ("POST", "/do"): pages.do,
            ("POST", "/outcome"): pages.outcome,
            ("POST", "/take-back"): pages.take_back,
            ("POST", "/ask"): pages.ask,
            ("POST", "/beat"): pages.beat,
            ("GET", "/push"): notices.told,
            ("POST", "/push"): notices.subscribe,
            ("DELETE", "/push"): notices.forget,
            ("POST", "/push/test"): notices.test,
        }

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer any request."""
        try:
            return await self._answer(request)
        except TurnedAwayError as error:
            if error.notice and self._noticed.is_news(error.notice):
                self._complain(error.notice)
            response = self.pages.answer(error.status, {"why": str(error)})
            if error.ends:
                response.force_close()
            return response
        except ConnectionError:
            raise  # the browser is gone
        except Exception:  # noqa: BLE001 - a fault of ours is told in words
            _LOG.exception("a request at the web desk was lost")
            why = "a fault of crabhook's own, which the server's log tells of"
            return self.pages.answer(HTTPStatus.INTERNAL_SERVER_ERROR, {"why": why})

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        transport = transport_of(request)
        tls = transport.get_extra_info("sslcontext") is not None
        host, port, *_ = transport.get_extra_info("sockname")
        origins = self._guard.origins(request.headers, TcpAddress(host, port), tls=tls)
        method, path = request.method, request.path
        if method != "GET" and path != "/csp":
            self._guard.own_page(request.headers, origins)
        else:
            self._guard.not_another_page(request.headers)
        if (open_route := self._open.get((method, path))) is not None:
            return await open_route(request, origins)
        if method == "GET" and (asset := self._face.assets.get(path.removeprefix("/"))):
            return self._file(path, asset, request)
        route = self._signed.get((method, path))
        if route is None:
            raise TurnedAwayError(HTTPStatus.NOT_FOUND, "there is nothing", ends=True)
        session = self._session(request)
        if session is None:
            raise TurnedAwayError(HTTPStatus.UNAUTHORIZED, "sign in first: no session is open here")
        self.connections.known(transport)
        return await route(Visit(request, session, origins))

    def _session(self, request: web.BaseRequest) -> Session | None:
        cookie = request.cookies.get(COOKIE, "")
        return self._sessions.of(cookie, monotonic()) if cookie else None

    # Documents and files.

    async def _desk(self, _: web.BaseRequest, __: frozenset[str]) -> web.StreamResponse:
        return self._document("desk")

    async def _enrol_page(self, _: web.BaseRequest, __: frozenset[str]) -> web.StreamResponse:
        return self._document("enrol")

    def _document(self, name: str) -> web.Response:
        headers = {**HEADERS, "Content-Type": "text/html; charset=utf-8"}
        return web.Response(body=self._face.document(name).encode(), headers=headers)

    def _file(self, path: str, asset: Asset, request: web.BaseRequest) -> web.Response:
        headers = {**HEADERS, "Content-Type": asset.content_type}
        content = asset.content
        if "gzip" in request.headers.get("Accept-Encoding", "") and len(content) > 512:
            if path not in self._packed:
                self._packed[path] = gzip.compress(content, 9)
            content, headers["Content-Encoding"] = self._packed[path], "gzip"
        return web.Response(body=content, headers=headers)

    # Signing in.

    async def _challenge(
        self, request: web.BaseRequest, origins: frozenset[str]
    ) -> web.StreamResponse:
        """Send a challenge to sign in with, and the host that a passkey signs for."""
        self._tries.take(request.remote or "")
        challenge = to_text(self._sessions.challenge(time()))
        return self.pages.answer(HTTPStatus.OK, {"challenge": challenge, "rp": rp_of(origins)})

    async def _sign_in(
        self, request: web.BaseRequest, origins: frozenset[str]
    ) -> web.StreamResponse:
        self._tries.take(request.remote or "")
        value = await posted(request)
        try:
            challenge = from_text(value.get("challenge"))
            assertion = Assertion.from_json(value.get("assertion"))
        except PasskeyError as error:
            raise TurnedAwayError(HTTPStatus.BAD_REQUEST, str(error)) from None
        team = self._team()
        principal = (
            team
            if isinstance(team, TeamRefusal)
            else signed_in(assertion, challenge, team, time(), origins)
        )
        if isinstance(principal, TeamRefusal):
            raise TurnedAwayError(HTTPStatus.FORBIDDEN, principal.why)
        if not self._sessions.takes(challenge, time()):
            raise TurnedAwayError(HTTPStatus.FORBIDDEN, "this took too long: sign in again")
        cookie = self._sessions.begin(principal.operator, principal.device, monotonic())
        response = self.pages.answer(HTTPStatus.OK, {"name": principal.name})
        _set_cookie(response, cookie, round(KEPT_FOR))
        return response

    async def _signed_in(self, request: web.BaseRequest, _: frozenset[str]) -> web.StreamResponse:
        if self._session(request) is None:
            raise TurnedAwayError(HTTPStatus.UNAUTHORIZED, "sign in: no session is open here")
        return self.pages.answer(HTTPStatus.OK, {})

    async def _sign_out(self, request: web.BaseRequest, _: frozenset[str]) -> web.StreamResponse:
        self._sessions.end(request.cookies.get(COOKIE, ""))
        response = self.pages.answer(HTTPStatus.OK, {})
        _set_cookie(response, "", 0)
        return response

    async def _enrol(self, request: web.BaseRequest, _: frozenset[str]) -> web.StreamResponse:
        """Take a step of a device that joins by an invitation; answer with what it needs next."""
        value = await posted(request)
        now, step = time(), value.get("step")
        if step != "outcome":  # which a page asks for again and again
            self._tries.take(request.remote or "")
        try:
            shown = from_text(value.get("shown"))
            if step == "begin":
                return self.pages.answer(HTTPStatus.OK, asdict(self._enrolling.begin(shown, now)))
            if step == "offer":
                registration = Registration.from_json(value.get("registration"))
                forwarded_for = ",".join(request.headers.getall("X-Forwarded-For", ()))
                here = runs_here(request.remote or "", forwarded_for)
                device = str(value.get("device", ""))
                words = self._enrolling.offer(shown, registration, device, now, here=here)
                return self.pages.answer(HTTPStatus.OK, {"words": words})
            if step == "outcome":
                joined = self._enrolling.outcome(shown, now)
                return self.pages.answer(HTTPStatus.OK, {"device": joined})
        except WrongSecretError as error:
            raise TurnedAwayError(HTTPStatus.FORBIDDEN, str(error)) from None
        except CrabhookError as error:
            raise TurnedAwayError(HTTPStatus.GONE, str(error)) from None
        raise TurnedAwayError(HTTPStatus.BAD_REQUEST, "there is no such step")

    async def _report(self, request: web.BaseRequest, _: frozenset[str]) -> web.StreamResponse:
        """Take a browser's report that a page met something that its policy forbids."""
        self._tries.take(request.remote or "")
        report = await read(request, _REPORT, kinds=_REPORTS)
        _LOG.warning("the web desk's policy stopped something: %r", report[:1000])
        words = "a browser stopped something that the web desk's policy forbids: see the log"
        if self._noticed.is_news(words):
            self._complain(words)
        return web.Response(status=HTTPStatus.NO_CONTENT, headers=HEADERS)


def rp_of(origins: frozenset[str]) -> str:
    """Return the host that passkeys of our pages sign for, by the name that a request uses."""
    host = _HOST.fullmatch(next(iter(origins)))
    return host[1] if host else ""


def _set_cookie(response: web.Response, value: str, seconds: int) -> None:
    response.headers["Set-Cookie"] = (
        f"{COOKIE}={value}; Max-Age={seconds}; Path=/; Secure; HttpOnly; SameSite=Strict"
    )


@asynccontextmanager
async def open_web(
    opening: WebOpening,
    service: OperatorService,
    team: Callable[[], Team | TeamRefusal],
    parts: WebParts,
    watch: ListenerWatch | None = None,
) -> AsyncIterator[HttpAddress]:
    """Serve browsers while the context lasts; yields the bound address.

    Raises AddressError or PortError.
    """
    desk = WebDesk(service, team, parts, opening)
    async with serving(opening.address, WORDS, opening.tls, desk.connections, watch) as at:
        yield at
