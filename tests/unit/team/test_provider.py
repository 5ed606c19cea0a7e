"""What counts of a provider's answers: each lie is refused, by a provider that lies on the loopback."""

from __future__ import annotations

import asyncio
import base64
import json
import socket
import ssl
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

import pytest
import trustme
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from crabhook.safe_open import write_own
from crabhook.team import provider as module
from crabhook.team.folder import Folder, TeamError
from crabhook.team.identity import Identity, fault_of_issuer
from crabhook.team.looks import SKEW
from crabhook.team.provider import (
    EndedError,
    NotSignedInError,
    Provider,
    ProviderError,
    client_secret_in,
)
from tests.support.identity_provider import policy_of
from tests.support.lying_provider import (
    OURS,
    THEIRS,
    Claims,
    Double,
    by_secret,
    jwk,
    provider,
    signed,
    unsigned,
)
from tests.support.rows import every_row

RSA = rsa.generate_private_key(65537, 2048)
SHORT = rsa.generate_private_key(65537, 1024)
PEM = OURS.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def in_a_loop(test: Callable[..., Coroutine[object, object, None]]) -> Callable[..., None]:
    """Let rows call a test that waits."""

    @wraps(test)
    def run(**row: Any) -> None:
        asyncio.run(test(**row))

    return run


def identity(double: Double) -> Identity:
    return Identity(double.issuer, "s1", "ann")


async def looked(double: Double, asked: Provider) -> module.Confirmed:
    return await asked.looked("r1", identity(double), "")


async def test_a_person_signs_in_after_a_while_and_is_looked_at_again() -> None:
    pending = [{"error": "authorization_pending"}] * 2
    async with provider(answers=list(pending)) as (double, asked):
        code = await asked.begin()
        assert (code.page, code.user_code) == (f"{double.issuer}/p", "AB-CD")
        confirmed = await asked.signed_in(code)
        assert (confirmed.identity.subject, confirmed.entitled.role) == ("s1", "decider")
        assert (confirmed.token, confirmed.nonce) == ("r2", double.nonce)
        forms = [form for what, form in double.asked if what == "token"]
        assert [form["device_code"] for form in forms] == ["d"] * 3
        again = await asked.looked(confirmed.token, confirmed.identity, confirmed.nonce)
        assert again.entitled == confirmed.entitled
        assert double.asked[-1][1]["refresh_token"] == "r2"


async def test_slow_down_and_a_lost_connection_are_waited_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits: list[float] = []
    real = asyncio.sleep

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        await real(0)

    monkeypatch.setattr(module.asyncio, "sleep", sleep)
    answers = [
        {"error": "authorization_pending"},
        {"error": "slow_down"},
        web.Response(status=502, text="<html>"),
    ]
    async with provider(answers=answers, device={"interval": 3}) as (_, asked):
        await asked.signed_in(await asked.begin())
    assert [wait for wait in waits if wait >= 1] == [3, 3, 8, 16]


ENDS = {
    "access_denied": "refused the sign-in",
    "expired_token": "ran out",
}


@every_row("error", sorted(ENDS))
@in_a_loop
async def test_a_sign_in_that_is_over_says_why(error: str) -> None:
    async with provider(answers=[{"error": error}]) as (_, asked):
        with pytest.raises(NotSignedInError, match=ENDS[error]):
            await asked.signed_in(await asked.begin())


async def test_a_code_that_runs_out_ends_without_the_providers_word() -> None:
    answers = [{"error": "authorization_pending"}] * 200
    async with provider(answers=answers, device={"expires_in": 0.2}) as (_, asked):
        with pytest.raises(NotSignedInError, match="ran out"):
            await asked.signed_in(await asked.begin())


def told_in(**seconds: float) -> Callable[[Double], None]:
    """Have claims that are times so many seconds from now."""

    def do(double: Double) -> None:
        now = time.time()
        double.changes.update({name: int(now + later) for name, later in seconds.items()})

    return do


def told(**changes: Any) -> Callable[[Double], None]:
    """Change claims."""
    return lambda double: double.changes.update(changes)


def signs(sign: Callable[[Claims], str], *keys: Mapping[str, Any]) -> Callable[[Double], None]:
    """Sign in another way, and publish these keys in place of the first."""

    def do(double: Double) -> None:
        double.sign = sign
        if keys:
            double.keys = list(keys)

    return do


