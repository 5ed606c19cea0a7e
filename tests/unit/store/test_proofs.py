"""What a passkey signed is on record, without a secret, and is verified by the team's file alone."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from crabhook.model.actor import Operator, Role
from crabhook.model.jsontext import compact
from crabhook.model.proof import CallProof
from crabhook.store.actors import decider_data
from crabhook.store.change import happened
from crabhook.store.opening import open_writer
from crabhook.store.proofs import Proofs
from crabhook.store.record import Entry, RecordKind, iso
from crabhook.store.writer import LARGEST_REQUEST
from crabhook.team.call_signature import SignedCall
from crabhook.team.membership import Member, Team
from crabhook.team.passkeys import challenge_of
from tests.support.authenticator import PRESENT, Authenticator
from tests.unit.store.making import NOON, entry, records, verified

ANN, BOB = Authenticator(), Authenticator()
TEAM = Team(
    "t",
    "ours",
    1,
    (
        Member("o-ann", "ann", Role.ADMIN, passkeys=(ANN.passkey(),)),
        Member("o-bob", "bob", Role.ADMIN, passkeys=(BOB.passkey("iPhone"),)),
    ),
)
SECRET = "ghp_" + "a1B2" * 9


def asked(**more: Any) -> bytes:
    digest = sha256(b"seen").hexdigest()
    told = {"id": "Zx81-4f2c9d77e0b1", "card": 1, "act": "allow", "seen_sha256": digest, **more}
    return json.dumps(told).encode()


def proof_of(request: bytes = asked(), by: Authenticator = ANN, **signed: Any) -> CallProof:
    call = SignedCall("t", "o-ann", b"server", "Decide", request, 5.0)._replace(**signed)
    return CallProof(call.text, request, compact(dict(by.sign(challenge_of(call)).json)))


def opened(proof: CallProof | None, operator: str = "o-ann", **more: Any) -> Entry:
    """The record of a decision about card 1, opened by a passkey."""
    by = Operator(operator, "ann", "Pixel", "192.0.2.7", "admin", "passkey")
    body = decider_data(by) | {"input": {"command": "ls"}} | more
    return entry(RecordKind.DECIDED, verdict="allow", card=1, body=body, proof=proof)


def proven(folder: Path, *written: Entry, team: Team = TEAM) -> Proofs:
    """Write these entries; verify the record, and what passkeys signed."""
    with_store = open_writer(folder)
    with_store.write([happened(one) for one in written])
    with_store.close()
    assert verified(folder).sound
    proofs = Proofs(team)
    for record in records(folder):
        proofs.take(record)
    return proofs


def test_what_was_signed_is_on_record_and_true(tmp_path: Path) -> None:
    proof = proof_of()
    proofs = proven(tmp_path, entry(), opened(proof), opened(None, more="of another desk"))
    kept = records(tmp_path)[1].data()["proof"]
    assert base64.b64decode(kept["signed"]) == proof.signed
    assert kept["request"].encode() == proof.request
    assert (proofs.true, proofs.number, proofs.digests) == (1, 2, 0)
    # A decision that says that a passkey opened it has a signature.
    assert ["has no signature" in finding.what for finding in proofs.false] == [True]


def test_a_record_without_passkeys_has_nothing_to_tell(tmp_path: Path) -> None:
    passphrase = Operator("o-ann", "ann", "laptop", "192.0.2.7", "admin", "passphrase")
    plain = entry(RecordKind.DECIDED, body=decider_data(passphrase))
    # What an agent sends never looks like a signature.
    hostile = entry(body={"fields": {"x": '"proof":{"signed":"AAAA"}'}})
    proofs = proven(tmp_path, plain, hostile)
    assert not proofs.number
    assert not list(proofs.told())


@pytest.mark.parametrize(
    ("request_", "beside"),
    [
        (asked(value=f"use {SECRET}"), {}),
        (asked(), {"input": {"command": f"curl -H 'Authorization: Bearer {SECRET}'"}}),
        (asked(value="x" * LARGEST_REQUEST), {}),
        (b"\xff", {}),
        (b"[]", {}),
    ],
    ids=["a typed secret", "an agent's secret", "too long", "no text", "no object"],
)
def test_a_request_with_a_secret_in_it_or_beside_it_is_on_record_by_its_digest(
    tmp_path: Path, request_: bytes, beside: dict[str, Any]
) -> None:
    """`seen_sha256` is of the agent's input: beside a secret, it would tell a guess from a miss."""
    proofs = proven(tmp_path, opened(proof_of(request_), **beside))
    (record,) = records(tmp_path)
    assert "request" not in record.data()["proof"]
    assert SECRET not in record.body
    assert sha256(b"seen").hexdigest() not in record.body
    assert (proofs.true, proofs.digests) == (1, 1)
    assert "does not keep" in " ".join(proofs.told())


