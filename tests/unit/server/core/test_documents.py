"""The documents of a shared record: the server that writes it changes them, and others propose."""

from __future__ import annotations

import sys
from hashlib import sha256
from time import time
from typing import TYPE_CHECKING

import pytest

from crabhook.model.actor import Operator
from crabhook.rulebook.files import RULES, TRUSTED, RuleFiles, RulesError
from crabhook.server.address import Tokens
from crabhook.server.core.documents import LARGEST, Documents, OwnTexts
from crabhook.server.core.rules_in_force import RulesInForce
from crabhook.store.interface import Proposal
from crabhook.store.opening import open_writer
from crabhook.store.record import RecordKind
from crabhook.store.recorder import Recorder
from crabhook.team.folder import TEAM
from tests.support.team import founded
from tests.unit.store.making import records, verified

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ALLOW = '[[rule]]\nverdict = "allow"\nmatch = "Bash(ls *)"\n'
DENY = '[[rule]]\nverdict = "deny"\nmatch = "Bash(ls *)"\n'
ANN = Operator("o1", "ann", "laptop")


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    made = Recorder(lambda: open_writer(tmp_path / "state"))
    yield made
    made.close()


def documents(recorder: Recorder, folder: Path, text: str = ALLOW, **wrong: str) -> Documents:
    """The documents of the record, with this machine's own rules."""
    assert recorder.journal is not None
    made = Documents(recorder, recorder.journal, wrong)
    path = folder / "own.toml"
    path.write_text(text)
    made.begin({RULES: path})
    return made


def proposal(follows: int = 1, text: str = DENY, name: str = RULES) -> Proposal:
    return Proposal("p1", name, follows, text, "bob", "tower")


def told(folder: Path) -> list[str]:
    """What the documents' own records say; who changed the policy has a record beside them."""
    documents = (record for record in records(folder) if record.kind == RecordKind.DOCUMENT)
    return [str(record.data()["what"]) for record in documents]


def test_the_first_server_gives_its_own_rules_and_says_so_on_record(
    recorder: Recorder, tmp_path: Path
) -> None:
    made = documents(recorder, tmp_path)
    assert made.read(RULES) == ALLOW
    (what,) = told(tmp_path / "state")
    assert what.startswith("the document rules was begun by the server on ")
    assert what.endswith(f", of {tmp_path}/own.toml: version 1")


