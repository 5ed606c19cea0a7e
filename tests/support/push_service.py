"""A push service on loopback, and browsers that subscribe to it and open what they are sent."""

import asyncio
import base64
import json
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from secrets import token_bytes, token_urlsafe
from time import time
from typing import Any, TypeAlias

import http_ece
from aiohttp import web
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

Take: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@dataclass
class Sent:
    """A message as it came: opened by its browser."""

    headers: dict[str, str]
    content: dict[str, Any]

    @property
    def notification(self) -> dict[str, Any]:
        notification: dict[str, Any] = self.content["notification"]
        return notification


@dataclass
class Browser:
    """A browser with a subscription: `subscription` is what its page posts."""

    endpoint: str
    key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )
    secret: bytes = field(default_factory=lambda: token_bytes(16))
    messages: list[Sent] = field(default_factory=list)

    @property
    def point(self) -> bytes:
        return self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    @property
    def subscription(self) -> dict[str, Any]:
        keys = {"p256dh": b64(self.point), "auth": b64(self.secret)}
        return {"endpoint": self.endpoint, "expirationTime": None, "keys": keys}

    def opened(self, body: bytes) -> bytes:
        content: bytes = http_ece.decrypt(
            body, private_key=self.key, auth_secret=self.secret, version="aes128gcm"
        )
        return content


class PushService:
    """Takes messages as RFC 8030 has them. `answers` are given first, one a message."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.browsers: dict[str, Browser] = {}
        self.answers: deque[tuple[int, dict[str, str]]] = deque()
        self.refused: list[str] = []
        self.came = asyncio.Event()

    @property
    def address(self) -> str:
        """What the settings have to name."""
        return self.origin.removeprefix("http://")

    def browser(self) -> Browser:
        browser = Browser(f"{self.origin}/wpush/v2/{token_urlsafe(24)}")
        self.browsers[browser.endpoint] = browser
        return browser

    async def take(self, request: web.Request) -> web.Response:
        browser = self.browsers.get(f"{self.origin}{request.path}")
        if browser is None:
            return web.Response(status=410, text="no such subscription")
        why = fault_of(request.headers["Authorization"], self.origin)
        if why:
            self.refused.append(why)
            return web.Response(status=403, text=why)
        if self.answers:
            status, headers = self.answers.popleft()
            return web.Response(status=status, headers=headers, text="not now")
        content = json.loads(browser.opened(await request.read()))
        browser.messages.append(Sent(dict(request.headers), content))
        self.came.set()
        self.came = asyncio.Event()
        return web.Response(status=201, headers={"Location": f"{self.origin}/m/1"})


def fault_of(authorization: str, origin: str) -> str:
    """Say what is wrong with a token of RFC 8292; empty for a good one."""
    scheme, _, rest = authorization.partition(" ")
    values = dict(part.strip().split("=", 1) for part in rest.split(","))
    signed, _, signature = values["t"].rpartition(".")
    head, claims = (json.loads(unb64(part)) for part in signed.split("."))
    raw = unb64(signature)
    numbers = [int.from_bytes(half, "big") for half in (raw[:32], raw[32:])]
    key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), unb64(values["k"]))
    try:
        key.verify(encode_dss_signature(*numbers), signed.encode(), ec.ECDSA(SHA256()))
    except InvalidSignature:
        return "the signature"
    wrong = {
        "the scheme": scheme != "vapid",
        "the algorithm": head != {"typ": "JWT", "alg": "ES256"},
        "the audience": claims["aud"] != origin,
        "the time": not time() < claims["exp"] <= time() + 24 * 3600,
        "the contact": not claims["sub"].startswith(("https:", "mailto:")),
    }
    return ", ".join(what for what, is_so in wrong.items() if is_so)


@asynccontextmanager
async def on_loopback(app: web.Application) -> AsyncIterator[str]:
    """Run an application on a free port of this machine; its origin."""
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    try:
        yield f"http://{host}:{port}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def push_service(take: Take | None = None) -> AsyncIterator[PushService]:
    """Run a push service on a free port of this machine; `take` answers in its place."""
    app, service = web.Application(), PushService("")
    app.router.add_post("/{path:.*}", take or service.take)
    async with on_loopback(app) as service.origin:
        yield service
