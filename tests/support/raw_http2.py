"""A client of HTTP/2 that sends any bytes as a request's headers, which no gRPC library would."""

import asyncio
import ssl
from collections.abc import Sequence
from contextlib import suppress

from hpack import Encoder

from crabhook.hook.call import HookCall
from crabhook.hook.wire import MalformedBytes
from crabhook.server.address import Address, UnixAddress

Header = tuple[bytes, bytes]
WITHIN = 60.0
"""Seconds for an answer: some requests that are no gRPC get none, and their stream stays open."""


def headers(path: bytes, *more: Header, authority: bytes = b"localhost") -> list[Header]:
    """The headers of a gRPC call of this path."""
    usual = [(b":method", b"POST"), (b":scheme", b"http"), (b":path", path)]
    usual += [(b":authority", authority), (b"te", b"trailers")]
    return [*usual, (b"content-type", b"application/grpc"), *more]


async def send(
    address: Address,
    sent: Sequence[Header],
    body: bytes = b"",
    context: ssl.SSLContext | None = None,
) -> int | None:
    """Send one request on a connection of its own; return the gRPC status of the answer, if any."""
    reader, writer = await connection(address, context)
    call = HookCall(Encoder().encode(sent), body)
    try:
        async with asyncio.timeout(WITHIN):
            writer.write(call.take())
            while call.status is None and (data := await reader.read(1 << 16)):
                call.feed(data)
                writer.write(call.take())
    except (MalformedBytes, ConnectionError, TimeoutError):
        return None
    finally:
        writer.transport.abort()
        with suppress(OSError):
            await writer.wait_closed()
    return call.status


async def connection(
    address: Address, context: ssl.SSLContext | None = None
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to an address, with TLS where a context is given."""
    if isinstance(address, UnixAddress):
        return await asyncio.open_unix_connection(str(address.path))
    named = "localhost" if context else None
    return await asyncio.open_connection(
        address.host, address.port, ssl=context, server_hostname=named
    )


def unverified() -> ssl.SSLContext:
    """TLS for HTTP/2 that believes any server."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    return context
