"""Brings packed records to a receiver: syslog over TCP or TLS, or HTTP.

A receiver has taken them once it says so. HTTP has an answer for that, and syslog has none. So each
batch has a connection of its own: we end our side, and the receiver closes once it has read all.
Over TLS it has to close with `close_notify` (RFC 5425 §4.4), which nobody on the way can forge.
"""

import asyncio
import fcntl
import json
import re
import ssl
import termios
from collections.abc import Callable, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from functools import partial
from http import HTTPStatus
from pathlib import Path
from struct import Struct
from time import time
from typing import Protocol

from crabhook.datatypes import frozen
from crabhook.export.wish import ExportWish, ExportWishError
from crabhook.model.errors import CrabhookError
from crabhook.safe_open import read_own

WITHIN = 30.0  # seconds for a receiver to take a batch
LONGEST_REST = 600.0  # seconds that a receiver's Retry-After is heeded
_SHORT = 160  # letters of a receiver's own words
_PIECE = 1 << 16  # bytes read or written at a time
_NUMBER = Struct("i")
_TICK = 0.02  # seconds between two looks at what the receiver's kernel has
_NEVER = (
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
)
"""Answers that speak against the records, not against the sender or the moment."""


class NotTakenError(CrabhookError):
    """The receiver has not taken the records; `again` is when it wants them, 0 for unsaid."""

    def __init__(self, why: str, again: float = 0.0) -> None:
        super().__init__(why)
        self.again = again


class RecordsRefusedError(CrabhookError):
    """The receiver will never take these records."""


class Receiver(Protocol):
    """Takes packed records."""

    @property
    def where(self) -> str:
        """Its address, in words."""

    async def send(self, content: bytes) -> None:
        """Return once it has taken the content; raises NotTakenError or RecordsRefusedError."""


@frozen
class SyslogReceiver:
    """A receiver of RFC 5424 over TCP, or over TLS where there is a `context`."""

    host: str
    port: int
    context: ssl.SSLContext | None = None

    @property
    def where(self) -> str:
        """Its address, in words."""
        return f"{'syslogs' if self.context else 'syslog'}://{self.host}:{self.port}"

    async def send(self, content: bytes) -> None:
        """Return once it has read all and closed."""
        try:
            async with asyncio.timeout(WITHIN):
                reader, writer = await asyncio.open_connection(self.host, self.port)
                try:
                    if self.context is not None:
                        await _Tls(reader, writer, self.context, self.host).give(content)
                    else:
                        await _written(writer, content)
                    await _taken(reader, writer)
                finally:
                    writer.transport.abort()
        except TimeoutError:
            raise NotTakenError(f"it did not take the records and close in {WITHIN:g} s") from None
        except (OSError, EOFError) as error:
            raise NotTakenError(_words(error)) from error


async def _written(writer: asyncio.StreamWriter, content: bytes) -> None:
    for start in range(0, len(content), _PIECE):
        writer.write(content[start : start + _PIECE])
        await writer.drain()


