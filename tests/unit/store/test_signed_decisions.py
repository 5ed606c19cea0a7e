"""What people signed for strict hooks is on record, and is verified by the team's file alone."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from crabhook.hook.statement import of_call, of_reply, statement
from crabhook.model.actor import Operator, Role
from crabhook.model.signing import DecisionSignature
from crabhook.model.statements import vote_of
from crabhook.store.actors import decider_data
from crabhook.store.change import happened
from crabhook.store.opening import open_writer
from crabhook.store.record import Entry, RecordKind
from crabhook.store.recorded_past import RecordedPast
from crabhook.store.signed_decisions import SignedDecisions
from crabhook.team.membership import Device, Member, Team
from tests.support.authenticator import FAR
from tests.support.signing_people import TWO
from tests.unit.store.making import NOON, entry, records, verified

if TYPE_CHECKING:
    from pathlib import Path

KEYS = {name: Ed25519PrivateKey.generate() for name in ("ann", "bob")}
TEAM_ID = sha256(b"ours").hexdigest()


def member(name: str, **device: Any) -> Member:
    signing = KEYS[name].public_key().public_bytes_raw().hex()
    made = Device(f"d-{name}", "laptop", "", 0, FAR, signing=signing)
    return Member(f"o-{name}", name, Role.DECIDER, devices=(replace(made, **device),))


TEAM = Team(TEAM_ID, "ours", 1, (member("ann"), member("bob")))
SECRET = "ghp_" + "a1B2" * 9


def signed(name: str = "ann", team: str = TEAM_ID, **told: Any) -> DecisionSignature:
    about: dict[str, Any] = {"operator": f"o-{name}", "key": f"d-{name}", "verdict": "allow"}
    about |= {"card": 1, "terms": b"", "signed_at": int(NOON * 1000)} | told
    bare = DecisionSignature("r1", 1, signature=b"", **about)
    call = of_call(
        team=bytes.fromhex(team),
        request_id="r1",
        ticket=bytes(32),
        platform="claude",
        stance=1,
        payload=sha256(SECRET.encode()).digest(),
    )
    text = statement(call, of_reply(b"{}", b"", 0), vote_of(bare))
    return replace(bare, statement=text, signature=KEYS[name].sign(text))


def decided(*signatures: DecisionSignature, kind: RecordKind = RecordKind.DECIDED) -> Entry:
    body = decider_data(Operator("o-ann", "ann", "laptop")) | {"input": {"command": SECRET}}
    about: dict[str, Any] = {"verdict": "allow", "card": 1, "request_id": "r1"}
    return entry(kind, body=body, signed=signatures, **about)


def proven(
    folder: Path, *written: Entry, team: Team = TEAM, of_then: bool = True
) -> SignedDecisions:
    """Write these entries; verify the record, and what people signed.

    `of_then`: the record says that the team's file has not changed.
    """
    store = open_writer(folder)
    store.write([happened(each) for each in written])
    store.close()
    assert verified(folder).sound
    past = RecordedPast("f5" if of_then else "")
    found = SignedDecisions({"f5": team}, past)
    for record in records(folder):
        found.take(record)
        past.take(record)
    return found


def test_signatures_are_on_record_as_they_were_made_beside_a_secret_that_is_not(
    tmp_path: Path,
) -> None:
    both = signed(terms=TWO), signed("bob", terms=TWO)
    voted = decided(both[0], kind=RecordKind.VOTED)
    found = proven(tmp_path, entry(), voted, decided(*both))
    terms = {"kept": 1, "lacking": 0, "not_checked": {}}
    assert found.values == {"true": 3, "false": 0, "unknown": 0, "terms": terms}
    assert all(SECRET not in record.body for record in records(tmp_path))
    assert "3 times: 3 are true" in " ".join(found.told())


def test_what_was_not_signed_so_by_that_person_is_a_fault(tmp_path: Path) -> None:
    one = signed()
    wrong = {
        "another card": signed(card=2),
        "to deny": signed(verdict="deny"),
        "did not sign it": signed("bob"),
        "another team": signed(team=sha256(b"theirs").hexdigest()),
        "another request": replace(one, request_id="r2"),
        "does not count": replace(one, signature=bytes(64)),
        "names another": replace(one, key="d-bob"),
        "names another verdict": replace(signed(verdict="deny"), verdict="allow"),
        "names another card": replace(signed(card=2), card=1),
        "names another list": replace(signed(terms=TWO), terms=b""),
        "no device": signed(key="d-none"),
        "longer than": replace(one, statement=one.statement[:-1]),
        "kind": replace(one, kind=7),
    }
    for place, (words, each) in enumerate(wrong.items()):
        found = proven(tmp_path / str(place), decided(each))
        assert [words in finding.what for finding in found.false] == [True], (words, found.false)
    twice = proven(tmp_path / "twice", decided(one), decided(one))
    assert [finding.what for finding in twice.false] == [
        "a signature of its decision is none: the same signature is on record twice"
    ]


def test_a_key_that_was_revoked_before_is_a_fault_and_one_revoked_later_is_none(
    tmp_path: Path,
) -> None:
    for revoked, false in ((int(NOON) - 60, 1), (int(NOON) + 60, 0)):
        team = replace(TEAM, members=(member("ann", revoked=revoked), member("bob")))
        found = proven(tmp_path / str(revoked), decided(signed()), team=team)
        assert len(found.false) == false
    gone = proven(
        tmp_path / "gone", decided(signed()), team=replace(TEAM, members=()), of_then=False
    )
    terms = {"kept": 0, "lacking": 0, "not_checked": {}}
    assert gone.values == {"true": 0, "false": 0, "unknown": 1, "terms": terms}
