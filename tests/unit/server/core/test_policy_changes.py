"""Who changed the rules, the settings and the team: on record, and told until somebody answers."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from crabhook.model.actor import Operator
from crabhook.rulebook.files import RULES, RuleFiles
from crabhook.rulebook.receipts import ChangeReceipt, ChangeReceipts, digest_of_text
from crabhook.server.core.documents import OwnTexts
from crabhook.server.core.policy_changes import PolicyChanges
from crabhook.store.opening import open_history, open_writer
from crabhook.store.record import RecordKind
from crabhook.store.recorder import Recorder
from crabhook.store.verify import verify_here

ONE = '[[rule]]\nverdict = "deny"\nmatch = "Bash(rm *)"\n'
TWO = ONE.replace("deny", "allow")
ANN = Operator("op1", "Ann", "laptop", role="admin")


class Server:
    """The part of a server that records the owner's texts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.receipts = ChangeReceipts(folder / "receipts")
        self.files = RuleFiles(folder / "config", receipts=self.receipts)
        self.recorder = Recorder(lambda: open_writer(folder / "state"))
        self.start()

    def start(self) -> None:
        self.changes = PolicyChanges(self.recorder, self.receipts)
        self.texts = OwnTexts(self.recorder, self.files, self.changes)
        self.look()

    def look(self) -> None:
        self.texts.take([self.files.read(RULES)])
        self.changes.take_attestations()

    def edit(self, text: str) -> None:
        self.files.user.parent.mkdir(exist_ok=True)
        self.files.user.write_text(text, "utf-8")
        self.look()

    def records(self, *kinds: RecordKind) -> list[dict[str, object]]:
        with open_history(self.folder / "state") as history:
            assert verify_here(history).sound
            return [json.loads(r.body) for r in history.find() if r.kind in kinds]

    def changed(self) -> list[dict[str, object]]:
        return self.records(RecordKind.RULES_CHANGED)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path)
    yield made
    made.recorder.close()


def test_the_first_version_is_begun_and_needs_no_attestation(server: Server) -> None:
    server.edit(ONE)
    (change,) = server.changed()
    assert (change["from"], change["to"]) == ("", digest_of_text(ONE))
    assert "out_of_band" not in change
    assert server.changes.trouble == ""


def test_a_change_by_an_editor_is_told_until_a_person_attests_it(server: Server) -> None:
    server.edit(ONE)
    server.edit(TWO)
    change = server.changed()[-1]
    assert (change["from"], change["to"]) == (digest_of_text(ONE), digest_of_text(TWO))
    assert change["out_of_band"] is True
    assert "CHANGED BY NO DESK AND NO COMMAND: rules at" in server.changes.trouble
    server.start()
    assert "rules at" in server.changes.trouble, "a restart forgets it"
    receipt = ChangeReceipt("Ann, at a terminal", {"kind": "operator"}, attested=True)
    server.receipts.leave(RULES, digest_of_text(ONE), receipt)
    server.look()
    assert server.changes.trouble, "who attests another text answers for this"
    server.receipts.leave(RULES, digest_of_text(TWO), receipt)
    server.look()
    assert server.changes.trouble == ""
    (attested,) = server.records(RecordKind.ATTESTED)
    assert attested["to"] == digest_of_text(TWO)
    assert "Ann" in str(attested["what"])
    server.start()
    assert server.changes.trouble == ""


def test_a_change_by_a_desk_says_who_made_it(server: Server) -> None:
    server.edit(ONE)
    RuleFiles(server.files.folder, by=ANN, receipts=server.receipts).write(RULES, TWO)
    server.look()
    change = server.changed()[-1]
    assert "out_of_band" not in change
    actor = change["actor"]
    assert isinstance(actor, dict)
    assert (actor["name"], actor["desk"]) == ("Ann", "laptop")
    assert server.changes.trouble == ""
    assert server.records(RecordKind.DOCUMENT)


@pytest.mark.parametrize("seen", [True, False])
def test_a_desks_change_of_a_text_by_hand_answers_for_nothing(server: Server, seen: bool) -> None:
    server.edit(ONE)
    server.files.user.write_text(TWO, "utf-8")
    if seen:
        server.look()
    server.files.write(RULES, TWO + ONE)
    server.look()
    assert any(change.get("out_of_band") for change in server.changed())
    assert "rules at" in server.changes.trouble
    receipt = ChangeReceipt("Ann, at a terminal", {"kind": "operator"}, attested=True)
    server.receipts.leave(RULES, digest_of_text(TWO + ONE), receipt)
    server.look()
    assert server.changes.trouble == ""


def test_several_changes_by_commands_at_once_have_an_author(server: Server) -> None:
    server.edit(ONE)
    server.files.write(RULES, TWO)
    server.files.write(RULES, TWO + ONE)
    server.look()
    assert len(server.changed()) == 2
    assert server.changes.trouble == ""


def test_a_receipt_that_was_not_made_with_the_key_is_none(server: Server) -> None:
    server.edit(ONE)
    server.files.write(RULES, TWO)
    digest = digest_of_text(TWO)
    assert server.receipts.find(RULES, digest)
    (file,) = server.receipts.folder.glob("*.json")
    text = file.read_text("utf-8")
    for wrong in (text.replace("operator", "admin"), "{}", "[", text.replace(digest, "0" * 64)):
        file.write_text(wrong, "utf-8")
        assert server.receipts.find(RULES, digest) is None
    assert server.receipts.find("trusted", digest) is None


def test_settings_are_compared_with_what_was_seen_before(server: Server) -> None:
    kind = RecordKind.SETTINGS_CHANGED
    for text in ("", "a", "a", "b"):
        server.changes.look_at(kind, "settings.toml", text and digest_of_text(text), "a file")
    begun, changed = server.records(kind)
    assert "out_of_band" not in begun
    assert (changed["from"], changed["out_of_band"]) == (digest_of_text("a"), True)
    assert "settings.toml at" in server.changes.trouble


def test_a_team_that_changed_is_signed_by_its_passphrase(server: Server) -> None:
    signer = ChangeReceipt("a person with the passphrase", {"kind": "team"})
    for text in ("1", "1", "2"):
        digest = digest_of_text(text)
        server.changes.look_at(RecordKind.TEAM_CHANGED, "team", digest, signer.words, signer)
    assert len(server.records(RecordKind.TEAM_CHANGED)) == 2
    assert server.changes.trouble == ""
