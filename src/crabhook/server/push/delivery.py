"""Sends sealed messages to push services, and says what each service answered."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import StrEnum
from http import HTTPStatus
from typing import NamedTuple

from aiohttp import ClientError, ClientSession, ClientTimeout, DummyCookieJar
from yarl import URL

from crabhook.proxies import proxy_for
from crabhook.server.push.endpoints import Endpoint
from crabhook.server.push.sealing import ENCODING, BrowserKeys, sealed

WITHIN = 10.0  # seconds for a service to answer
AT_ONCE = 8  # messages that are under way

LONGEST_REST = 3600.0  # seconds that a service's Retry-After is heeded
_SHORT = 120  # letters of a service's own words


class Fate(StrEnum):
    """What became of a message at the push service."""

    ACCEPTED = "accepted"  # the service will bring it, or has
    GONE = "gone"  # the browser takes no messages any more
    LATER = "later"  # the service is in trouble or wants fewer
    REFUSED = "refused"  # the service will never take it


class ServiceAnswer(NamedTuple):
    """What became of a message, and why in words.

    `again`: after how many seconds the service wants to be tried again; 0 where it names none.
    """

    fate: Fate
    why: str = ""
    again: float = 0.0


class Urgency(StrEnum):
    """How much of its battery a phone spends on a message."""

    NORMAL = "normal"
    HIGH = "high"  # also wakes a phone that sleeps


class PushMessage(NamedTuple):
    """What is sent: `ttl` is how many seconds the service keeps it for a phone that is off.

    Of messages with the same `topic` the service keeps only the last.
    """

    content: bytes
    ttl: int
    urgency: Urgency
    topic: str


class Carrier:
    """Brings messages to push services; `opened` makes it."""

    def __init__(self, session: ClientSession) -> None:
        self._session = session
        self._room = asyncio.Semaphore(AT_ONCE)

    @classmethod
    @asynccontextmanager
    async def opened(cls) -> AsyncIterator["Carrier"]:
        """Give a carrier while the context lasts."""
        patience = ClientTimeout(total=WITHIN)
        jar = DummyCookieJar()
        async with ClientSession(
            timeout=patience, cookie_jar=jar, auto_decompress=False
        ) as session:
            yield cls(session)

    async def bring(
        self, message: PushMessage, endpoint: Endpoint, browser: BrowserKeys, authorization: str
    ) -> ServiceAnswer:
        """Send a message; return what became of it. `authorization` shows who sends it."""
        headers = {
            "Authorization": authorization,
            "Content-Encoding": ENCODING,
            "Content-Type": "application/octet-stream",
            "TTL": str(message.ttl),
            "Urgency": message.urgency.value,
            "Topic": message.topic,
        }
        body = sealed(message.content, browser)
        # What was checked is what is asked: no reader after ours changes a letter of it.
        url = URL(endpoint.url, encoded=True)
        try:
            async with (
                self._room,
                self._session.post(
                    url,
                    data=body,
                    headers=headers,
                    allow_redirects=False,
                    proxy=proxy_for(endpoint.url),
                ) as reply,
            ):
                words = (await reply.content.read(_SHORT)).decode("utf-8", "replace")
                return answer_of(reply.status, reply.headers.get("Retry-After", ""), words)
        except TimeoutError:
            return ServiceAnswer(Fate.LATER, f"it did not answer in {WITHIN:g} s")
        except (ClientError, OSError, ValueError) as error:
            return ServiceAnswer(Fate.LATER, f"no way to it: {error}"[:_SHORT])


def answer_of(status: int, retry_after: str = "", words: str = "") -> ServiceAnswer:
    """Return what an answer of a push service means."""
    if HTTPStatus(200) <= status < HTTPStatus(300):
        return ServiceAnswer(Fate.ACCEPTED)
    why = f"it answered {status}" + (f": {' '.join(words.split())}" if words.strip() else "")
    if status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE):
        return ServiceAnswer(Fate.GONE, why)
    if status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.REQUEST_TIMEOUT) or status >= 500:
        return ServiceAnswer(Fate.LATER, why, _rest(retry_after))
    return ServiceAnswer(Fate.REFUSED, why)


def _rest(retry_after: str) -> float:
    """Return the seconds of a `Retry-After`; a date in it is rare, and not read."""
    if not (retry_after.isascii() and retry_after.isdigit()):
        return 0.0
    return min(max(float(retry_after), 1.0), LONGEST_REST)
