"""The team's identity provider: what is asked of it, and what of its answers counts.

A person signs in by the device flow (RFC 8628): the provider's own page asks them, in any browser.
We fetch the ID token (OpenID Connect) ourselves, by TLS, so nobody else can bring one. What a
provider sends is bounded, and read strictly: nothing in it is taken for what the settings name.
"""

import asyncio
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from secrets import token_urlsafe
from typing import Any
from urllib.parse import quote_plus, urlencode, urlsplit

from aiohttp import ClientError, ClientSession, ClientTimeout, DummyCookieJar
from yarl import URL

from crabhook.datatypes import frozen
from crabhook.model.errors import CrabhookError, PayloadError
from crabhook.model.jsontext import Value, parse_object, text_at
from crabhook.present.safe import safe
from crabhook.proxies import proxy_for
from crabhook.team.folder import Folder, private
from crabhook.team.identity import (
    LONGEST,
    Entitled,
    Identity,
    OidcPolicy,
    fault_of_address,
    fault_of_issuer,
)
from crabhook.team.invitation import VALID
from crabhook.team.looks import SKEW

WITHIN = 10.0  # seconds for an answer
LARGEST = 256 << 10  # bytes of an answer
SCOPE = "openid offline_access profile"
ALGORITHMS = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)
"""How a token may be signed: with a key pair. A shared secret or no signature proves nothing."""

_DEEPEST, _MOST_KEYS, _MOST_VALUES = 8, 64, 4096
_SLOWEST = 60.0  # seconds between two questions
_GRANT = "urn:ietf:params:oauth:grant-type:device_code"


class ProviderError(CrabhookError):
    """A provider that cannot be asked, or an answer that does not count: nobody is out by it."""


class NotSignedInError(CrabhookError):
    """Nobody signed in, or somebody who may not come in; says why."""


class EndedError(CrabhookError):
    """The provider says that a person is out; says how."""


@frozen
class DeviceCode:
    """A sign-in that has begun: the person opens `page` and enters `user_code`.

    `interval` and `lasts` are in seconds.
    """

    page: str
    user_code: str
    device_code: str
    nonce: str
    interval: float
    lasts: float


@frozen
class Confirmed:
    """Who signed in, what they may be in the team, and the token by which to look again."""

    identity: Identity
    entitled: Entitled
    token: str
    nonce: str


def client_secret_in(folder: Folder) -> str:
    """Return the secret of our client, "" for a public client; raises TeamError."""
    if not folder.client_secret.exists():
        return ""
    return private(folder.client_secret).decode("utf-8", "replace").strip()


def need_reader() -> None:
    """Raise ModuleNotFoundError where the package is missing that reads tokens."""
    import jwt  # noqa: F401 - the extra `oidc` brings it


