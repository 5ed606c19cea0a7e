"""Passkeys: true enrolments and signatures count, and every forgery is refused in words of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.extras import WEB, installer
from crabhook.model.actor import Role
from crabhook.model.errors import CrabhookError
from crabhook.team import passkeys
from crabhook.team.call_signature import WITHIN, SignedCall
from crabhook.team.membership import NO_PASSKEY, Member, Principal, Team, TeamRefusal
from crabhook.team.passkeys import (
    LARGEST,
    Assertion,
    PasskeyError,
    Registration,
    challenge_of,
    enrolled,
    opened_by_passkey,
    signed_in,
    to_text,
    verify,
)
from tests.support.authenticator import (
    CAN_BE_COPIED,
    HOST,
    IS_COPIED,
    ORIGIN,
    PRESENT,
    VERIFIED,
    Authenticator,
)
from tests.support.examples import examples

NOW, AT = 1_800_000_000, 1000.0  # of the calendar, and on the server's clock
CHALLENGE = sha256(b"asked").digest()
ORIGINS = frozenset({ORIGIN, "https://other.example"})
CALL = SignedCall("t", "o-ann", b"of this server", "Decide", b'{"card":1}', AT)

ANN, BOB, OTHER = Authenticator(), Authenticator(), Authenticator()
MADE = ANN.sign(CHALLENGE)
TEAM = Team(
    "t",
    "ours",
    1,
    (
        Member("o-ann", "ann", Role.ADMIN, passkeys=(ANN.passkey(), OTHER.passkey("Mac"))),
        Member("o-bob", "bob", Role.ADMIN, passkeys=(BOB.passkey("iPhone"),)),
    ),
)


def team_of(*authenticators: Authenticator, **other: object) -> Team:
    keys = tuple(one.passkey(**other) for one in authenticators)
    return Team("t", "ours", 1, (Member("o-ann", "ann", Role.ADMIN, passkeys=keys),))


def principal(team: Team = TEAM) -> Principal:
    found = team.by_passkey("o-ann", "p-Pixel", NOW)
    assert isinstance(found, Principal), found
    return found


def why(assertion: Assertion, team: Team = TEAM, call: SignedCall = CALL, now: float = AT) -> str:
    """Return why an assertion does not open a call of ann's; empty where it does."""
    opened = opened_by_passkey(assertion, call, team, principal(TEAM), now, origins=ORIGINS)
    return opened.why if isinstance(opened, TeamRefusal) else ""


# Enrolment.


@pytest.mark.parametrize("kind", ["ES256", "EdDSA", "RS256"])
def test_a_passkey_that_was_enrolled_opens_the_call_that_it_signs(kind: str) -> None:
    phone = Authenticator(kind, flags=PRESENT | VERIFIED | CAN_BE_COPIED | IS_COPIED)
    made = enrolled(phone.register(CHALLENGE), CHALLENGE, HOST, ORIGINS)
    assert (made.credential, made.key) == (to_text(phone.credential), to_text(phone.public))
    assert made.aaguid == "ea9b8d66-4d01-1d21-3ce4-b6b48cb575d4"
    assert (made.backup_eligible, made.backed_up) == (True, True)
    team = team_of(phone, key=made.key, credential=made.credential)
    opened = opened_by_passkey(
        phone.sign(challenge_of(CALL)), CALL, team, principal(team), AT, origins=ORIGINS
    )
    assert opened == replace(principal(team), closing=False, signed=True)


def test_an_authenticator_without_a_kind_has_none_in_the_team_file() -> None:
    made = enrolled(Authenticator(aaguid=bytes(16)).register(CHALLENGE), CHALLENGE, HOST, ORIGINS)
    assert (made.aaguid, made.backup_eligible, made.backed_up) == ("", False, False)


ENROLMENTS: dict[str, tuple[Callable[[], Registration], str]] = {
    "another challenge": (lambda: ANN.register(b"x" * 32), "not what was asked for"),
    "another origin": (
        lambda: Authenticator(origin="https://evil.example").register(CHALLENGE),
        "is not this server's",
    ),
    "the same host, another port": (
        lambda: Authenticator(origin="https://desk.example:9999").register(CHALLENGE),
        "is not this server's",
    ),
    "within a page": (
        lambda: Authenticator(cross_origin=True).register(CHALLENGE),
        "within another page",
    ),
    "another host": (
        lambda: Authenticator(rp="evil.example").register(CHALLENGE),
        "pages of another host",
    ),
    "a signature's": (
        lambda: ANN.register(CHALLENGE, "webauthn.get"),
        "is no enrolment",
    ),
    "nobody there": (
        lambda: Authenticator(flags=VERIFIED).register(CHALLENGE),
        "nobody touched",
    ),
    "nobody verified": (
        lambda: Authenticator(flags=PRESENT).register(CHALLENGE),
        "fingerprint, face or PIN",
    ),
    "an unknown way": (
        lambda: Authenticator("ES384").register(CHALLENGE),
        "signs in a way that is not known here",
    ),
    "no credential": (
        lambda: Authenticator(credential=b"").register(CHALLENGE),
        "cannot be read",
    ),
    "too long": (
        lambda: replace(ANN.register(CHALLENGE), client_data=b" " * LARGEST + b"{}"),
        "cannot be read",
    ),
    "without a key": (
        lambda: replace(
            ANN.register(CHALLENGE),
            attestation=passkeys_object(ANN.sign(CHALLENGE).authenticator_data),
        ),
        "cannot be read",
    ),
}


