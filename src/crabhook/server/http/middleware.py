"""Checks every HTTP request's origin, host and token, and passes it to its route.

Any user of the machine can connect to its loopback, and so can any web page that its owner has
open. So the loopback needs the token too. The Host must be our name, since DNS rebinding lets a
page's name lead here. A request with a browser's headers is refused.
"""

import logging
import os
import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextvars import ContextVar
from http import HTTPStatus
from typing import TypeAlias

from aiohttp import web
from multidict import MultiMapping

from crabhook.broker.messages import Refusal
from crabhook.datatypes import frozen
from crabhook.model.card import Origin, number_of
from crabhook.model.errors import CrabhookError
from crabhook.server.address import TcpAddress, Tokens
from crabhook.server.http.connections import SERVER, Connections, transport_of
from crabhook.server.repeats import Repeats

STATUS: Mapping[Refusal, HTTPStatus] = {
    Refusal.NOT_YOURS: HTTPStatus.CONFLICT,
    Refusal.SUPERSEDED: HTTPStatus.CONFLICT,
    Refusal.FULL: HTTPStatus.TOO_MANY_REQUESTS,
    Refusal.SESSION_FULL: HTTPStatus.TOO_MANY_REQUESTS,
    Refusal.UNRECORDED: HTTPStatus.SERVICE_UNAVAILABLE,
    Refusal.UNSPENT: HTTPStatus.SERVICE_UNAVAILABLE,
    Refusal.UNDECIDED: HTTPStatus.GATEWAY_TIMEOUT,
    Refusal.OVER: HTTPStatus.GONE,
    Refusal.CLOSED: HTTPStatus.SERVICE_UNAVAILABLE,
    Refusal.STOPPED: HTTPStatus.SERVICE_UNAVAILABLE,
    Refusal.HANDED_OVER: HTTPStatus.SERVICE_UNAVAILABLE,
    Refusal.ELSEWHERE: HTTPStatus.SERVICE_UNAVAILABLE,
}


class TurnedAwayError(CrabhookError):
    """A refused request.

    `notice` is a line for the operator, without text of the client; empty for no line. `ends`: the
    connection ends with the answer.
    """

    def __init__(
        self,
        status: HTTPStatus,
        words: str,
        *,
        notice: str = "",
        ends: bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(words)
        self.status, self.notice, self.ends = status, notice, ends
        self.headers = dict(headers or {})


def turned_away(refusal: Refusal) -> TurnedAwayError:
    """Return the error for a request that the broker refused."""
    return TurnedAwayError(STATUS[refusal], refusal.value)


_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::([0-9]{1,5}))?")
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
_USUAL_PORT = {False: 80, True: 443}  # without and with TLS


class OwnNames:
    """Checks by which name a request calls this server; raises TurnedAwayError.

    That may be its address or one of `names`, which `option` adds.
    """

    def __init__(self, names: Collection[str], option: str) -> None:
        self._names = frozenset(name.lower().rstrip(".") for name in names)
        self._option = option

    def our_name(self, headers: MultiMapping[str], here: TcpAddress, *, tls: bool) -> None:
        """Turn away a request for another Host; `here` is our end of the connection."""
        hosts = headers.getall("Host", [])
        name = _HOST.fullmatch(hosts[0]) if len(hosts) == 1 else None
        if name is None or not self._is_ours(name, here, tls=tls):
            raise TurnedAwayError(
                HTTPStatus.MISDIRECTED_REQUEST,
                f"the header Host must name this server as it was opened, such as {here}. "
                f"{self._option} adds a name",
                notice="a request that called this server by another name was turned away "
                f"({self._option} adds a name)",
                ends=True,
            )

    def _is_ours(self, host: "re.Match[str]", here: TcpAddress, *, tls: bool) -> bool:
        name = (host[1] or host[2]).lower().rstrip(".")
        if name in self._names:
            return True  # with any port: a proxy may have another one
        if int(host[3] or _USUAL_PORT[tls]) != here.port:
            return False
        if here.loopback and name in _LOOPBACK_NAMES:
            return True
        return number_of(name) is not None and number_of(name) == number_of(here.host)