K1 = jwk(OURS, "k1", "ES256")
TOKENS: Mapping[str, Callable[[Double], None]] = {
    "no signature": signs(unsigned),
    "the public key as a secret": signs(lambda claims: by_secret(claims, PEM)),
    "a secret that is published": signs(
        lambda claims: by_secret(claims, b"secret" * 8),
        {"kty": "oct", "kid": "k1", "k": "c2VjcmV0" * 8, "alg": "HS256"},
    ),
    "another's signature": signs(lambda claims: signed(claims, THEIRS)),
    "a key that nobody published": signs(lambda claims: signed(claims, kid="k9")),
    "a key with another algorithm": signs(signed, {**K1, "alg": "ES384"}),
    "a key for sealing": signs(signed, {**K1, "use": "enc"}),
    "two keys of that name": signs(signed, K1, jwk(THEIRS, "k1", "ES256")),
    "a short key": signs(lambda claims: signed(claims, SHORT, "RS256"), jwk(SHORT, "k1", "RS256")),
    "a header that must be understood": signs(lambda claims: signed(claims, crit=["x"], x=1)),
    "another issuer": told(iss="https://evil.example"),
    "no issuer": told(iss=None),
    "another client": told(aud="other"),
    "several clients": told(aud=["crabhook", "other"]),
    "another authorized party": told(azp="other"),
    "another sign-in": told(nonce="n2"),
    "a token that ended": told_in(exp=-SKEW - 5),
    "a token of the future": told_in(iat=SKEW + 60),
    "a token not yet good": told_in(nbf=SKEW + 60),
    "a replayed token": told_in(iat=-SKEW - 60),
    "an end that is no number": told(exp=[]),
    "an endless end": told(exp=float("inf")),
    "a beginning that is none": told(iat=float("nan")),
    "no end": told(exp=None),
    "no time": told(iat=None),
    "no subject": told(sub=None),
    "an empty subject": told(sub=""),
    "a subject that moves a terminal": told(sub="s\x1b[2J"),
    "another person": told(sub="s2"),
    "no token": lambda it: it.answers.append({"access_token": "a", "refresh_token": "r"}),
    "noise": lambda it: it.answers.append({"id_token": "a.b.c", "refresh_token": "r"}),
}


@every_row("lie", sorted(TOKENS))
@in_a_loop
async def test_a_token_that_does_not_count_confirms_nobody_and_ends_nobody(lie: str) -> None:
    async with provider() as (double, asked):
        await looked(double, asked)
        TOKENS[lie](double)
        with pytest.raises(ProviderError):
            await Provider(policy_of(double.issuer), time.time).looked("r1", identity(double), "n1")


GOOD: Mapping[str, Callable[[Double], None]] = {
    "a clock that is a little wrong": told_in(exp=-30, iat=60),
    "an authorized party that is us": told(azp="crabhook", aud=["crabhook", "other"]),
    "a single client in a list": told(aud=["crabhook"]),
    "RSA": signs(lambda claims: signed(claims, RSA, "RS256"), jwk(RSA, "k1", "RS256")),
}


@every_row("kind", sorted(GOOD))
@in_a_loop
async def test_a_true_token_counts(kind: str) -> None:
    async with provider() as (double, asked):
        GOOD[kind](double)
        assert (await looked(double, asked)).entitled.role == "decider"


async def test_a_provider_that_changes_its_keys_is_asked_for_them_once_more() -> None:
    async with provider() as (double, asked):
        await looked(double, asked)
        double.keys = [jwk(THEIRS, "k2", "ES256")]
        double.sign = lambda claims: signed(claims, THEIRS, kid="k2")
        await looked(double, asked)
        await looked(double, asked)
        assert [what for what, _ in double.asked].count("keys") == 2
        double.sign = lambda claims: signed(claims, OURS, kid="k1")
        with pytest.raises(ProviderError, match="no key"):
            await looked(double, asked)


PUBLISHED: Mapping[str, Claims] = {
    "of another issuer": {"issuer": "https://evil.example"},
    "a port without TLS elsewhere": {"token_endpoint": "http://evil.example/token"},
    "a file": {"token_endpoint": "file:///etc/passwd"},
    "a person in it": {"token_endpoint": "https://user@evil.example/"},
    "nothing": {"token_endpoint": ""},
    "a list": {"token_endpoint": ["https://id.example/token"]},
    "too long": {"token_endpoint": "https://id.example/" + "a" * 2048},
    "a line in it": {"token_endpoint": "https://id.example/\r\nX: y"},
    "no host": {"token_endpoint": "https://[id"},
}


@every_row("what", sorted(PUBLISHED))
@in_a_loop
async def test_what_a_provider_publishes_wrongly_is_not_asked(what: str) -> None:
    async with provider(published=PUBLISHED[what]) as (double, asked):
        with pytest.raises(ProviderError):
            await looked(double, asked)
        assert not double.asked


def padded(double: Double, text: str) -> web.Response:
    """The true tokens, with another member that is as JSON says."""
    return web.Response(text=json.dumps(double.tokens())[:-1] + f', "more": {text}}}')


ANSWERS: Mapping[str, Callable[[Double], Any]] = {
    "elsewhere": lambda _: web.Response(status=307, headers={"Location": "/token"}),
    "too much": lambda it: padded(it, f'"{"a" * module.LARGEST}"'),
    "depth": lambda it: padded(it, '{"a":' * 40 + "1" + "}" * 40),
    "not a number": lambda it: padded(it, "NaN"),
    "no JSON": lambda _: web.Response(text="<html>"),
    "a list": lambda _: web.Response(text="[]"),
    "trouble": lambda _: web.json_response({"error": "server_error"}, status=500),
    "a wrong client": lambda _: {"error": "invalid_client"},
    "no refresh": lambda _: {"error": "unsupported_grant_type"},
}


