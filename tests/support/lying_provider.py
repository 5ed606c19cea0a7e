"""An identity provider of the tests' own that says what a test wants, lies too."""

from __future__ import annotations

import base64
import hmac
import json
import ssl
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import ec

from crabhook.team.provider import Provider
from tests.support.identity_provider import policy_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

OURS, THEIRS = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
Claims = dict[str, Any]


def jwk(key: Any, kid: str, algorithm: str, **more: Any) -> Mapping[str, Any]:
    """A public key as a provider publishes it."""
    made = {"E": jwt.algorithms.ECAlgorithm, "R": jwt.algorithms.RSAAlgorithm}[algorithm[0]]
    return {**made.to_jwk(key.public_key(), as_dict=True), "kid": kid, "use": "sig", **more}


def part(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def signed(claims: Claims, key: Any = OURS, alg: str = "ES256", **header: Any) -> str:
    return jwt.encode(claims, key, algorithm=alg, headers={"kid": "k1", **header})


def unsigned(claims: Claims) -> str:
    return f"{part({'alg': 'none', 'kid': 'k1'})}.{part(claims)}."


def by_secret(claims: Claims, secret: bytes) -> str:
    """Sign as HS256 does, by whatever is no secret."""
    text = f"{part({'alg': 'HS256', 'kid': 'k1'})}.{part(claims)}"
    mac = hmac.digest(secret, text.encode(), "sha256")
    return f"{text}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"


@dataclass
class Double:
    """A provider that says what a test wants: `answers` are those of the token endpoint, in turn."""

    issuer: str = ""
    keys: list[Any] = field(default_factory=lambda: [jwk(OURS, "k1", "ES256")])
    published: Claims = field(default_factory=dict)
    answers: list[Any] = field(default_factory=list)
    device: Claims = field(default_factory=dict)
    about: Claims = field(default_factory=dict)
    sign: Callable[[Claims], str] = signed
    changes: Claims = field(default_factory=dict)
    asked: list[tuple[str, Claims]] = field(default_factory=list)
    nonce: str = ""

    def claims(self) -> Claims:
        now = int(time.time())
        made: Claims = {"iss": self.issuer, "sub": "s1", "aud": "crabhook", "iat": now}
        made |= {"exp": now + 600, "groups": ["eng"], "preferred_username": "ann"}
        made |= {"nonce": self.nonce} if self.nonce else {}
        made |= self.changes
        return {name: value for name, value in made.items() if value is not None}

    def tokens(self) -> Claims:
        return {"id_token": self.sign(self.claims()), "access_token": "a", "refresh_token": "r2"}

    async def configuration(self, _: web.Request) -> web.StreamResponse:
        where = self.issuer
        published = {
            "issuer": where,
            "token_endpoint": f"{where}/token",
            "device_authorization_endpoint": f"{where}/device",
            "jwks_uri": f"{where}/keys",
            "userinfo_endpoint": f"{where}/about",
        }
        return web.json_response(published | self.published)

    async def jwks(self, _: web.Request) -> web.StreamResponse:
        self.asked.append(("keys", {}))
        return web.json_response({"keys": self.keys})

    async def begin(self, request: web.Request) -> web.StreamResponse:
        form = dict(await request.post())
        self.asked.append(("device", form))
        self.nonce = str(form["nonce"])
        made = {"device_code": "d", "user_code": "AB-CD", "verification_uri": f"{self.issuer}/p"}
        return web.json_response(made | {"interval": 0, "expires_in": 60} | self.device)

    async def token(self, request: web.Request) -> web.StreamResponse:
        form = dict(await request.post())
        self.asked.append(("token", {**form, **dict(request.headers)}))
        answer = self.answers.pop(0) if self.answers else self.tokens()
        if isinstance(answer, web.StreamResponse):
            return answer
        return web.json_response(answer, status=400 if "error" in answer else 200)

    async def userinfo(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(("about", dict(request.headers)))
        return web.json_response(self.about)


@asynccontextmanager
async def provider(
    tls: ssl.SSLContext | None = None, **told: Any
) -> AsyncIterator[tuple[Double, Provider]]:
    double = Double(**told)
    app = web.Application()
    app.router.add_get("/.well-known/openid-configuration", double.configuration)
    app.router.add_get("/keys", double.jwks)
    app.router.add_get("/about", double.userinfo)
    app.router.add_post("/device", double.begin)
    app.router.add_post("/token", double.token)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
    await site.start()
    try:
        scheme = "https" if tls else "http"
        double.issuer = f"{scheme}://127.0.0.1:{runner.addresses[0][1]}"
        yield double, Provider(policy_of(double.issuer), time.time)
    finally:
        await runner.cleanup()