async def _taken(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Wait until the receiver has read all and closed; raises OSError where it has not.

    A receiver that closed before it had read all resets the connection. That may come later than
    its close, and until then bytes of ours are unacknowledged.
    """
    writer.write_eof()
    while await reader.read(_PIECE):
        pass
    handle = writer.get_extra_info("socket").fileno()
    while _unacknowledged(handle):
        await asyncio.sleep(_TICK)
        if writer.transport.is_closing():
            raise ConnectionResetError("it closed the connection before it had read all")
    if error := reader.exception():
        raise error


def _unacknowledged(handle: int) -> int:
    """Return how many of our bytes the receiver's kernel has not acknowledged."""
    if handle < 0:
        raise ConnectionResetError("it closed the connection before it had read all")
    with suppress(OSError):  # a system that does not tell
        (count,) = _NUMBER.unpack(fcntl.ioctl(handle, termios.TIOCOUTQ, bytes(_NUMBER.size)))
        return int(count)
    return 0


class _Tls:
    """TLS over a connection, whose end we see for ourselves: asyncio takes a bare end for one."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        context: ssl.SSLContext,
        host: str,
    ) -> None:
        self._reader, self._writer = reader, writer
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._in, self._out, server_hostname=host)

    async def give(self, content: bytes) -> None:
        """Send the content, and wait for the receiver's close_notify. Raises OSError, EOFError."""
        await self._carry(self._tls.do_handshake)
        for start in range(0, len(content), _PIECE):
            self._tls.write(content[start : start + _PIECE])
            await self._flush()
        await self._carry(self._tls.unwrap)

    async def _carry(self, step: Callable[[], object]) -> None:
        while True:
            try:
                step()
            except ssl.SSLWantReadError:
                await self._flush()
                if not (data := await self._reader.read(_PIECE)):
                    raise EOFError("it ended the connection without close_notify") from None
                self._in.write(data)
            else:
                await self._flush()
                return

    async def _flush(self) -> None:
        if data := self._out.read():
            self._writer.write(data)
            await self._writer.drain()


class HttpReceiver:
    """A receiver of HTTP POST at `url`.

    `headers` returns the owner's own headers, such as a token, and reads their file: a token may
    change. It raises NotTakenError.
    """

    def __init__(
        self,
        url: str,
        content_type: str,
        context: ssl.SSLContext | None,
        headers: Callable[[], Mapping[str, str]],
    ) -> None:
        self.where = url
        self._content_type, self._context, self._headers = content_type, context, headers

    def __repr__(self) -> str:
        return f"<HttpReceiver {self.where}>"

    async def send(self, content: bytes) -> None:
        """Return once it has answered that it took the content."""
        from aiohttp import ClientError, ClientSession, ClientTimeout, DummyCookieJar
        from yarl import URL

        headers = {
            **await asyncio.to_thread(self._headers),
            "Content-Type": self._content_type,
            "User-Agent": "crabhook",
        }
        session = ClientSession(timeout=ClientTimeout(total=WITHIN), cookie_jar=DummyCookieJar())
        try:
            async with (
                session,
                session.post(
                    URL(self.where, encoded=True),
                    data=content,
                    headers=headers,
                    ssl=self._context or True,
                    allow_redirects=False,
                ) as reply,
            ):
                words = await reply.content.read(_PIECE)
                _judge(reply.status, words, reply.headers.get("Retry-After", ""))
        except TimeoutError:
            raise NotTakenError(f"it did not answer in {WITHIN:g} s") from None
        except (ClientError, OSError, ValueError) as error:
            raise NotTakenError(_words(error)) from error


def _judge(status: int, words: bytes, retry_after: str) -> None:
    """Raise what an answer of HTTP means, unless it means that all was taken.

    OTLP also answers 200 where it took a part: then `partialSuccess` counts what it refused.
    """
    text = " ".join(words.decode("utf-8", "replace").split())[:_SHORT]
    why = f"it answered {status}" + (f": {text}" if text else "")
    if status in _NEVER or (status == HTTPStatus.OK and _rejected(words)):
        raise RecordsRefusedError(why)
    if not HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        raise NotTakenError(why, min(_seconds(retry_after), LONGEST_REST))


def _seconds(retry_after: str) -> float:
    """Return in how many seconds a Retry-After asks to come again; 0 for no sensible answer.

    It has seconds, or a time (RFC 9110 §10.2.3).
    """
    if retry_after.isascii() and retry_after.isdigit():
        return float(retry_after)
    with suppress(ValueError, OverflowError):
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time())
    return 0.0


def _rejected(words: bytes) -> int:
    """Return how many spans an answer of OTLP says were rejected."""
    with suppress(LookupError, ValueError, TypeError, AttributeError, RecursionError):
        return int(json.loads(words)["partialSuccess"].get("rejectedSpans", 0))
    return 0


def _words(error: Exception) -> str:
    """Return what went wrong with a connection, in a few words."""
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__)[:_SHORT]


_HEADERS = 1 << 16  # bytes of a file of headers
_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x20-\x7e]*)")


def receiver_of(wish: ExportWish) -> Receiver:
    """Return the receiver that the owner wants. Raises ExportWishError."""
    packing, context = wish.packing, None
    if wish.scheme in ("syslogs", "https"):
        try:
            context = ssl.create_default_context(cafile=wish.ca)
            if wish.cert:
                context.load_cert_chain(wish.cert, wish.key)
        except OSError as error:  # as ssl.SSLError is
            why = f"[export] ca, cert or key cannot be used: {_words(error)}"
            raise ExportWishError(why) from error
    if packing.content_type:
        headers = partial(_headers, wish.headers)
        return HttpReceiver(wish.to, packing.content_type, context, headers)
    return SyslogReceiver(*wish.place, context)


def _headers(path: Path | None) -> Mapping[str, str]:
    """Return the headers in a file, NAME: VALUE a line. Raises NotTakenError."""
    if path is None:
        return {}
    try:
        lines = read_own(path, _HEADERS).decode("ascii").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not ASCII"
        raise NotTakenError(f"the headers in {path} cannot be read: {why}") from None
    headers = [_HEADER.fullmatch(line) for line in lines if line.strip()]
    if not all(headers):
        raise NotTakenError(f"{path} has a line that is no header, NAME: VALUE")
    return {header[1]: header[2] for header in headers if header}
