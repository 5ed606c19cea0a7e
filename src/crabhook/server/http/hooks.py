"""`POST /hooks/claude`: a hook's input in, what its agent is to read out."""

import asyncio
import os
from http import HTTPStatus
from ipaddress import ip_address

from aiohttp import web

from crabhook.model.errors import PayloadError
from crabhook.model.request import Origin
from crabhook.platforms.claude.write import body
from crabhook.server.http import payload
from crabhook.server.http.lines import Lines, transport_of
from crabhook.server.http.routes import NAMED
from crabhook.server.http.terms import terms
from crabhook.server.http.turned import TurnedAwayError, turned_away
from crabhook.server.place import Place, RefusedError
from crabhook.server.unticketed import TAKEN_WITHIN, Unticketed


class Hooks:
    """Answers hooks; `lines` are the connections they come on."""

    def __init__(self, way: Unticketed, lines: Lines) -> None:
        self._way, self._lines = way, lines

    def __repr__(self) -> str:
        return f"<Hooks {self._way!r}>"

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Take an input to the operator; answer with the reply.  Raises TurnedAwayError.

        An input that cannot be read is refused, where gRPC's clients are told
        "no opinion": no agent sends one, and a hook that was to fail closed
        would otherwise let the call through.
        """
        agreed = terms(request.headers)
        text = await payload.read(request)
        try:
            event = self._way.read(text)
        except PayloadError as error:
            what = f"unreadable input of {len(text)} bytes: {error}"
            self._way.complain(what)
            raise TurnedAwayError(HTTPStatus.BAD_REQUEST, what) from error
        line = transport_of(request)  # before a place is taken, which nobody would leave
        try:
            place = await self._way.enter(
                event, origin(request), len(text), stance=agreed.stance, theirs=agreed.wait
            )
            with self._lines.waiting(line):
                reply = await place.wait()
        except RefusedError as error:
            raise turned_away(error.refusal) from error
        return await self._give(request, place, body(reply))

    async def _give(
        self, request: web.BaseRequest, place: Place, answer: bytes
    ) -> web.StreamResponse:
        """Send the answer; it counts as delivered when the kernel has taken all of it."""
        response = web.Response(body=answer, headers=NAMED)
        if answer:
            response.content_type = "application/json"
        transport = transport_of(request)
        try:
            async with asyncio.timeout(TAKEN_WITHIN):
                await response.prepare(request)
                await response.write_eof()
        except TimeoutError:
            transport.abort()
            self._way.complain("an answer was not read in time; the connection is closed")
            raise ConnectionAbortedError from None
        if not transport.is_closing():
            self._way.taken(place)
        return response


def origin(request: web.BaseRequest) -> Origin:
    """Return who asks, as far as a connection tells: the machine."""
    host = request.remote or ""
    try:
        here = ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        here = False
    return Origin(os.uname().nodename if here else host)