@every_row("what", sorted(ANSWERS))
@in_a_loop
async def test_an_answer_that_says_nothing_of_the_person_ends_nobody(what: str) -> None:
    async with provider() as (double, asked):
        double.answers.append(ANSWERS[what](double))
        with pytest.raises(ProviderError):
            await looked(double, asked)
        await looked(double, asked)


async def test_a_provider_that_does_not_answer_is_waited_for_so_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "WITHIN", 0.2)

    with socket.create_server(("127.0.0.1", 0)) as silent:
        where = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(ProviderError, match=r"did not answer in 0\.2 s"):
            await Provider(policy_of(where), time.time).reach()


async def test_a_provider_is_asked_by_tls_that_the_system_trusts_and_leads_to_no_port_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    authority, tls = trustme.CA(), ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(tls)
    async with provider(tls) as (double, asked):
        with pytest.raises(ProviderError, match="no way to"):
            await looked(double, asked)
        trusting = ssl.create_default_context()
        authority.configure_trust(trusting)
        monkeypatch.setattr("aiohttp.connector._SSL_CONTEXT_VERIFIED", trusting)
        await looked(double, asked)
        double.published["token_endpoint"] = double.issuer.replace("https", "http") + "/token"
        with pytest.raises(ProviderError, match="no token_endpoint"):
            await looked(double, Provider(policy_of(double.issuer), time.time))


OUT: Mapping[str, tuple[Claims, list[Any]]] = {
    "disabled": ({}, [{"error": "invalid_grant"}]),
    "in no group": ({"groups": []}, []),
    "in another group": ({"groups": ["sales"]}, []),
    "without the claim": ({"groups": None}, []),
    "with a claim that is no list of texts": ({"groups": [1, {"eng": 1}]}, []),
}


@every_row("how", sorted(OUT))
@in_a_loop
async def test_who_is_out_at_the_provider_is_ended(how: str) -> None:
    changes, answers = OUT[how]
    async with provider(changes=changes, answers=[*answers], about={"sub": "s1"}) as (
        double,
        asked,
    ):
        with pytest.raises(EndedError):
            await looked(double, asked)


async def test_groups_that_are_told_beside_the_token_count_for_that_person_alone() -> None:
    about = {"sub": "s1", "groups": ["ops"]}
    async with provider(changes={"groups": None}, about=about) as (double, asked):
        assert (await looked(double, asked)).entitled.role == "admin"
        double.about["sub"] = "s2"
        with pytest.raises(ProviderError, match="nothing of the person"):
            await looked(double, asked)
        double.about = {"sub": "s1"}
        double.changes["_claim_names"] = {"groups": "src1"}
        with pytest.raises(ProviderError, match="more groups"):
            await looked(double, asked)


async def test_a_client_with_a_secret_shows_it_and_a_public_client_shows_none(
    tmp_path: Path,
) -> None:
    folder = Folder(tmp_path)
    assert client_secret_in(folder) == ""
    write_own(folder.client_secret, b"a:b c\n")
    async with provider() as (double, asked):
        await looked(double, asked)
        assert "Authorization" not in double.asked[-1][1]
        secret = client_secret_in(folder)
        await looked(double, Provider(policy_of(double.issuer), time.time, secret))
        (shown,) = (form["Authorization"] for _, form in double.asked if "Authorization" in form)
        assert base64.b64decode(shown.removeprefix("Basic ")) == b"crabhook:a%3Ab+c"
    folder.client_secret.chmod(0o644)
    with pytest.raises(TeamError, match="chmod 600"):
        client_secret_in(folder)


async def test_a_claim_may_lie_deeper() -> None:
    changes = {"groups": None, "realm_access": {"roles": ["ops"]}}
    async with provider(changes=changes) as (double, _):
        policy = replace(policy_of(double.issuer), claim="realm_access.roles")
        asked = Provider(policy, time.time)
        assert (await looked(double, asked)).entitled.groups == ("leads",)


@every_row(
    "page",
    ["javascript:alert(1)", "http://evil.example/", "https://id.example/\x1b[2J", "", 7],
)
@in_a_loop
async def test_a_page_that_nobody_should_open_begins_no_sign_in(page: object) -> None:
    async with provider(device={"verification_uri": page}) as (_, asked):
        with pytest.raises(ProviderError):
            await asked.begin()


async def test_without_a_refresh_token_nobody_comes_in() -> None:
    async with provider() as (double, asked):
        code = await asked.begin()
        tokens = double.tokens()
        del tokens["refresh_token"]
        double.answers.append(tokens)
        with pytest.raises(ProviderError, match="offline_access"):
            await asked.signed_in(code)


@every_row(
    "issuer",
    [
        "http://id.example",
        "https://",
        "https://user@id.example",
        "https://id.example/?a",
        "https://id.example/#a",
        "ftp://id.example",
        "id.example",
        "https://id.example/\n",
        "https://[",
    ],
)
def test_an_issuer_is_an_https_address_or_a_port_of_this_machine(issuer: str) -> None:
    assert fault_of_issuer(issuer)
    assert not fault_of_issuer("https://login.example.com/tenant/v2.0")
    assert not fault_of_issuer("http://127.0.0.1:4711")
