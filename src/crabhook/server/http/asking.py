"""The way of every HTTP request: who may ask is looked at first, what is asked for next."""

import asyncio
import logging
from collections.abc import Callable
from http import HTTPStatus

from aiohttp import web

from crabhook.server.address import TcpAddress
from crabhook.server.http.guard import Guard
from crabhook.server.http.lines import Lines, transport_of
from crabhook.server.http.routes import NAMED, Routes, route_of
from crabhook.server.http.turned import TurnedAwayError

_LOG = logging.getLogger(__name__)

TOLD_EVERY = 60.0  # seconds until the operator is told the same again: anybody can knock


class Asking:
    """Admits requests and leads them to their routes.

    `complain` tells the operator of those that were turned away, `stranger` is
    called where it was for want of the token.
    """

    def __init__(
        self, guard: Guard, complain: Callable[[str], None], stranger: Callable[[], None]
    ) -> None:
        self._guard, self._complain, self._stranger = guard, complain, stranger
        self._told: dict[str, float] = {}
        self.routes: Routes = {}
        self.lines = Lines(self.answer)

    def __repr__(self) -> str:
        return f"<Asking {', '.join(self.routes)} {self.lines!r}>"

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a request, whatever it is."""
        try:
            return await self._answer(request)
        except TurnedAwayError as error:
            return self._turned(error)
        except ConnectionError:
            raise  # nobody is there to be answered
        except Exception:  # noqa: BLE001 - a fault of ours must not leave an agent waiting
            _LOG.exception("a request at the HTTP door was lost")
            fault = HTTPStatus.INTERNAL_SERVER_ERROR
            return self._turned(TurnedAwayError(fault, "a fault of crabhook's own", ends=True))

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        transport, headers = transport_of(request), request.headers
        tls = transport.get_extra_info("sslcontext") is not None
        self._guard.no_browser(headers)
        self._guard.our_name(headers, local_end(transport), tls=tls)
        route = route_of(self.routes, request)
        if route.token:
            self._guard.shows_token(headers)
            self.lines.known(transport)
        response = await route.answer(request)
        if not route.token:
            response.force_close()
        return response

    def _turned(self, error: TurnedAwayError) -> web.StreamResponse:
        if error.status is HTTPStatus.UNAUTHORIZED:
            self._stranger()
        if error.told and self._is_news(error.told):
            self._complain(error.told)
        headers = NAMED | error.headers
        response = web.Response(status=error.status, text=f"crabhook: {error}\n", headers=headers)
        if error.ends:
            response.force_close()
        return response

    def _is_news(self, words: str) -> bool:
        """Whether the operator was not told this a moment ago; remembers that they are now."""
        now = asyncio.get_running_loop().time()
        self._told = {told: at for told, at in self._told.items() if now - at < TOLD_EVERY}
        return self._told.setdefault(words, now) == now


def local_end(transport: asyncio.Transport) -> TcpAddress:
    """Return the address at which a connection reached us."""
    host, port, *_ = transport.get_extra_info("sockname")
    return TcpAddress(host, port)