class Provider:
    """The provider that a policy names; what it publishes is read once."""

    def __init__(
        self, policy: OidcPolicy, clock: Callable[[], float], client_secret: str = ""
    ) -> None:
        """`clock` returns the seconds since 1970; a public client has no secret."""
        self._policy, self._clock, self._client_secret = policy, clock, client_secret
        self._plain = policy.issuer.startswith("http:")
        self._published: Mapping[str, Value] | None = None
        self._keys: Sequence[Mapping[str, Any]] = ()

    def __repr__(self) -> str:
        return f"<Provider {self._policy.issuer}>"

    async def reach(self) -> None:
        """Read what the provider publishes of itself; raises ProviderError."""
        for name in ("device_authorization_endpoint", "token_endpoint", "jwks_uri"):
            await self._endpoint(name)

    async def begin(self) -> DeviceCode:
        """Begin a sign-in; raises ProviderError."""
        nonce = token_urlsafe(16)
        form = {"client_id": self._policy.client, "scope": SCOPE, "nonce": nonce}
        status, answer = await self._post("device_authorization_endpoint", form)
        if status != HTTPStatus.OK:
            raise ProviderError(self._refused("no sign-in was begun", status, answer))
        texts = [text_at(answer, key) for key in ("user_code", "device_code", "verification_uri")]
        user_code, device_code, page = texts
        if not all(0 < len(text) <= LONGEST and text.isprintable() for text in texts) or (
            len(user_code) > 64 or fault_of_address(page, plain=self._plain)
        ):
            raise ProviderError(f"{self._policy.issuer} began a sign-in without a page or a code")
        times = (
            _number(answer, "interval", 5.0, _SLOWEST),
            _number(answer, "expires_in", 0.0, VALID),
        )
        return DeviceCode(page, user_code, device_code, nonce, *times)

    async def signed_in(self, code: DeviceCode) -> Confirmed:
        """Wait until the person has signed in; raises NotSignedInError, ProviderError."""
        begun, wait = self._clock(), code.interval
        form = {"grant_type": _GRANT, "device_code": code.device_code}
        form["client_id"] = self._policy.client
        until = asyncio.get_running_loop().time() + code.lasts
        while True:
            await asyncio.sleep(max(wait, 0.05))
            if asyncio.get_running_loop().time() > until:
                raise NotSignedInError("nobody signed in before the provider's code ran out")
            try:
                status, answer = await self._post("token_endpoint", form)
            except ProviderError:
                wait = min(wait * 2, _SLOWEST)  # as RFC 8628 wants of a lost connection
                continue
            if status == HTTPStatus.OK:
                break
            why = text_at(answer, "error")
            if why == "slow_down":
                wait = min(wait + 5, _SLOWEST)
            elif why in _OVER:
                raise NotSignedInError(_OVER[why])
            elif why != "authorization_pending":
                raise ProviderError(self._refused("nobody could sign in", status, answer))
        return await self._confirmed(answer, begun, code.nonce, "")

    async def looked(self, token: str, identity: Identity, nonce: str) -> Confirmed:
        """Look whether a person is still in, by their refresh token.

        Raises EndedError where they are not, ProviderError where nobody can tell.
        """
        begun = self._clock()
        form = {"grant_type": "refresh_token", "refresh_token": token, "scope": SCOPE}
        form["client_id"] = self._policy.client
        status, answer = await self._post("token_endpoint", form)
        if status != HTTPStatus.OK and text_at(answer, "error") == "invalid_grant":
            raise EndedError(f"{self._policy.issuer} confirms them no more")
        if status != HTTPStatus.OK:
            raise ProviderError(self._refused("it refused to look", status, answer))
        try:
            confirmed = await self._confirmed(answer, begun, nonce, token)
        except NotSignedInError as error:
            raise EndedError(str(error)) from None
        if not confirmed.identity.is_same(identity):
            raise ProviderError(f"{self._policy.issuer} answered for another person")
        return confirmed

    async def _confirmed(
        self, answer: Mapping[str, Value], begun: float, nonce: str, token: str
    ) -> Confirmed:
        """Return whom the tokens of an answer confirm; `token` stays without a new token."""
        token = text_at(answer, "refresh_token") or token
        if not 0 < len(token) <= LARGEST:
            raise ProviderError(
                f"{self._policy.issuer} gave no refresh token, so nobody could look again: allow "
                "its client offline_access"
            )
        claims = await self.read(text_at(answer, "id_token"), begun, nonce)
        subject = text_at(claims, "sub")
        values = _values(claims, self._policy.claim)
        if values is None and (access := text_at(answer, "access_token")):
            values = _values(await self._about(access, subject), self._policy.claim)
        if values is None and ("_claim_names" in claims or "hasgroups" in claims):
            raise ProviderError(f"the person is in more groups than {self._policy.issuer} names")
        entitled = self._policy.entitled(values or ())
        if entitled is None:
            raise NotSignedInError(
                f"{self._policy.issuer} names no group of theirs that the team has a role for"
            )
        names = (text_at(claims, key) for key in ("preferred_username", "name"))
        label = next((name for name in names if name.strip() and name.isprintable()), "")[:64]
        identity = Identity(self._policy.issuer, subject, label, int(self._clock()))
        return Confirmed(identity, entitled, token, nonce)

    async def read(self, token: str, begun: float, nonce: str) -> Mapping[str, Value]:
        """Return the claims of an ID token for our client, made since `begun`.

        Raises ProviderError for any other token.
        """
        import jwt  # the extra `oidc` brings it

        issuer, policy = self._policy.issuer, self._policy
        options: Any = {
            "require": ["iss", "sub", "aud", "exp", "iat"],
            "enforce_minimum_key_length": True,
        }
        try:
            header = jwt.get_unverified_header(token)
            key = await self._key(header)
            claims = jwt.decode(
                token,
                key,
                algorithms=[key.algorithm_name],
                audience=policy.audience,
                issuer=issuer,
                leeway=SKEW,
                options=options,
            )
        except ProviderError:
            raise
        except Exception as error:  # noqa: BLE001 - what a stranger's bytes bring about
            why = safe(str(error)[:200]) or type(error).__name__
            raise ProviderError(f"the ID token of {issuer} does not count: {why}") from None
        wrong = [
            name
            for name, fits in (
                ("azp", claims.get("azp", policy.client) == policy.client),
                ("aud", "azp" in claims or _is_single(claims["aud"])),
                ("nonce", claims.get("nonce", nonce) == nonce),
                ("iat", float(claims["iat"]) >= begun - SKEW),
                ("sub", _is_subject(claims["sub"])),
            )
            if not fits
        ]
        if wrong:
            raise ProviderError(f"the ID token of {issuer} does not count: its {wrong[0]} is wrong")
        return claims

    async def _key(self, header: Mapping[str, Any]) -> Any:  # noqa: ANN401 - PyJWT may be missing
        """Return the provider's key that a token's header names; raises PyJWTError, ProviderError.

        A key that is not known is looked for once more, since providers change their keys.
        """
        import jwt  # as above

        algorithm, kid = header.get("alg"), header.get("kid")
        if algorithm not in ALGORITHMS or "crit" in header:
            raise jwt.InvalidAlgorithmError(f"it is signed by {algorithm!r}"[:80])
        for again in (False, True):
            if again or not self._keys:
                self._keys = await self._published_keys()
            fitting = [key for key in self._keys if _fits(key, kid, algorithm)]
            if len(fitting) == 1:
                return jwt.PyJWK(dict(fitting[0]), algorithm)
        raise jwt.InvalidKeyError("it names no key that the provider publishes")

    async def _published_keys(self) -> Sequence[Mapping[str, Any]]:
        status, answer = await self._ask("GET", await self._endpoint("jwks_uri"))
        keys = answer.get("keys")
        if status != HTTPStatus.OK or not isinstance(keys, list):
            raise ProviderError(self._refused("it shows no keys", status, answer))
        return [key for key in keys[:_MOST_KEYS] if isinstance(key, dict)]

    async def _about(self, access: str, subject: str) -> Mapping[str, Value]:
        """Return what the provider tells of the person beside the token; empty for nothing."""
        published = await self._documents()
        if not text_at(published, "userinfo_endpoint") or not access.isascii():
            return {}
        where = await self._endpoint("userinfo_endpoint")
        status, answer = await self._ask("GET", where, authorization=f"Bearer {access}")
        if status != HTTPStatus.OK or text_at(answer, "sub") != subject:
            raise ProviderError(self._refused("it tells nothing of the person", status, answer))
        return answer

    async def _post(
        self, endpoint: str, form: Mapping[str, str]
    ) -> tuple[int, Mapping[str, Value]]:
        where, authorization = await self._endpoint(endpoint), ""
        if self._client_secret:
            pair = map(quote_plus, (self._policy.client, self._client_secret))
            authorization = f"Basic {b64encode(':'.join(pair).encode()).decode()}"
        return await self._ask("POST", where, form=form, authorization=authorization)

    async def _endpoint(self, name: str) -> str:
        """Return an address that the provider publishes; raises ProviderError."""
        where = text_at(await self._documents(), name)
        if fault_of_address(where, plain=self._plain):
            raise ProviderError(f"{self._policy.issuer} publishes no {name} that can be asked")
        return where

    async def _documents(self) -> Mapping[str, Value]:
        """Return what the provider publishes of itself; raises ProviderError."""
        if self._published is None:
            issuer = self._policy.issuer
            if fault := fault_of_issuer(issuer):
                raise ProviderError(f"{issuer} {fault}")
            where = f"{issuer.rstrip('/')}/.well-known/openid-configuration"
            status, answer = await self._ask("GET", where)
            if status != HTTPStatus.OK:
                raise ProviderError(self._refused("it publishes nothing", status, answer))
            if text_at(answer, "issuer") != issuer:
                raise ProviderError(
                    f"{where} is of another issuer: {text_at(answer, 'issuer')[:200]!r}"
                )
            self._published = answer
        return self._published

    async def _ask(
        self,
        method: str,
        where: str,
        *,
        form: Mapping[str, str] | None = None,
        authorization: str = "",
    ) -> tuple[int, Mapping[str, Value]]:
        """Return the status and the object of an answer; raises ProviderError."""
        host = urlsplit(where).netloc
        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        if authorization:
            headers["Authorization"] = authorization
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        options: Any = {"allow_redirects": False, "proxy": proxy_for(where), "headers": headers}
        if form is not None:
            options["data"] = urlencode(form)
        try:
            async with (
                ClientSession(
                    timeout=ClientTimeout(total=WITHIN),
                    cookie_jar=DummyCookieJar(),
                    auto_decompress=False,
                ) as session,
                session.request(method, URL(where, encoded=True), **options) as reply,
            ):
                content = await _bounded(reply.content)
        except TimeoutError:
            raise ProviderError(f"{host} did not answer in {WITHIN:g} s") from None
        except (ClientError, OSError, ValueError) as error:
            raise ProviderError(f"no way to {host}: {error}"[:300]) from None
        if reply.status in range(300, 400):
            raise ProviderError(f"{host} led elsewhere ({reply.status}), which is not followed")
        try:
            return reply.status, parse_object(content, _DEEPEST)
        except PayloadError as error:
            raise ProviderError(f"{host} answered {reply.status}, no JSON: {error}") from None

    def _refused(self, what: str, status: int, answer: Mapping[str, Value]) -> str:
        words = text_at(answer, "error_description") or text_at(answer, "error")
        why = f": {safe(' '.join(words.split())[:160])}" if words else ""
        return f"{self._policy.issuer}: {what} ({status}{why})"


