"""An allow on record that other people signed than its own terms ask for is found, and no other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.broker.messages import Voted
from crabhook.hook.statement import SignedTerms, terms_part
from crabhook.model.actor import Operator, Role, ShownBy
from crabhook.model.ballot import Ballot, Terms, Vote, is_complete
from crabhook.model.card import Card
from crabhook.model.decision import Decision, Verdict
from crabhook.model.signing import DecisionSignature
from crabhook.model.statements import signed_terms
from crabhook.store.actors import decider_data
from crabhook.store.change import happened
from crabhook.store.entries import of_ballot, policy_changed
from crabhook.store.opening import open_writer
from crabhook.store.record import RecordKind
from crabhook.store.recorded_past import RecordedPast, Waited
from crabhook.store.signed_decisions import SignedDecisions
from crabhook.store.signed_terms import SignedAnswer, Unchecked, terms_finding
from crabhook.team.decision_signatures import DESK, PASSKEY
from crabhook.team.membership import Machine, Member, Team, TeamGroup
from crabhook.v1 import permission_pb2 as pb
from tests.support.playbook import bash
from tests.support.signing_people import NOW, Signing, SigningPerson, SigningTeam
from tests.unit.hook.test_quorum import BALLOTS, VOTERS, VOTES, after
from tests.unit.store.making import entry, records, verified

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from crabhook.model.ballot import Voter
    from crabhook.store.record import Entry

ANN, BOB, CAT = (SigningPerson(name) for name in ("ann", "bob", "cat"))
PEOPLE = SigningTeam((ANN, BOB, CAT))
THEN = PEOPLE.team
"""The team of the time; its file is called "then", and each newer one "now"."""
TEN_MINUTES = 600.0


def signed(
    person: SigningPerson, *terms: SignedTerms, kind: str = "desk", **told: Any
) -> DecisionSignature:
    request = pb.PermissionRequest(request_id="r1", secret="s", platform="claude", payload=b"{}")
    request.stance = pb.STANCE_GATE
    request.strict.team_id = bytes.fromhex(told.pop("team", THEN.id))
    request.request_id = told.pop("request", "r1")
    return Signing(PEOPLE, request, pb.Reply(), card=1, terms=terms_part(terms), **told).kept(
        person, kind
    )


def by_all(*people: SigningPerson, terms: Sequence[SignedTerms]) -> tuple[DecisionSignature, ...]:
    return tuple(signed(person, *terms) for person in people)


def team_file(digest: str, at: float = NOW - 3600, before: str = "", name: str = "team") -> Entry:
    """The record of a new file of the team, which has that digest."""
    hashes = {"name": name, "from": before, "to": digest}
    return policy_changed(
        RecordKind.TEAM_CHANGED, "changed", hashes, at, actor={}, out_of_band=False
    )


def asked(at: float, request: str = "r1") -> Entry:
    return entry(RecordKind.ASKED, at, card=1, request_id=request, body={"event": "PreToolUse"})


def allowed(*signatures: DecisionSignature, machine: str = "", verdict: str = "allow") -> Entry:
    person = signatures[0].operator
    body = decider_data(Operator(person, person[2:], "laptop")) | {"input": {"command": "ls"}}
    body |= {"machine": machine} if machine else {}
    about: dict[str, Any] = {"verdict": verdict, "card": 1, "request_id": "r1"}
    return entry(RecordKind.DECIDED, NOW, body=body, signed=signatures, **about)


class Outcome(NamedTuple):
    """What the record says of the terms: how many are kept, what is false, what is unchecked."""

    kept: int
    false: list[str]
    unchecked: dict[str, int]


def outcome(folder: Path, *written: Entry, last_file: str = "", **files: Team) -> Outcome:
    """Write these entries, and verify the record by files of the team."""
    store = open_writer(folder)
    store.write([happened(each) for each in written])
    store.close()
    assert verified(folder).sound
    past = RecordedPast()
    decisions = SignedDecisions(files or {"then": THEN}, past)
    for record in records(folder):
        decisions.take(record)
        past.take(record)
    past.last_file = last_file
    false = [finding.what for finding in decisions.false]
    unchecked = {why.value: number for why, number in decisions.unchecked.items()}
    terms: Any = decisions.values["terms"]
    numbers = {"kept": decisions.kept, "lacking": len(decisions.lacking)}
    assert terms == {**numbers, "not_checked": unchecked}
    return Outcome(decisions.kept, false, unchecked)


def kept(number: int = 1) -> Outcome:
    return Outcome(number, [], {})


def unchecked(why: str) -> Outcome:
    return Outcome(0, [], {why: 1})


OF_ANN, OF_BOB = SignedTerms(1, ("@anns",)), SignedTerms(1, ("bob",))
NOT_SELF, STEP_UP = SignedTerms(1, not_self=True), SignedTerms(1, step_up=True)
LADDER = SignedTerms(1, ("@anns",), after=((600_000, "@bobs"),))
MACHINES = Machine("build1", "0" * 64), Machine("old", "1" * 64, revoked=NOW - 9, owner="o-bob")
OF_ANNS_MACHINE = replace(THEN, owner="o-ann", machines=MACHINES)


@pytest.mark.parametrize(
    ("words", "entries"),
    [
        ("1 of 2 have signed", (allowed(signed(ANN, SignedTerms(2))),)),
        ("0 of 1 people of @anns have", (allowed(signed(BOB, OF_ANN)),)),
        ("1 of 2 people of @anns, bob", (allowed(signed(ANN, SignedTerms(2, ("@anns", "bob")))),)),
        # The terms of all who signed count together, and each rule has its own people.
        ("0 of 1 people of bob", (allowed(signed(ANN, OF_ANN), signed(CAT, OF_ANN, OF_BOB)),)),
        ("0 of 1 have signed the answer by a passkey", (allowed(signed(ANN, STEP_UP)),)),
        ("the owner of the machine does not count", (allowed(signed(ANN, NOT_SELF)),)),
        # Of two hooks of a card each has its own signatures.
        (
            "1 of 2 have signed the answer (bob)",
            (
                allowed(
                    *by_all(ANN, BOB, terms=[SignedTerms(2)]),
                    signed(BOB, SignedTerms(2), request="r2"),
                ),
            ),
        ),
        # A person who signs twice, by two keys, is one.
        (
            "1 of 2 have signed the answer (ann)",
            (allowed(signed(ANN, SignedTerms(2)), signed(ANN, SignedTerms(2), kind="ssh")),),
        ),
        ("0 of 1 people of @anns", (asked(NOW - 60), allowed(signed(BOB, LADDER)))),
    ],
)
def test_a_forged_allow_lacks_whom_its_own_terms_ask_for(
    tmp_path: Path, words: str, entries: tuple[Entry, ...]
) -> None:
    (decided,) = (each for each in entries if each.kind is RecordKind.DECIDED)
    legs = list(dict.fromkeys(each.request_id for each in decided.signed))
    *before, _ = entries
    forged = replace(decided, body={**decided.body, "legs": legs})
    result = outcome(tmp_path, team_file("then"), *before, forged, then=OF_ANNS_MACHINE)
    (what,) = result.false
    assert what.startswith("its decision lacks signatures: ")
    assert words in what
    assert not result.unchecked


def test_a_false_signature_does_not_count_for_the_terms(tmp_path: Path) -> None:
    true, other = by_all(ANN, BOB, terms=[SignedTerms(2)])
    forged = replace(other, signature=bytes(64))
    result = outcome(tmp_path, team_file("then"), allowed(true, forged))
    assert ["does not count" in result.false[0], "1 of 2" in result.false[1]] == [True, True]


def test_an_allow_that_the_right_people_signed_is_sound(tmp_path: Path) -> None:
    two = [SignedTerms(2), OF_BOB]
    sound = {
        "two": (allowed(*by_all(ANN, BOB, terms=two)),),
        "step-up": (allowed(signed(ANN, STEP_UP, kind="passkey")),),
        "ssh": (allowed(signed(ANN, STEP_UP, kind="ssh")),),
        "not-self": (allowed(signed(BOB, NOT_SELF)),),
        "ladder": (asked(NOW - TEN_MINUTES), allowed(signed(BOB, LADDER))),
        "again": (asked(NOW - TEN_MINUTES), asked(NOW - 9), allowed(signed(BOB, LADDER))),
        "at-once": (asked(NOW - 1), allowed(signed(ANN, LADDER))),
    }
    for name, entries in sound.items():
        result = outcome(tmp_path / name, team_file("then"), *entries, then=OF_ANNS_MACHINE)
        assert result == kept(), (name, result)


def test_a_vote_that_is_signed_for_two_hooks_of_a_card_is_sound(tmp_path: Path) -> None:
    terms, vote = Terms(2), Operator("o-ann", "ann", "laptop")
    signatures = tuple(signed(ANN, SignedTerms(2), request=leg) for leg in ("r1", "r2"))
    legs = tuple(bash(leg, "ls").leg("") for leg in ("r1", "r2"))
    card = Card(1, legs, 0.0, ballot=Ballot((terms,), 0.0, proposal=Decision(Verdict.ALLOW)))
    voted = of_ballot(Voted(card, Vote(vote, 0.0, signed=signatures)), NOW, 0.0)
    result = outcome(tmp_path, team_file("then"), voted)
    assert (result.false, len(voted.signed)) == ([], 2)


def test_what_names_nobody_or_allows_nothing_has_no_terms_to_hold(tmp_path: Path) -> None:
    bare = outcome(tmp_path / "bare", team_file("then"), allowed(signed(ANN)))
    denied = allowed(signed(ANN, SignedTerms(2), verdict="deny"), verdict="deny")
    for result in (bare, outcome(tmp_path / "denied", team_file("then"), denied)):
        assert result == kept(0)


def test_the_team_of_then_counts_and_without_its_file_nobody_says_that_a_person_lacked(
    tmp_path: Path,
) -> None:
    changed = team_file("now", NOW + 3600, before="then")
    now = replace(THEN, version=6, groups=(TeamGroup("anns", ("o-cat",)),))
    of_ann = team_file("then"), allowed(signed(ANN, OF_ANN)), changed
    assert outcome(tmp_path / "group", *of_ann, now=now) == unchecked("team")
    assert outcome(tmp_path / "file", *of_ann, then=THEN, now=now) == kept()
    of_cat = team_file("then"), allowed(signed(CAT, OF_ANN)), changed
    (what,) = outcome(tmp_path / "wrong", *of_cat, then=THEN, now=now).false
    assert "0 of 1 people of @anns" in what
    # The newest file counts where no record tells which was in force.
    newest = outcome(tmp_path / "newest", allowed(signed(CAT, OF_ANN)), then=THEN, now=now)
    assert newest == kept()
    # No team makes one person two.
    alone = team_file("then"), allowed(signed(ANN, SignedTerms(2))), changed
    (what,) = outcome(tmp_path / "alone", *alone, now=now).false
    assert "1 of 2 have signed" in what


def test_a_signer_who_has_left_the_team_since_was_right_then(tmp_path: Path) -> None:
    both = allowed(*by_all(ANN, BOB, terms=[SignedTerms(2)]))
    without_bob = replace(
        THEN, version=6, members=tuple(m for m in THEN.members if m.name != "bob")
    )
    left = _since(both)
    assert outcome(tmp_path / "now", *left, now=without_bob) == unchecked("left")
    assert outcome(tmp_path / "then", *left, then=THEN, now=without_bob) == kept()
    nobody = replace(THEN, version=6, members=())
    assert outcome(tmp_path / "all", *left, now=nobody) == unchecked("left")
    # What somebody signed who cannot be verified asks for nobody.
    of_five = allowed(signed(ANN, SignedTerms(1)), signed(BOB, SignedTerms(5)))
    result = outcome(tmp_path / "five", *_since(of_five), now=without_bob)
    assert result == kept()
    # A person of whom the team had never heard is no signer who left.
    never = outcome(tmp_path / "never", team_file("then"), both, then=without_bob)
    assert "who signed is not in the team" in never.false[0]
    assert "1 of 2 have signed the answer (ann)" in never.false[1]


def _since(decided: Entry) -> tuple[Entry, ...]:
    """A decision, since which the team has changed."""
    return team_file("then"), decided, team_file("now", NOW + 3600, before="then")


@pytest.mark.parametrize(
    ("kind", "changed"),
    [
        ("desk", {"role": Role.VIEWER}),
        ("desk", {"devices": ()}),
        ("ssh", {"keys": ()}),
        ("passkey", {"passkeys": ()}),
    ],
)
def test_a_right_or_a_key_that_was_taken_since_makes_no_signature_false(
    tmp_path: Path, kind: str, changed: dict[str, Any]
) -> None:
    ann, *others = THEN.members
    now = replace(THEN, version=6, members=(replace(ann, **changed), *others))
    one = allowed(signed(ANN, SignedTerms(1), kind=kind))
    assert outcome(tmp_path / "now", *_since(one), now=now) == unchecked("left")
    assert outcome(tmp_path / "then", *_since(one), then=THEN, now=now) == kept()
    # By the file of then nobody had signed it.
    assert len(outcome(tmp_path / "false", team_file("now"), one, now=now).false) == 2


def test_a_person_with_two_keys_one_of_which_is_gone_is_no_second_person(tmp_path: Path) -> None:
    ann, *others = THEN.members
    now = replace(THEN, version=6, members=(replace(ann, keys=()), *others))
    twice = allowed(signed(ANN, SignedTerms(2)), signed(ANN, SignedTerms(2), kind="ssh"))
    (what,) = outcome(tmp_path, *_since(twice), now=now).false
    assert "1 of 2 have signed the answer (ann)" in what


def test_a_file_of_the_team_that_came_about_then_may_have_been_in_force_or_not(
    tmp_path: Path,
) -> None:
    forged = allowed(signed(BOB, OF_ANN))
    moment = team_file("then"), forged, team_file("now", NOW + 1, before="then")
    assert outcome(tmp_path / "soon", *moment) == unchecked("team")
    # A server whose file is a copy gets it a moment after the record does.
    copied = team_file("now"), team_file("then", NOW - 1, before="now"), forged
    assert outcome(tmp_path / "copied", *copied) == unchecked("team")
    unknown = outcome(tmp_path / "before", forged, team_file("then", NOW + 3600))
    assert unknown == unchecked("team")
    first = outcome(tmp_path / "from", forged, team_file("now", NOW + 3600, before="then"))
    assert len(first.false) == 1
    provider = team_file("x", NOW - 9, name="what the identity provider takes away")
    assert len(outcome(tmp_path / "other", team_file("then"), provider, forged).false) == 1
    # A record without any change of the team has the digest beside it.
    assert outcome(tmp_path / "none", forged) == unchecked("team")
    assert len(outcome(tmp_path / "beside", forged, last_file="then").false) == 1


def test_what_the_record_does_not_tell_is_not_checked(tmp_path: Path) -> None:
    early = allowed(signed(BOB, LADDER))
    assert outcome(tmp_path / "never-asked", team_file("then"), early) == unchecked("waited")
    back = team_file("then"), asked(NOW + 3600), early
    assert outcome(tmp_path / "clock", *back) == unchecked("waited")
    # The card had waited for ten minutes, and this hook of it had not.
    joined = team_file("then"), asked(NOW - TEN_MINUTES, "r0"), asked(NOW - 60), early
    assert outcome(tmp_path / "joined", *joined) == unchecked("waited")
    # By the record's clock it was not quite due.
    almost = team_file("then"), asked(NOW - TEN_MINUTES + 1), early
    assert outcome(tmp_path / "almost", *almost) == unchecked("waited")
    ended = asked(NOW - 60), allowed(signed(ANN, LADDER)), early
    result = outcome(tmp_path / "ended", team_file("then"), *ended)
    assert result == Outcome(1, [], {"waited": 1})
    for machine in ("build1", "old"):
        mine = allowed(signed(ANN, NOT_SELF), machine=machine)
        result = outcome(tmp_path / machine, team_file("then"), mine, then=OF_ANNS_MACHINE)
        assert result == unchecked("owner")


SELVES = tuple(Member(voter.id, voter.name, Role.DECIDER) for voter in VOTERS)
GROUPS = {
    name: tuple(v.id for v in VOTERS if name in v.groups) for v in VOTERS for name in v.groups
}


@given(BALLOTS, st.lists(VOTES, max_size=5), st.integers(0, 9_000), st.integers(0, 9_000))
def test_what_the_broker_lets_through_is_never_a_finding(
    ballot: Ballot, votes: list[tuple[Voter, ShownBy, float]], less: int, more: int
) -> None:
    now = round(1000 * max((at for *_, at in votes), default=0.0))
    signatures = tuple(
        DecisionSignature(
            "r1",
            DESK if shown is ShownBy.PASSPHRASE else PASSKEY,
            voter.id,
            "k",
            NOW,
            "allow",
            1,
            signed_terms(ballot),
            signature=b"",
        )
        for voter, shown, _ in votes
    )
    owner = next(v.id for v in VOTERS if v.own) if ballot.electorate.owner_known else ""
    groups = tuple(TeamGroup(name[1:], ids) for name, ids in GROUPS.items())
    team = Team(THEN.id, "ours", 5, SELVES, groups=groups, owner=owner)
    exact = SignedAnswer(signatures, (), "", Waited(now, now))
    rough = replace(exact, waited=Waited(now - less, now + more))
    if is_complete(after(ballot, votes)):
        assert not terms_finding(exact, team).lacks
        finding = terms_finding(rough, team)
        assert not finding.lacks or finding.unless is Unchecked.WAITED
    # A person who has left since is an unknown, and no lack of people.
    gone = replace(exact, true=signatures[1:], left=signatures[:1])
    if is_complete(after(ballot, votes)) and terms_finding(gone, team).lacks:
        assert terms_finding(gone, team).unless in {Unchecked.OWNER, Unchecked.LEFT}


def test_a_list_that_nobody_can_read_is_a_false_signature(tmp_path: Path) -> None:
    request = pb.PermissionRequest(request_id="r1", secret="s", platform="claude", payload=b"{}")
    request.strict.team_id = bytes.fromhex(THEN.id)
    garbled = Signing(PEOPLE, request, pb.Reply(), card=1, terms=b"\0\0\0\1").kept(ANN)
    (what,) = outcome(tmp_path, team_file("then"), allowed(garbled)).false
    assert "cannot be read" in what