def test_the_same_signature_stays_verifiable_when_its_passkey_is_revoked_later(
    tmp_path: Path,
) -> None:
    later = replace(ANN.passkey(), revoked=int(NOON) + 60)
    team = replace(TEAM, members=(replace(TEAM.members[0], passkeys=(later,)),))
    proofs = proven(tmp_path, opened(proof_of()), team=team)
    assert (proofs.true, proofs.revoked, proofs.false) == (1, 1, [])
    assert "were revoked later" in " ".join(proofs.told())
    earlier = replace(later, revoked=int(NOON) - 60)
    team = replace(TEAM, members=(replace(TEAM.members[0], passkeys=(earlier,)),))
    again = Proofs(team)
    again.take(records(tmp_path)[0])
    assert "was revoked before" in again.false[0].what


def test_a_signature_of_a_person_who_is_gone_cannot_be_verified(tmp_path: Path) -> None:
    proofs = proven(tmp_path, opened(proof_of()), team=replace(TEAM, members=TEAM.members[1:]))
    assert (proofs.true, proofs.unknown, proofs.false) == (0, 1, [])
    assert "1 signatures cannot be verified" in " ".join(proofs.told())


def altered(proof: CallProof, **parts: Any) -> CallProof:
    """A proof whose assertion has other parts."""
    told = json.loads(proof.assertion)
    told["response"] |= parts
    return replace(proof, assertion=json.dumps(told))


FALSE: dict[str, tuple[Callable[[], Entry], str]] = {
    "another card": (lambda: opened(proof_of(asked(card=2))), "for another card"),
    "another verdict": (lambda: opened(proof_of(asked(act="deny"))), "it is to deny"),
    "another request": (
        lambda: opened(replace(proof_of(), request=asked(note="typed later"))),
        "the request on record",
    ),
    "another team": (lambda: opened(proof_of(team="other")), "of another team"),
    "another person": (lambda: opened(proof_of(), "o-bob"), "of another person"),
    "another person's key": (lambda: opened(proof_of(by=BOB)), "its passkey is bob's"),
    "nobody verified": (
        lambda: opened(proof_of(by=_unverified())),
        "no fingerprint, face",
    ),
    "another text": (
        lambda: opened(replace(proof_of(), signed=proof_of(at=6.0).signed)),
        "not what was asked",
    ),
    "a false signature": (
        lambda: opened(altered(proof_of(), signature="AAAA")),
        "signature is false",
    ),
    "no signature": (lambda: opened(altered(proof_of(), signature=None)), "cannot be read"),
    "noise": (lambda: opened(replace(proof_of(), signed=b"x")), "cannot be read"),
}


def _unverified() -> Authenticator:
    other = Authenticator(credential=ANN.credential)
    other._key, other.flags = ANN._key, PRESENT
    return other


@pytest.mark.parametrize("what", FALSE)
def test_what_does_not_fit_the_record_is_false_in_words(tmp_path: Path, what: str) -> None:
    make, words = FALSE[what]
    proofs = proven(tmp_path, make())
    assert (proofs.true, proofs.number) == (0, 1)
    assert words in proofs.false[0].what
    assert proofs.false[0].seq == 1


def test_a_signature_is_on_record_once(tmp_path: Path) -> None:
    proof = proof_of()
    proofs = proven(tmp_path, opened(proof), opened(proof))
    assert "on record twice" in proofs.false[0].what


def test_an_order_that_a_passkey_opened_is_verified_too(tmp_path: Path) -> None:
    by = Operator("o-ann", "ann", "Pixel", "192.0.2.7", "admin", "passkey")
    body = {"what": "ordered: allow everything", **decider_data(by)}
    ordered = entry(RecordKind.OPERATOR, body=body, proof=proof_of(asked(act="rule", card=0)))
    proofs = proven(tmp_path, ordered)
    assert (proofs.true, proofs.false) == (1, [])
    assert proofs.values == {"true": 1, "false": 0, "unknown": 0, "revoked_later": 0, "digests": 0}
    assert iso(NOON) == records(tmp_path)[0].at
