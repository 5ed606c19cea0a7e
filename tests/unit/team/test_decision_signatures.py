"""Whose signature of a decision counts on the server: the same rules as the hook's own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from crabhook.hook.statement import NAMESPACE
from crabhook.model.actor import Role
from crabhook.model.signing import DecisionSignature
from crabhook.team.call_signature import PublicKey
from crabhook.team.decision_signatures import FalseSignatureError, check_signature
from crabhook.team.membership import SshKey
from crabhook.v1 import permission_pb2 as pb
from tests.support.authenticator import CAN_BE_COPIED, ORIGIN, PRESENT
from tests.support.signing_people import NOW, TWO, Signing, SigningPerson, SigningTeam
from tests.support.ssh_keys import Signer

if TYPE_CHECKING:
    from crabhook.team.membership import Member, Team

ANN, BOB = SigningPerson("ann"), SigningPerson("bob")
PEOPLE = SigningTeam((ANN, BOB))
TEAM = PEOPLE.team


def made(kind: str = "desk", by: SigningPerson = ANN) -> DecisionSignature:
    request = pb.PermissionRequest(request_id="r1", secret="s", platform="claude", payload=b"{}")
    request.stance = pb.STANCE_GATE
    request.strict.team_id = bytes.fromhex(TEAM.id)
    return Signing(PEOPLE, request, pb.Reply()).kept(by, kind)


def team_with(**ann: Any) -> Team:
    first: Member = TEAM.members[0]
    return replace(TEAM, members=(replace(first, **ann), *TEAM.members[1:]))


def problem(signature: DecisionSignature, team: Team = TEAM, *, now: float = NOW) -> str:
    try:
        check_signature(signature, team, now, {ORIGIN})
    except FalseSignatureError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("kind", ["desk", "ssh", "passkey"])
def test_each_kind_of_key_signs_and_no_byte_of_what_was_signed_may_change(kind: str) -> None:
    one = made(kind)
    assert not problem(one)
    assert "does not count" in problem(replace(one, signature=one.signature[:-1]))
    for name in ("operator", "key"):
        assert problem(replace(one, **{name: "o-bob"}))
    other = made(kind, BOB)
    assert problem(replace(one, statement=other.statement))
    assert problem(replace(one, signature=other.signature))
    assert "kind" in problem(replace(one, kind=0))
    wrong = (kind_ for kind_ in (1, 2, 3) if kind_ != one.kind)
    assert all(problem(replace(one, kind=number)) for number in wrong)


def test_what_stands_beside_a_signature_is_what_was_signed() -> None:
    one = made()
    changed = {
        "request": replace(one, request_id="r2"),
        "verdict": replace(one, verdict="deny"),
        "card": replace(one, card=one.card + 1),
        "list of who has to sign": replace(one, terms=TWO),
        "time": replace(one, signed_at=one.signed_at + 1),
    }
    for what, other in changed.items():
        assert problem(other) == f"what was signed names another {what}"


def test_a_person_or_a_key_that_may_not_decide_signs_nothing() -> None:
    ann = TEAM.members[0]
    (device,), (passkey,) = ann.devices, ann.passkeys
    desk, page, ssh = made(), made("passkey"), made("ssh")
    for words, signature, team in (
        ("decides nothing", desk, team_with(role=Role.VIEWER)),
        ("not in the team", desk, replace(TEAM, members=TEAM.members[1:])),
        ("another team", desk, replace(TEAM, id="0" * 64)),
        ("was revoked", desk, team_with(devices=(replace(device, revoked=NOW - 9),))),
        ("is over", desk, team_with(devices=(replace(device, until=NOW - 9),))),
        ("not yet", desk, team_with(devices=(replace(device, since=NOW + 9),))),
        ("has to join again", desk, team_with(devices=(replace(device, signing=""),))),
        ("no such passkey", page, team_with(passkeys=())),
        ("was revoked", page, team_with(passkeys=(replace(passkey, revoked=NOW - 9),))),
        ("where agents run", page, team_with(passkeys=(replace(passkey, agents_machine=True),))),
        ("is no key of", ssh, team_with(keys=())),
    ):
        assert words in problem(signature, team), (words, problem(signature, team))


def test_a_key_proves_that_a_person_was_there() -> None:
    untouched = SigningPerson("ann", ssh=Signer("sk-ssh-ed25519@openssh.com", flags=0))
    software = SigningPerson("ann", ssh=Signer("ssh-ed25519"))
    for words, person in (("not touched", untouched), ("without a person", software)):
        key = SshKey(str(PublicKey.parse(person.ssh.line)))
        assert words in problem(made("ssh", person), team_with(keys=(key,)))
    trusted = SshKey(str(PublicKey.parse(software.ssh.line)), confirmed=True)
    assert not problem(made("ssh", software), team_with(keys=(trusted,)))
    for words, flags in (("no fingerprint", PRESENT), ("has changed", 5 | CAN_BE_COPIED)):
        phone = replace(ANN.phone)
        phone._key, phone.flags = ANN.phone._key, flags
        assert words in problem(made("passkey", SigningPerson("ann", phone=phone)))


def test_an_ssh_signature_for_presence_decides_nothing() -> None:
    one = made("ssh")
    for_presence = ANN.ssh.signature(one.statement, "presence@crabhook")
    assert "something else" in problem(replace(one, signature=for_presence))
    again = ANN.ssh.signature(one.statement, NAMESPACE)
    assert not problem(replace(one, signature=again))