async def test_a_server_without_a_team_never_loads_its_reader(
    recorder: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reader brings cryptography: every hook would wait for it, just after a fail-over."""
    made = documents(recorder, tmp_path)
    monkeypatch.setitem(sys.modules, "crabhook.team.team_file", None)
    async with made.kept(RulesInForce(RuleFiles(tmp_path))):
        made.changed(TEAM)


def test_a_later_server_goes_by_what_is_there_and_says_that_its_own_is_not_used(
    recorder: Recorder, tmp_path: Path
) -> None:
    documents(recorder, tmp_path)
    later = documents(recorder, tmp_path, DENY)
    assert later.read(RULES) == ALLOW
    (said,) = later.unused
    assert said.startswith(f"{tmp_path}/own.toml is not used")
    assert documents(recorder, tmp_path, ALLOW).unused == ()
    assert documents(recorder, tmp_path, "").unused == ()


def test_what_an_operator_writes_is_on_record_with_who_it_was(
    recorder: Recorder, tmp_path: Path
) -> None:
    made = documents(recorder, tmp_path)
    before = made.edition(RULES)
    RuleFiles(tmp_path, shared=made, by=ANN).write(RULES, DENY)
    assert made.edition(RULES) != before
    assert told(tmp_path / "state")[-1] == (
        "the document rules was changed by ann at laptop: version 2"
    )
    assert documents(recorder, tmp_path).read(RULES) == DENY
    assert verified(tmp_path / "state").sound


def test_a_file_of_the_same_name_is_not_read(recorder: Recorder, tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_text(DENY)
    (rule,) = RuleFiles(tmp_path, shared=documents(recorder, tmp_path)).user_rules().rules
    assert rule.verdict == "allow"
    assert rule.where.startswith("rules in the shared record")


async def test_a_proposal_that_follows_what_is_there_is_taken(
    recorder: Recorder, tmp_path: Path
) -> None:
    made, heard = documents(recorder, tmp_path), list[str]()
    made.changed = heard.append
    assert await made.answered(proposal()) == ""
    assert (made.read(RULES), heard) == (DENY, [RULES])
    assert (
        told(tmp_path / "state")[-1]
        == "the document rules was changed by the OS user bob at the host tower: version 2"
    )
    why = await made.answered(proposal(text=ALLOW))
    assert (
        "is of version 2 by now, by the OS user bob at the host tower, and this follows version 1"
        in why
    )
    assert made.read(RULES) == DENY


async def test_a_proposal_that_cannot_be_used_changes_nothing(
    recorder: Recorder, tmp_path: Path
) -> None:
    made = documents(recorder, tmp_path)

    def refuse(_name: str, text: str) -> None:
        if text == "nonsense":
            raise RulesError("line 1: nonsense")

    made.check = refuse
    made.is_signed = lambda one: one.signature == b"right"
    signed = Proposal("p1", RULES, 1, "nonsense", "bob", "tower", b"right")
    for wrong, why in (
        (proposal(), "passphrase"),
        (signed, "line 1: nonsense"),
        (proposal(name="head"), "there is no document head"),
        (proposal(text="#" * (LARGEST + 1)), "larger than"),
    ):
        assert why in await made.answered(wrong)
    assert made.read(RULES) == ALLOW


async def test_rules_that_are_not_those_on_record_are_not_used_until_new_ones_are_proposed(
    recorder: Recorder, tmp_path: Path
) -> None:
    documents(recorder, tmp_path)
    made = documents(recorder, tmp_path, rules="the document rules is not what was written here")
    law = RulesInForce(RuleFiles(tmp_path, shared=made))
    law.look()
    assert law.trouble.startswith("NO RULES ARE in force: the document rules is not what")
    with pytest.raises(RulesError, match="log verify"):
        made.write(RULES, DENY, ANN)
    assert await made.answered(proposal()) == ""
    law.look()
    assert law.trouble == ""
    assert law.state() == "rules 1 ok"


async def test_a_proposal_names_an_operator_where_the_teams_authority_signed_that_it_is_they(
    recorder: Recorder, tmp_path: Path
) -> None:
    team = founded(tmp_path / "team", time())
    team.let_in("ann")
    team.let_in("eve")
    team.revoke("eve")
    made = documents(recorder, tmp_path)
    made.begin_team(team.reader())
    made.is_signed = lambda one: one.signature == b"right"

    def asked(name: str, desk: str, signature: bytes = b"right") -> Proposal:
        return Proposal("p", RULES, 1, DENY, name, desk, signature)

    assert await made.answered(asked("o-ann", "d-ann")) == ""
    told_last = records(tmp_path / "state")[-1].data()
    known = {"kind": "operator", "id": "o-ann", "name": "ann", "desk": "ann's", "role": "decider"}
    assert told_last["actor"] == known
    assert told_last["what"] == "the document rules was changed by ann at ann's: version 2"
    for name, desk, signature in (
        ("o-ann", "d-ann", b"wrong"),
        ("ann", "ann's", b"right"),
        ("o-ann", "d-eve", b"right"),
        ("o-eve", "d-eve", b"right"),
    ):
        one = asked(name, desk, signature)
        said = made.proposer(one, signed=made.is_signed(one))
        assert said == Operator("", f"the OS user {name}", f"the host {desk}")


def test_no_signature_of_one_proposal_is_of_another() -> None:
    one = proposal()
    others = [proposal(follows=2), proposal(text=ALLOW), proposal(name="team")]
    assert len({each.signed for each in (one, *others)}) == 4


def owned(recorder: Recorder, folder: Path) -> RulesInForce:
    """The law of a server whose record is of this machine alone."""
    files = RuleFiles(folder)
    law = RulesInForce(files, taken=OwnTexts(recorder, files).take)
    law.look()
    return law


def test_a_rule_file_that_was_changed_is_a_record_before_it_decides(
    recorder: Recorder, tmp_path: Path
) -> None:
    law = owned(recorder, tmp_path)
    assert records(tmp_path / "state") == []
    path = tmp_path / "rules.toml"
    for text in (ALLOW, DENY):
        path.write_text(text)
        law.look()
    kept = [one.data() for one in records(tmp_path / "state")]
    assert [(one["document"], one["version"]) for one in kept] == [(RULES, 1), (RULES, 2)]
    assert [one["to"] for one in kept] == [
        sha256(one.encode()).hexdigest() for one in (ALLOW, DENY)
    ]
    assert kept[1]["from"] == kept[0]["to"]
    assert f"the file {path}, of the OS user " in kept[1]["what"]
    path.write_text("this is no rule file")
    law.look()
    assert len(records(tmp_path / "state")) == 2
    path.unlink()
    law.look()
    assert "version 3" in told(tmp_path / "state")[-1]
    assert verified(tmp_path / "state").sound


def test_a_rule_file_that_was_changed_without_a_server_is_recorded_at_the_next_start(
    recorder: Recorder, tmp_path: Path
) -> None:
    (tmp_path / "rules.toml").write_text(ALLOW)
    owned(recorder, tmp_path)
    owned(recorder, tmp_path)
    assert len(records(tmp_path / "state")) == 1
    (tmp_path / "rules.toml").write_text(DENY)
    (tmp_path / "trusted.toml").write_text("# none\n")
    owned(recorder, tmp_path)
    assert [one.data()["document"] for one in records(tmp_path / "state")] == [
        RULES,
        RULES,
        TRUSTED,
    ]


def test_the_servers_of_a_record_admit_the_token_of_the_first(
    recorder: Recorder, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = (Tokens(name * 8, file=f"/{name}/token") for name in ("a", "b"))
    for server in (first, second):
        server.shared.digest = documents(recorder, tmp_path).begin_token(server)
    admitted = [
        [server.whose(f"Bearer {token}") for token in ("a" * 8, "b" * 8, "c" * 8, "")]
        for server in (first, second)
    ]
    assert admitted == [["", None, None, None], ["", "", None, None]]
    assert "hooks that show the token in /b/token" in caplog.text
    assert "/a/token here" in caplog.text
    assert all("a" * 8 not in str(one.data()) for one in records(tmp_path / "state"))


def test_a_token_that_was_replaced_is_admitted_no_more(recorder: Recorder, tmp_path: Path) -> None:
    old, new = (Tokens(name * 8, file="/home/token") for name in ("a", "n"))
    assert documents(recorder, tmp_path).begin_token(old)
    new.shared.digest = documents(recorder, tmp_path).begin_token(new)
    assert (new.whose("Bearer " + "a" * 8), new.whose("Bearer " + "n" * 8)) == (None, "")


def test_a_token_that_was_put_into_the_database_by_hand_is_not_admitted(
    recorder: Recorder, tmp_path: Path
) -> None:
    documents(recorder, tmp_path).begin_token(Tokens("a" * 8, file="/a/token"))
    there = documents(recorder, tmp_path, token="it was changed by hand")
    server = Tokens("b" * 8, file="/b/token")
    server.shared.digest = there.begin_token(server)
    assert server.whose("Bearer " + "a" * 8) is None
