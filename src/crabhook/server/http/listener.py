"""Opens the HTTP door: `POST /hooks/AGENT` for hooks, `/healthz` and `/metrics` for monitoring.

A wrong header of our installer is refused, not ignored. A hook that was installed to leave the
agent's dialog alone must not hold its calls.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

from aiohttp import web

from crabhook.datatypes import frozen
from crabhook.model.card import Stance
from crabhook.model.decision import Reply
from crabhook.model.errors import PayloadError
from crabhook.platforms import HOOKED
from crabhook.platforms.sending import STANCE, WAIT, path_of
from crabhook.server.address import (
    MAX_REQUEST,
    HttpAddress,
    Tls,
    Tokens,
)
from crabhook.server.core.anonymous_intake import TAKEN_WITHIN, AnonymousIntake
from crabhook.server.core.pending_call import PendingCall, RefusedError
from crabhook.server.core.runner import Runner
from crabhook.server.grpc.listener import Health
from crabhook.server.http.aap import PREFIX, AapRoute, error_body
from crabhook.server.http.bodies import read
from crabhook.server.http.connections import SERVER, Connections, transport_of
from crabhook.server.http.listening import (
    ListenerWords,
    serving,
)
from crabhook.server.http.middleware import (
    Answer,
    HeaderCheck,
    Middleware,
    PathTree,
    Route,
    TurnedAwayError,
    origin,
    turned_away,
)
from crabhook.server.watch import (
    ListenerWatch,
)

_STANCE, _WAIT = STANCE.lower(), WAIT.lower()
_STANCES: Mapping[str, Stance] = {stance.value: stance for stance in Stance}


def hook_headers(headers: Mapping[str, str]) -> tuple[Stance, float]:
    """Return a hook's stance, and how many seconds it waits, 0 if unknown.

    Our installer's headers say it. Raises TurnedAwayError for a wrong header.
    """
    values: dict[str, Any] = {}
    for name, value in headers.items():  # a repeated header comes repeatedly
        field = name.lower()
        if not field.startswith("x-crabhook-"):
            continue
        if field not in (_STANCE, _WAIT):
            raise _wrong(f"of the headers X-Crabhook-… there are {STANCE} and {WAIT}")
        if field in values:
            raise _wrong(f"{name} is there twice")
        if field == _STANCE and value not in _STANCES:
            raise _wrong(f"{STANCE} is one of: {', '.join(_STANCES)}")
        if field == _WAIT and not re.fullmatch("[1-9][0-9]{0,7}", value):
            raise _wrong(f"{WAIT} is a whole number of seconds")
        values[field] = _STANCES[value] if field == _STANCE else float(value)
    return values.get(_STANCE, Stance.GATE), values.get(_WAIT, 0.0)


def _wrong(what: str) -> TurnedAwayError:
    notice = "a request with terms that do not exist was turned away"
    return TurnedAwayError(HTTPStatus.BAD_REQUEST, what, notice=notice)


class HookRoute:
    """Answers an agent's hooks, whose connections `connections` watches.

    `body` is a reply as that agent reads it.
    """

    def __init__(
        self,
        intake: AnonymousIntake,
        connections: Connections,
        agent: str,
        body: Callable[[Reply], bytes],
    ) -> None:
        self._intake, self._connections = intake, connections
        self._agent, self._body = agent, body

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Take a request in; answer with the reply. Raises TurnedAwayError.

        An unreadable input is refused, which no agent sends: an answer of no opinion would allow a
        call of a hook that fails closed.
        """
        stance, wait = hook_headers(request.headers)
        text = await read(request, MAX_REQUEST, "a hook's input was not taken")
        try:
            event = self._intake.read(text, self._agent)
        except PayloadError as error:
            what = f"unreadable input of {len(text)} bytes: {error}"
            self._intake.complain(what)
            raise TurnedAwayError(HTTPStatus.BAD_REQUEST, what) from error
        transport = transport_of(request)  # before the call is taken in: nobody would end it
        try:
            pending = await self._intake.enter(
                event, origin(request), len(text), stance=stance, theirs=wait
            )
            with self._connections.waiting(transport):
                reply = await pending.wait()
        except RefusedError as error:
            raise turned_away(error.refusal) from error
        return await self._give(request, pending, self._body(reply))

    async def _give(
        self, request: web.BaseRequest, pending: PendingCall, answer: bytes
    ) -> web.StreamResponse:
        """Send the answer; it counts as delivered when the kernel has taken all of it."""
        response = web.Response(body=answer, headers=SERVER)
        if answer:
            response.content_type = "application/json"
        transport = transport_of(request)
        try:
            async with asyncio.timeout(TAKEN_WITHIN):
                await response.prepare(request)
                await response.write_eof()
        except TimeoutError:
            transport.abort()
            self._intake.complain("an answer was not read in time: the connection is closed")
            raise ConnectionAbortedError from None
        if not transport.is_closing():
            self._intake.taken(pending)
        return response


@frozen
class Page:
    """A page whose `content` is made again for each request."""

    content: Callable[[], bytes]
    content_type: str


def healthz(health: Health) -> Answer:
    """Return the handler of `/healthz`, for any client: its answer holds nothing secret."""

    async def answer(_: web.BaseRequest) -> web.StreamResponse:
        if health.serving:
            behind = "not-exported\n" if health.behind else ""
            return web.Response(text=f"ok\n{behind}", headers=SERVER)
        unfit = HTTPStatus.SERVICE_UNAVAILABLE
        return web.Response(text=f"{health.reason}\n", status=unfit, headers=SERVER)

    return answer


def showing(page: Page) -> Answer:
    """Return the handler of a page."""

    async def answer(_: web.BaseRequest) -> web.StreamResponse:
        headers = SERVER | {"Content-Type": page.content_type}
        return web.Response(body=page.content(), headers=headers)

    return answer


NAMED = "HTTP door"
_WORDS = ListenerWords(f"the {NAMED}", "hooks", "--http")


@frozen
class Opening:
    """The HTTP door's address, tokens and TLS.

    A request may name the door by its address or by one of `names`. `metrics` is the page for a
    monitoring system, if there is one.
    """

    address: str
    tokens: Tokens
    names: Sequence[str] = ()
    tls: Tls | None = None
    metrics: Page | None = None


@asynccontextmanager
async def open_http(
    opening: Opening,
    runner: Runner,
    intake: AnonymousIntake,
    health: Health | None = None,
    watch: ListenerWatch | None = None,
) -> AsyncIterator[HttpAddress]:
    """Listen while the context lasts; yields the bound address.

    Raises AddressError or PortError.
    """
    middleware = Middleware(
        HeaderCheck(opening.tokens, opening.names), intake.complain, runner.witness.stranger
    )
    connections = middleware.connections
    middleware.routes = {
        **{
            path_of(name): Route(
                "POST", HookRoute(intake, connections, name, agent.sends.body).answer
            )
            for name, agent in HOOKED.items()
            if agent.sends
        },
        "/healthz": Route("GET", healthz(health or Health(runner)), token=False),
        **({"/metrics": Route("GET", showing(opening.metrics))} if opening.metrics else {}),
    }
    aap = AapRoute(runner, intake.wait, connections, intake.complain)
    intake.followers.append(aap.switch_to)
    middleware.trees = (PathTree(PREFIX, aap.answer, error_body),)
    async with serving(opening.address, _WORDS, opening.tls, connections, watch) as at:
        yield at