def passkeys_object(data: bytes) -> bytes:
    from fido2 import cbor

    return cbor.encode({"fmt": "none", "attStmt": {}, "authData": data})


@pytest.mark.parametrize("what", ENROLMENTS)
def test_an_enrolment_that_is_not_what_was_asked_is_refused_in_words(what: str) -> None:
    make, words = ENROLMENTS[what]
    with pytest.raises(PasskeyError, match=words):
        enrolled(make(), CHALLENGE, HOST, ORIGINS)


# Signatures.


def of_ann(**told: object) -> Assertion:
    """Ann's key in an authenticator that tells something else."""
    before = {name: getattr(ANN, name) for name in told}
    for name, value in told.items():
        setattr(ANN, name, value)
    try:
        return ANN.sign(challenge_of(CALL))
    finally:
        for name, value in before.items():
            setattr(ANN, name, value)


def swapped(**parts: bytes) -> Assertion:
    return replace(ANN.sign(challenge_of(CALL)), **parts)


FORGERIES: dict[str, tuple[Callable[[], Assertion], str]] = {
    "another challenge": (lambda: ANN.sign(b"x" * 32), "not what was asked for"),
    "another call": (
        lambda: ANN.sign(challenge_of(CALL._replace(request=b'{"card":2}'))),
        "not what was asked for",
    ),
    "another server": (
        lambda: ANN.sign(challenge_of(CALL._replace(challenge=b"of another"))),
        "not what was asked for",
    ),
    "another team": (
        lambda: ANN.sign(challenge_of(CALL._replace(team="other"))),
        "not what was asked for",
    ),
    "another time": (
        lambda: ANN.sign(challenge_of(CALL._replace(at=AT - 1))),
        "not what was asked for",
    ),
    "another origin": (
        lambda: of_ann(origin="https://evil.example"),
        "is not this server's",
    ),
    "within a page": (lambda: of_ann(cross_origin=True), "within another page"),
    "another host": (lambda: of_ann(rp="evil.example"), "pages of another host"),
    "an enrolment's": (
        lambda: ANN.sign(challenge_of(CALL), "webauthn.create"),
        "is no signature",
    ),
    "nobody there": (lambda: of_ann(flags=VERIFIED), "nobody touched"),
    "nobody verified": (lambda: of_ann(flags=PRESENT), "fingerprint, face or PIN"),
    "suddenly copied": (
        lambda: of_ann(flags=PRESENT | VERIFIED | CAN_BE_COPIED),
        "whether the passkey may be copied has changed",
    ),
    "a false signature": (lambda: swapped(signature=b"\0" * 70), "signature is false"),
    "no signature": (lambda: swapped(signature=b""), "signature is false"),
    "another key's signature": (
        lambda: swapped(signature=BOB.sign(challenge_of(CALL)).signature),
        "signature is false",
    ),
    "noise": (lambda: swapped(authenticator_data=b"\xff" * 40), "cannot be read"),
    "no data": (lambda: swapped(authenticator_data=b""), "cannot be read"),
    "no client data": (lambda: swapped(client_data=b"[]"), "cannot be read"),
    "another person's": (lambda: BOB.sign(challenge_of(CALL)), "is none of ann's"),
    "nobody's": (lambda: Authenticator().sign(challenge_of(CALL)), "is none of ann's"),
    "another of hers": (
        lambda: OTHER.sign(challenge_of(CALL)),
        "by the passkey on Mac",
    ),
}


@pytest.mark.parametrize("what", FORGERIES)
def test_an_assertion_of_anything_but_this_call_opens_nothing(what: str) -> None:
    make, words = FORGERIES[what]
    assert not why(ANN.sign(challenge_of(CALL)))
    assert words in why(make())


@pytest.mark.parametrize("late", [WITHIN + 1, -WITHIN - 1])
def test_an_assertion_counts_for_two_minutes(late: float) -> None:
    assertion = ANN.sign(challenge_of(CALL))
    assert not why(assertion, now=AT + WITHIN - 1)
    assert "too long ago" in why(assertion, now=AT + late)


