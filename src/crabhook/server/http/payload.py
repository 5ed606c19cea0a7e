"""A request's body: read whole, within bounds of size and time."""

import asyncio
from http import HTTPStatus

from aiohttp import HttpVersion11, StreamReader, web

from crabhook.server.http.turned import TurnedAwayError
from crabhook.server.port import MAX_REQUEST

LONGEST = MAX_REQUEST  # bytes: what comes over gRPC may be as long
READ_WITHIN = 30.0  # seconds; an agent sends all at once


async def read(request: web.BaseRequest) -> bytes:
    """Return the body of a request for JSON; raises TurnedAwayError where it is none, or too long.

    Its type is looked at because a web page's form can send no other one
    without asking first; of another type the operator is not told, since the
    doctor asks that way whether the token fits.
    """
    if request.content_type != "application/json" or not _once(request, "Content-Type"):
        wrong = HTTPStatus.UNSUPPORTED_MEDIA_TYPE
        raise TurnedAwayError(wrong, "the body must be application/json", ends=True)
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise _unread(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the body must not be compressed")
    if (request.content_length or 0) > LONGEST:
        raise _too_long()
    if _waits_for_leave(request) and request.transport:
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


def _waits_for_leave(request: web.BaseRequest) -> bool:
    """Whether the body comes only when we ask for it; HTTP/1.0 knows no such answer."""
    expects = request.headers.get("Expect", "").lower() == "100-continue"
    return expects and request.version >= HttpVersion11


def _once(request: web.BaseRequest, header: str) -> bool:
    return len(request.headers.getall(header, [])) == 1


def _too_long() -> TurnedAwayError:
    return _unread(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body is longer than {LONGEST} bytes")


def _unread(status: HTTPStatus, what: str) -> TurnedAwayError:
    return TurnedAwayError(status, what, told=f"a hook's input was not taken: {what}", ends=True)