class HeaderCheck(OwnNames):
    """Checks hooks' headers; raises TurnedAwayError."""

    def __init__(self, tokens: Tokens, names: Collection[str] = ()) -> None:
        super().__init__(names, "--http-name")
        self._tokens = tokens

    def no_browser(self, headers: MultiMapping[str]) -> None:
        """Turn away a web page's request; one from a browser's address bar is a person's."""
        sites = headers.getall("Sec-Fetch-Site", [])
        if headers.getall("Origin", []) or any(site != "none" for site in sites):
            raise TurnedAwayError(
                HTTPStatus.FORBIDDEN,
                "no web page may ask here",
                notice="a web page's request was turned away",
                ends=True,
            )

    def shows_token(self, headers: MultiMapping[str]) -> str:
        """Return the machine of the token, "" for the server's own; turn other requests away."""
        shown = headers.getall("Authorization", [])
        readable = len(shown) == 1 and shown[0].isascii()
        machine = self._tokens.whose(shown[0]) if readable else None
        if machine is None:
            raise TurnedAwayError(
                HTTPStatus.UNAUTHORIZED,
                "no token, or a wrong token: the agent needs the server's token in CRABHOOK_TOKEN",
                notice="no CRABHOOK_TOKEN, or a wrong token: a request was turned away "
                "(is it set where the agent was started?)",
                ends=True,
                headers={"WWW-Authenticate": "Bearer"},
            )
        return machine


Answer: TypeAlias = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


@frozen
class Route:
    """The handler of a path, its method, and whether it needs the token."""

    method: str
    answer: Answer
    token: bool = True


def route_of(routes: Mapping[str, Route], request: web.BaseRequest) -> Route:
    """Return the route of a request; raises TurnedAwayError where there is none.

    The path is compared without decoding, so that each path has a single spelling.
    """
    if (route := routes.get(request.raw_path)) is None:
        paths = ", ".join(routes)
        raise TurnedAwayError(
            HTTPStatus.NOT_FOUND, f"there is nothing. Known are: {paths}", ends=True
        )
    if request.method != route.method:
        wrong, words = HTTPStatus.METHOD_NOT_ALLOWED, f"here one may {route.method} alone"
        raise TurnedAwayError(wrong, words, ends=True, headers={"Allow": route.method})
    return route


@frozen
class PathTree:
    """The handler of all paths that begin so, of any method, and how it writes an error's body."""

    prefix: str
    answer: Answer
    error: Callable[[TurnedAwayError], bytes]


_LOG = logging.getLogger(__name__)

MACHINE: ContextVar[str] = ContextVar("machine", default="")
"""The machine whose own token the current request shows; empty for none."""


def origin(request: web.BaseRequest) -> Origin:
    """Return a request's origin: of it a connection shows the machine alone."""
    host = request.remote or ""
    number = number_of(host.partition("%")[0])
    name = os.uname().nodename if number and number.is_loopback else host
    return Origin(name, machine=MACHINE.get())


class Middleware:
    """Checks requests and passes them to their routes.

    `complain` shows the operator a notice; `stranger` is called for each request without a token.
    """

    def __init__(
        self, guard: HeaderCheck, complain: Callable[[str], None], stranger: Callable[[], None]
    ) -> None:
        self._guard, self._complain, self._stranger = guard, complain, stranger
        self._noticed = Repeats()
        self.routes: Mapping[str, Route] = {}
        self.trees: Sequence[PathTree] = ()
        self.connections = Connections(self.answer)

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer any request."""
        tree = next((t for t in self.trees if request.raw_path.startswith(t.prefix)), None)
        try:
            return await self._answer(request, tree)
        except TurnedAwayError as error:
            return self._turned(error, tree)
        except ConnectionError:
            raise  # the client is gone
        except Exception:  # noqa: BLE001 - a fault of ours must not leave an agent waiting
            _LOG.exception("a request at the HTTP door was lost")
            fault = HTTPStatus.INTERNAL_SERVER_ERROR
            lost = TurnedAwayError(fault, "a fault of crabhook's own", ends=True)
            return self._turned(lost, tree)

    async def _answer(self, request: web.BaseRequest, tree: PathTree | None) -> web.StreamResponse:
        transport, headers = transport_of(request), request.headers
        tls = transport.get_extra_info("sslcontext") is not None
        self._guard.no_browser(headers)
        host, port, *_ = transport.get_extra_info("sockname")  # the address that was reached
        self._guard.our_name(headers, TcpAddress(host, port), tls=tls)
        route = Route("", tree.answer) if tree else route_of(self.routes, request)
        if route.token:
            MACHINE.set(self._guard.shows_token(headers))
            self.connections.known(transport)
        response = await route.answer(request)
        if not route.token:
            response.force_close()
        return response

    def _turned(self, error: TurnedAwayError, tree: PathTree | None) -> web.StreamResponse:
        if error.status is HTTPStatus.UNAUTHORIZED:
            self._stranger()
        if error.notice and self._noticed.is_news(error.notice):
            self._complain(error.notice)
        headers = SERVER | error.headers
        if tree is None:
            text = f"crabhook: {error}\n"
            response = web.Response(status=error.status, text=text, headers=headers)
        else:
            headers["Content-Type"] = "application/json"
            response = web.Response(status=error.status, body=tree.error(error), headers=headers)
        if error.ends:
            response.force_close()
        return response