def test_an_assertion_of_a_revoked_passkey_opens_nothing() -> None:
    assertion = ANN.sign(challenge_of(CALL))
    assert "was revoked on" in why(assertion, team_of(ANN, revoked=NOW))
    assert not why(assertion, team_of(ANN))


def test_a_passkey_on_the_agents_machine_counts_on_an_admins_word() -> None:
    assertion = ANN.sign(challenge_of(CALL))
    theirs = team_of(ANN, agents_machine=True)
    assert "crabhook team keys trust ann --passkey p-Pixel" in why(assertion, theirs)
    assert not why(assertion, team_of(ANN, agents_machine=True, confirmed=True))
    signed = signed_in(ANN.sign(CHALLENGE), CHALLENGE, theirs, NOW, ORIGINS)
    assert signed == principal(theirs)  # it looks and closes all the same


def test_a_key_in_the_team_file_that_cannot_be_used_is_an_error_in_words() -> None:
    for key in ("", "AA", "gQ", "oA", to_text(b"\xa1\x03\x20"), to_text(b"\xa2\x01\x02\x03\x26")):
        assert why(ANN.sign(challenge_of(CALL)), team_of(ANN, key=key))


# Signing in.


def test_who_signs_in_may_look_and_close() -> None:
    signed = signed_in(ANN.sign(CHALLENGE), CHALLENGE, TEAM, NOW, ORIGINS)
    assert signed == principal()
    assert principal().closing


@pytest.mark.parametrize(
    ("team", "words"),
    [
        (team_of(ANN, revoked=NOW), "the passkey of ann on Pixel was revoked on 2027-01-15"),
        (team_of(ANN, until=NOW), "ended on 2027-01-15"),
        (team_of(BOB), NO_PASSKEY.why),
        (Team("t", "ours", 1), NO_PASSKEY.why),
    ],
    ids=["revoked", "ended", "another's", "nobody's"],
)
def test_a_passkey_that_does_not_count_any_more_signs_nobody_in(team: Team, words: str) -> None:
    signed = signed_in(ANN.sign(CHALLENGE), CHALLENGE, team, NOW, ORIGINS)
    assert isinstance(signed, TeamRefusal)
    assert words in signed.why
    session = team.by_passkey("o-ann", ANN.passkey().id, NOW)
    assert team.passkey(to_text(ANN.credential)) is None or session == signed


def test_a_signature_for_a_call_signs_nobody_in() -> None:
    signed = signed_in(ANN.sign(challenge_of(CALL)), CHALLENGE, TEAM, NOW, ORIGINS)
    assert isinstance(signed, TeamRefusal)


# What browsers send.


def test_what_a_browser_sends_is_read_and_written_again() -> None:
    assertion = ANN.sign(CHALLENGE)
    assert Assertion.from_json(json.loads(json.dumps(assertion.json))) == assertion
    made = ANN.register(CHALLENGE)
    response = {
        "clientDataJSON": to_text(made.client_data),
        "attestationObject": to_text(made.attestation),
    }
    assert Registration.from_json({"id": "x", "response": response}) == made


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["id", "response", "x"]), inner)
    ),
    max_leaves=5,
)


@given(JSON)
@examples(100)
def test_any_json_is_an_assertion_or_an_error_in_words(value: object) -> None:
    for kind in (Assertion, Registration):
        with pytest.raises(PasskeyError):
            kind.from_json(value)


@given(st.sampled_from(["client_data", "authenticator_data", "signature"]), st.data())
@examples(200)
def test_an_assertion_with_any_byte_changed_does_not_count(part: str, data: st.DataObject) -> None:
    made = MADE
    before: bytes = getattr(made, part)
    at = data.draw(st.integers(0, len(before) - 1))
    after = before[:at] + data.draw(st.binary(max_size=3)) + before[at + 1 :]
    if after == before:
        return
    with pytest.raises(PasskeyError):
        verify(replace(made, **{part: after}), CHALLENGE, ANN.passkey(), ORIGINS)


@given(st.binary(max_size=300), st.binary(max_size=300))
@examples(100)
def test_any_bytes_are_no_enrolment(client_data: bytes, attestation: bytes) -> None:
    for made in (
        Registration(client_data, attestation),
        replace(ANN.register(CHALLENGE), attestation=attestation),
    ):
        with pytest.raises(PasskeyError):
            enrolled(made, CHALLENGE, HOST, ORIGINS)


# The package.


@pytest.mark.process
def test_a_server_without_passkeys_loads_no_package_for_them() -> None:
    loads = "import sys, crabhook.team.passkeys; print(*(m for m in sys.modules if 'fido2' in m))"
    ran = subprocess.run([sys.executable, "-c", loads], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    passkeys.need_library()
    monkeypatch.setitem(sys.modules, "fido2.webauthn", None)
    with pytest.raises(CrabhookError) as refused:
        passkeys.need_library()
    assert str(refused.value).endswith(f"missing here: {installer(WEB)}")
