"""`POST /hooks/claude`: a hook's input comes in, and what its agent is to read goes out.

A mistake in the headers of our installer is refused and not passed over: a hook that was
meant to leave the agent's dialog alone must not hold its calls.
"""

import asyncio
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from aiohttp import HttpVersion11, StreamReader, web

from crabhook.model.errors import PayloadError
from crabhook.model.request import Origin, Stance, number_of
from crabhook.platforms.claude.write import STANCE, WAIT, body
from crabhook.server.address import MAX_REQUEST
from crabhook.server.core.intake import TAKEN_WITHIN, AnonymousIntake
from crabhook.server.core.pending_call import PendingCall, RefusedError
from crabhook.server.http.connections import SERVER, Connections, transport_of
from crabhook.server.http.middleware import TurnedAwayError, turned_away

LONGEST = MAX_REQUEST  # bytes: what comes over gRPC may be as long
READ_WITHIN = 30.0  # seconds; an agent sends all at once


async def read(request: web.BaseRequest) -> bytes:
    """Return the body of a request for JSON; raises TurnedAwayError where it is none, or too long.

    A web page's form can send no JSON without asking first.  Of another type the operator is not
    told, since the doctor asks that way whether the token fits.
    """
    types = request.headers.getall("Content-Type", [])
    if request.content_type != "application/json" or len(types) != 1:
        wrong = HTTPStatus.UNSUPPORTED_MEDIA_TYPE
        raise TurnedAwayError(wrong, "the body must be application/json", ends=True)
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise _unread(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the body must not be compressed")
    if (request.content_length or 0) > LONGEST:
        raise _too_long()
    expects = request.headers.get("Expect", "").lower() == "100-continue"
    if expects and request.version >= HttpVersion11 and request.transport:  # 1.0 has no such answer
        request.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    try:
        async with asyncio.timeout(READ_WITHIN):
            return await _all(request.content)
    except TimeoutError:
        what = f"the body did not come within {READ_WITHIN:g} seconds"
        raise _unread(HTTPStatus.REQUEST_TIMEOUT, what) from None
    except web.RequestPayloadError as error:
        raise _unread(HTTPStatus.BAD_REQUEST, "the body broke off, or is no HTTP") from error


async def _all(content: StreamReader) -> bytes:
    parts, size = list[bytes](), 0
    while part := await content.readany():
        size += len(part)
        if size > LONGEST:
            raise _too_long()
        parts.append(part)
    return b"".join(parts)


def _too_long() -> TurnedAwayError:
    return _unread(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body is longer than {LONGEST} bytes")


def _unread(status: HTTPStatus, what: str) -> TurnedAwayError:
    return TurnedAwayError(status, what, told=f"a hook's input was not taken: {what}", ends=True)


_OURS = "x-crabhook-"
_STANCES: Mapping[str, Stance] = {stance.value: stance for stance in Stance}


@dataclass(frozen=True, slots=True)
class HookHeaders:
    """How the hook was installed, and how many seconds it waits, 0 where it does not say."""

    stance: Stance = Stance.GATE
    wait: float = 0.0


def hook_headers(headers: Mapping[str, str]) -> HookHeaders:
    """Return what a hook says in a request's headers; raises TurnedAwayError for what is none."""
    said: dict[str, Any] = {}
    for name, value in headers.items():  # one that is there twice comes twice
        if not name.lower().startswith(_OURS):
            continue
        if name.lower() not in _READ:
            raise _wrong(f"of the headers X-Crabhook-… there are {STANCE} and {WAIT}")
        field, read = _READ[name.lower()]
        if field in said:
            raise _wrong(f"{name} is there twice")
        said[field] = read(value)
    return HookHeaders(**said)


def _stance(value: str) -> Stance:
    if value not in _STANCES:
        raise _wrong(f"{STANCE} is one of: {', '.join(_STANCES)}")
    return _STANCES[value]


def _seconds(value: str) -> float:
    if not re.fullmatch("[1-9][0-9]{0,7}", value):
        raise _wrong(f"{WAIT} is a whole number of seconds")
    return float(value)


_READ: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    STANCE.lower(): ("stance", _stance),
    WAIT.lower(): ("wait", _seconds),
}


def _wrong(what: str) -> TurnedAwayError:
    return TurnedAwayError(
        HTTPStatus.BAD_REQUEST, what, told="a request with terms that do not exist was turned away"
    )


class HookRoute:
    """Answers hooks; `connections` holds those that they come on."""

    def __init__(self, way: AnonymousIntake, connections: Connections) -> None:
        self._way, self._connections = way, connections

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Take an input to the operator; answer with the reply.  Raises TurnedAwayError.

        An input that cannot be read is refused: "no opinion" would let a call through that was to
        fail closed, and no agent sends one.
        """
        agreed = hook_headers(request.headers)
        text = await read(request)
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
            with self._connections.waiting(line):
                reply = await place.wait()
        except RefusedError as error:
            raise turned_away(error.refusal) from error
        return await self._give(request, place, body(reply))

    async def _give(
        self, request: web.BaseRequest, place: PendingCall, answer: bytes
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
            self._way.complain("an answer was not read in time; the connection is closed")
            raise ConnectionAbortedError from None
        if not transport.is_closing():
            self._way.taken(place)
        return response


def origin(request: web.BaseRequest) -> Origin:
    """Return who asks, as far as a connection tells: the machine."""
    host = request.remote or ""
    number = number_of(host.partition("%")[0])
    return Origin(os.uname().nodename if number and number.is_loopback else host)
