"""A page of the web desk without a browser: it signs in, reads its stream, and gives calls."""

from __future__ import annotations

import asyncio
import json
import secrets
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import aiohttp

from crabhook.team.call_signature import SignedCall
from crabhook.team.passkeys import challenge_of, from_text
from tests.support.authenticator import Authenticator

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

SOON = 60.0  # seconds after which a test gives up on what happens at once


@dataclass
class Told:
    """An event of the page's stream."""

    name: str
    value: Any
    id: str = ""


@dataclass
class Answered:
    """An answer to the page: its status, and its JSON or its text."""

    status: int
    value: Any
    headers: Mapping[str, str]

    @property
    def why(self) -> str:
        return str(self.value["why"])


@dataclass
class WebPage:
    """A browser's page at `origin`, whose person has `key`."""

    http: aiohttp.ClientSession
    origin: str
    key: Authenticator
    name: str = field(default_factory=lambda: secrets.token_hex(8))
    hello: Mapping[str, Any] = field(default_factory=dict)
    last: str = ""
    cookie: str = ""

    async def ask(self, method: str, path: str, value: Any = None, **headers: str) -> Answered:
        """Send a request as the page's script does."""
        own = {"Origin": self.origin, "Sec-Fetch-Site": "same-origin"} | headers
        if self.cookie:
            own["Cookie"] = self.cookie
        data = None if value is None else json.dumps(value).encode()
        if data is not None:
            own["Content-Type"] = "application/json"
        async with self.http.request(method, self.origin + path, data=data, headers=own) as answer:
            if cookie := answer.headers.get("Set-Cookie"):
                self.cookie = cookie.partition(";")[0]
            text = await answer.text()
            is_json = answer.content_type == "application/json"
            return Answered(answer.status, json.loads(text) if is_json else text, answer.headers)

    async def sign_in(self) -> Answered:
        challenge = (await self.ask("POST", "/challenge", {})).value["challenge"]
        assertion = self.key.sign(from_text(challenge)).json
        return await self.ask("POST", "/session", {"challenge": challenge, "assertion": assertion})

    @asynccontextmanager
    async def stream(self) -> AsyncIterator[AsyncIterator[Told]]:
        """Open the page's stream, from the last event that the page got."""
        headers = {"Cookie": self.cookie, "Sec-Fetch-Site": "same-origin"}
        if self.last:
            headers["Last-Event-ID"] = self.last
        url = f"{self.origin}/news?page={self.name}"
        async with self.http.get(url, headers=headers) as answer:
            assert answer.status == 200, await answer.text()
            yield self._events(answer)

    async def _events(self, answer: aiohttp.ClientResponse) -> AsyncIterator[Told]:
        fields: dict[str, str] = {}
        async for line in answer.content:
            text = line.decode().rstrip("\n")
            if text:
                name, _, value = text.partition(": ")
                fields[name] = value
                continue
            told = Told(fields["event"], json.loads(fields["data"]), fields.get("id", ""))
            fields = {}
            if told.name == "hello":
                self.hello = told.value
            self.last = told.id or self.last
            yield told

    async def call(self, told: Mapping[str, Any], *, sign: bool = False, **other: Any) -> Answered:
        """Give a call, signed by the page's key if asked; `other` is what a forger would change."""
        at = other.pop("at", self.hello["now"])
        text = json.dumps({"id": secrets.token_hex(8), "at": at, **told})
        posted: dict[str, Any] = {"page": self.name, "call": text}
        if sign:
            posted["assertion"] = self.signed(text, at).json
        answer = await self.ask("POST", "/do", posted | other)
        return await self.outcome(json.loads(text)["id"]) if answer.status == 202 else answer

    async def statements(self, told: Mapping[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
        """Ask what the key has to sign for a call of a strict card; return the post and that."""
        text = json.dumps({"id": secrets.token_hex(8), "at": self.hello["now"], **told})
        posted: dict[str, Any] = {"page": self.name, "call": text}
        answer = await self.ask("POST", "/statements", posted)
        assert answer.status == 200, answer.value
        posted["signed_at"] = answer.value["signed_at"]
        return posted, list(map(from_text, answer.value["statements"]))

    async def outcome(self, id_: str) -> Answered:
        """Wait for what became of a call that is held."""
        return await self.ask("POST", "/outcome", {"page": self.name, "id": id_})

    def signed(self, text: str, at: float) -> Any:
        """Have the key sign a call's text."""
        hello = self.hello
        call = SignedCall(
            hello["team"],
            hello["operator"],
            bytes.fromhex(hello["challenge"]),
            hello["rpc"],
            text.encode(),
            at,
        )
        return self.key.sign(challenge_of(call))


async def until(events: AsyncIterator[Told], name: str) -> Told:
    """Return the next event of a name."""
    async with asyncio.timeout(SOON):
        async for told in events:
            if told.name == name:
                return told
    raise AssertionError(f"the stream ended without {name}")


def client() -> aiohttp.ClientSession:
    """A client that finds names below localhost on this machine, as browsers do, and keeps no cookie."""
    connector = aiohttp.TCPConnector(resolver=_Loopback())
    return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())


class _Loopback(aiohttp.abc.AbstractResolver):
    async def resolve(self, host: str, port: int = 0, family: Any = 0) -> list[Any]:
        return [
            {
                "hostname": host,
                "host": "127.0.0.1",
                "port": port,
                "family": family or 2,
                "proto": 0,
                "flags": 0,
            }
        ]

    async def close(self) -> None:
        pass