_OVER = {
    "access_denied": "the person, or the provider, refused the sign-in",
    "expired_token": "nobody signed in before the provider's code ran out",
}


async def _bounded(content: Any) -> bytes:  # noqa: ANN401 - aiohttp's stream
    read = bytearray()
    async for part in content.iter_chunked(1 << 16):
        read += part
        if len(read) > LARGEST:
            raise ValueError(f"it answered more than {LARGEST >> 10} KiB")
    return bytes(read)


def _number(answer: Mapping[str, Value], key: str, otherwise: float, most: float) -> float:
    value = answer.get(key, otherwise)
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        value = otherwise
    return min(float(value), most)


def _values(claims: Mapping[str, Value], name: str) -> Sequence[str] | None:
    """Return the values of a claim, as `groups` or `realm_access.roles`; None for no such claim."""
    value: Value = claims.get(name)
    if name not in claims:
        value = claims  # type: ignore[assignment]
        for part in name.split("."):
            if not isinstance(value, dict) or part not in value:
                return None
            value = value[part]
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list) or len(value) > _MOST_VALUES:
        return None
    return [text for text in value if isinstance(text, str)]


def _fits(key: Mapping[str, Any], kid: object, algorithm: str) -> bool:
    """Whether a published key may have signed a token with this header."""
    kind = {"R": "RSA", "P": "RSA", "E": "OKP" if algorithm == "EdDSA" else "EC"}[algorithm[0]]
    return (
        key.get("kty") == kind
        and key.get("use", "sig") == "sig"
        and key.get("alg", algorithm) == algorithm
        and (kid is None or key.get("kid") == kid)
    )


def _is_single(audience: object) -> bool:
    return isinstance(audience, str) or (isinstance(audience, list) and len(audience) == 1)


def _is_subject(subject: object) -> bool:
    return isinstance(subject, str) and 0 < len(subject) <= 255 and subject.isprintable()
