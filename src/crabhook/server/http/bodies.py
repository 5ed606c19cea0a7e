"""Reads the body of an HTTP request, bounded in size and time."""

import asyncio
from collections.abc import Collection
from http import HTTPStatus

from aiohttp import HttpVersion11, StreamReader, web

from crabhook.server.http.middleware import TurnedAwayError

READ_WITHIN = 30.0  # seconds for a body; an agent sends it at once


async def read(
    request: web.BaseRequest,
    most: int,
    notice: str = "",
    kinds: Collection[str] = ("application/json",),
) -> bytes:
    """Return a request's body; raises TurnedAwayError beyond `most` bytes or for another type.

    `kinds` are the types that are taken. `notice` begins the notice to the operator about a body
    that was not read; "" gives none.

    A web page's form cannot send the type of JSON without a preflight request. Another type gives
    the operator no notice, since the doctor checks the token with such a request.
    """
    types = request.headers.getall("Content-Type", [])
    if request.content_type not in kinds or len(types) != 1:
        wrong = HTTPStatus.UNSUPPORTED_MEDIA_TYPE
        raise TurnedAwayError(wrong, f"the body must be {' or '.join(kinds)}", ends=True)
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise _unread(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the body must not be compressed", notice)
    if (request.content_length or 0) > most:
        raise _too_long(most, notice)
    expects = request.headers.get("Expect", "").lower() == "100-continue"
    if expects and request.version >= HttpVersion11 and request.transport:  # HTTP/1.0 has no 100
        request.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    try:
        async with asyncio.timeout(READ_WITHIN):
            return await _all(request.content, most, notice)
    except TimeoutError:
        what = f"the body did not come within {READ_WITHIN:g} seconds"
        raise _unread(HTTPStatus.REQUEST_TIMEOUT, what, notice) from None
    except web.RequestPayloadError as error:
        raise _unread(
            HTTPStatus.BAD_REQUEST, "the body broke off, or is no HTTP", notice
        ) from error


async def _all(content: StreamReader, most: int, notice: str) -> bytes:
    parts, size = list[bytes](), 0
    while part := await content.readany():
        size += len(part)
        if size > most:
            raise _too_long(most, notice)
        parts.append(part)
    return b"".join(parts)


def _too_long(most: int, notice: str) -> TurnedAwayError:
    what = f"the body is longer than {most} bytes"
    return _unread(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, what, notice)


def _unread(status: HTTPStatus, what: str, notice: str) -> TurnedAwayError:
    words = f"{notice}: {what}" if notice else ""
    return TurnedAwayError(status, what, notice=words, ends=True)
