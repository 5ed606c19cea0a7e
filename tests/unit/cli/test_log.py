"""`crabhook log`: what it shows, what it proves, and what it lets through to the terminal."""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from crabhook import config
from crabhook.cli import main
from crabhook.cli.verbs import past
from crabhook.hook.statement import SignedTerms
from crabhook.model.actor import OWNER, Operator, RuleActor
from crabhook.model.proof import CallProof
from crabhook.server.core.policy_changes import PolicyState
from crabhook.store.actors import decider_data
from crabhook.store.change import happened, written
from crabhook.store.opening import open_writer
from crabhook.store.record import POLICY, Document, Entry, RecordKind, iso
from crabhook.team.call_signature import SignedCall
from crabhook.team.edit_team import with_passkey
from crabhook.team.folder import TEAM
from crabhook.team.membership import TeamGroup
from crabhook.team.passkeys import challenge_of
from tests.support.authenticator import Authenticator
from tests.support.team import founded
from tests.unit.cli.pastrecord import decided
from tests.unit.store.making import NOON, decision, entry, laid_open
from tests.unit.store.test_signed_terms import ANN, BOB, allowed, signed, team_file

HOSTILE = "ls \x1b[2J\u202e\nrm"
Read = Callable[..., tuple[int, str, str]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The state folder of a user who has decided a few calls."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    folder = tmp_path / "crabhook"
    store = open_writer(folder)
    body = {"by": "operator", "waited": 2.0, "input": {"command": HOSTILE}}
    store.write(
        [
            happened(entry(), entry(RecordKind.ASKED, card=1), decision(1, body=body)),
            happened(decision(2, "deny", at=NOON + 60, tool="Edit", session="s2")),
            happened(entry(RecordKind.DELIVERED, NOON + 61, card=1, body={"whole": False})),
        ]
    )
    store.close()
    return folder


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str]) -> Read:
    """A way to run the command; returns its exit code and what it wrote."""

    def run_log(*words: str) -> tuple[int, str, str]:
        code = main(["log", *words])
        return (code, *capsys.readouterr())

    return run_log


def test_decisions_are_listed_one_a_line(run: Read) -> None:
    code, out, _ = run()
    lines = out.splitlines()
    assert code == 0
    assert len(lines) == 2
    assert "#1  allow" in lines[0]
    assert "[operator after 2.0 s]" in lines[0]
    assert lines[1].startswith("2026-01-09T12:01:00Z")
    assert "deny" in lines[1]


def test_the_list_for_people_tells_who_at_which_desk_and_whether_they_edited(
    run: Read, folder: Path
) -> None:
    ann = Operator("o1", "ann", "ann's laptop", address="192.0.2.7", role="decider")
    store = open_writer(folder)
    store.write([happened(decided("make", by=ann, edited="make -n"), decided("ls", by=OWNER))])
    store.write([happened(decided("id", by=RuleActor("Bash(id) in rules.toml")))])
    store.close()
    edited, own, rule = run("--last", "3")[1].splitlines()
    assert "make -n" in edited
    assert "[operator ann at ann's laptop after 2.0 s, edited]" in edited
    assert "[operator at the server's own terminal after 2.0 s]" in own
    assert "[rule Bash(id) in rules.toml after 2.0 s]" in rule


def test_the_list_for_people_tells_what_brought_a_card_here(run: Read, folder: Path) -> None:
    because = {"kind": "rule", "words": 'rule "Bash(make *)" — never on Friday\x1b[2J'}
    body = {"event": "PreToolUse", "fields": {"tool_input": {"command": "make all"}}}
    store = open_writer(folder)
    store.write([happened(entry(RecordKind.ASKED, card=9, body=body | {"because": because}))])
    store.close()
    out = run("show", "9")[1]
    assert 'make all (rule "Bash(make *)" — never on Friday' in out
    assert "\x1b" not in out


def test_nothing_an_agent_sent_reaches_the_terminal_raw(run: Read) -> None:
    for words in ((), ("--all-kinds",), ("export",), ("--json",), ("stats",), ("sessions",)):
        out = run(*words)[1]
        assert not set(out) & {"\x1b", "\u202e"}
        assert out.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    ("words", "seqs"),
    [
        (["--json"], [3, 4]),
        (["--json", "--tool", "Edit"], [4]),
        (["--json", "--session", "s1"], [3]),
        (["--json", "--verdict", "deny"], [4]),
        (["--json", "--all-kinds"], [1, 2, 3, 4, 5]),
        (["show", "1", "--json"], [2, 3, 5]),
        (["--json", "--last", "1"], [4]),
        (["--json", "--since", "2026-01-09T12:00:30"], [4]),
        (["--json", "--until", "2026-01-09T12:00:30Z"], [3]),
        (["--json", "--since", "1h"], []),
        (["--json", "--until", "2026-01-09"], []),
        (["export"], [1, 2, 3, 4, 5]),
        (["export", "--tool", "Edit"], [4]),
    ],
)
def test_records_are_found_and_come_as_json(run: Read, words: list[str], seqs: list[int]) -> None:
    code, out, _ = run(*words)
    assert code == 0
    assert [json.loads(line)["seq"] for line in out.splitlines()] == seqs


def test_an_exported_record_has_all_that_is_kept(run: Read) -> None:
    third = json.loads(run("export")[1].splitlines()[2])
    assert third["body"]["input"] == {"command": HOSTILE}
    assert (third["verdict"], third["card"], len(third["hash"])) == ("allow", 1, 64)


@pytest.mark.parametrize("when", ["yesterday", "2026-13-01", "25:00", "x1h", ""])
def test_a_time_that_is_none_is_refused(run: Read, when: str) -> None:
    with pytest.raises(SystemExit):
        run("--since", when)


def test_a_time_without_a_date_is_today(run: Read) -> None:
    assert run("--json", "--since", "00:00")[1] == ""


def test_a_sound_record_verifies(run: Read) -> None:
    code, out, _ = run("verify")
    assert code == 0
    assert "5 records, 1 to 5: as they were written" in out


@pytest.mark.parametrize("action", ["verify", "list", "head"])
def test_the_folder_may_be_named_from_where_one_stands(
    run: Read, folder: Path, monkeypatch: pytest.MonkeyPatch, action: str
) -> None:
    monkeypatch.chdir(folder.parent)
    assert run(action, "--folder", folder.name)[0] == 0


def test_a_changed_record_does_not_verify_and_says_which(run: Read, folder: Path) -> None:
    change(folder, "UPDATE record SET verdict = 'deny' WHERE seq = 3")
    code, out, _ = run("verify")
    assert code == 1
    assert "FAULT  record 3" in out
    assert "NOT as they were written" in out
    told = json.loads(run("verify", "--json")[1])
    assert (told["sound"], told["faults"][0]["seq"]) == (False, 3)


def test_a_head_that_is_gone_is_a_fault(run: Read, folder: Path) -> None:
    (folder / "record.head").unlink()
    code, out, _ = run("verify")
    assert code == 1
    assert "gone" in out


@pytest.mark.parametrize(
    "head", ["", "{", "\udcff", "[]", '{"seq": 9223372036854775808, "hash": "%s"}' % ("00" * 32)]
)
def test_a_garbled_head_is_a_fault_of_a_record_that_is_read_to_its_end(
    run: Read, folder: Path, head: str
) -> None:
    (folder / "record.head").write_bytes(head.encode("utf-8", "surrogateescape"))
    code, out, err = run("verify")
    assert (code, err) == (1, "")
    assert "FAULT  record 5: the head that was kept apart is garbled" in out
    assert "5 records, 1 to 5" in out


def test_verifying_says_what_it_leaves_open(run: Read, tmp_path: Path) -> None:
    """A record that was written anew as a whole, with its head, looks the same."""
    out = run("verify")[1]
    assert "No head from elsewhere was compared" in out
    assert "log verify --head FILE" in out
    assert json.loads(run("verify", "--json")[1])["left_open"]
    newest, older = tmp_path / "newest", tmp_path / "older"
    newest.write_text(run("head")[1])
    third = json.loads(run("export")[1].splitlines()[2])
    older.write_text(json.dumps({"seq": 3, "hash": third["hash"]}))
    assert "elsewhere" not in run("verify", "--head", str(newest))[1]
    assert "nobody wrote records 4 to 5 again" in run("verify", "--head", str(older))[1]
    told = json.loads(run("verify", "--json", "--head", str(older))[1])
    assert (told["elsewhere"], len(told["left_open"])) == (3, 1)


def test_verifying_counts_what_passkeys_signed_and_finds_what_they_did_not(
    run: Read, folder: Path
) -> None:
    phone, ours = Authenticator(), founded(folder / "team", time.time())
    ours.let_in("ann")
    team = ours.change(lambda team: with_passkey(team, team.members[0], phone.passkey()))
    by = decider_data(Operator("o-ann", "ann", "Pixel", "", "decider", "passkey"))
    assert "passkeys" not in json.loads(run("verify", "--json")[1])

    def write(card: int) -> None:
        request = json.dumps({"card": card}).encode()
        signed = SignedCall(team.id, "o-ann", b"c", "Decide", request, float(card))
        assertion = json.dumps(dict(phone.sign(challenge_of(signed)).json))
        proof = CallProof(signed.text, request, assertion)
        store = open_writer(folder)
        store.write([happened(decision(7, at=NOON + 70, body={**by}, proof=proof))])
        store.close()

    write(7)
    code, out, _ = run("verify")
    assert (code, "Passkeys opened 1 calls: 1 signatures are true." in out) == (0, True)
    write(8)
    code, out, _ = run("verify")
    assert code == 1
    assert "FAULT  record 7: its passkey's signature is none" in out
    told = json.loads(run("verify", "--json")[1])
    assert (told["sound"], told["passkeys"]["true"], told["passkeys"]["false"]) == (False, 1, 1)
    # What a person did without a signature is no call that was opened.
    store = open_writer(folder)
    store.write([happened(entry(RecordKind.OPERATOR, NOON + 80, body={**by}))])
    store.close()
    ours.folder.team.unlink()
    code, out, _ = run("verify")
    assert (code, "Passkeys opened 2 calls, not verified here: " in out) == (0, True)
    assert json.loads(run("verify", "--json")[1])["passkeys"]["unverified"] == 2


def test_verifying_finds_an_allow_that_too_few_people_signed(
    run: Read, folder: Path, tmp_path: Path
) -> None:
    ours, older = founded(folder / "team", time.time()), tmp_path / "older"
    team = ours.change(lambda team: replace(team, members=(ANN.member, BOB.member)))
    older.write_bytes(ours.folder.team.read_bytes())
    then = sha256(older.read_bytes()).hexdigest()
    of_ann, of_bob = (signed(person, SignedTerms(2), team=team.id) for person in (ANN, BOB))

    def write(*entries: Entry) -> None:
        store = open_writer(folder)
        store.write([happened(*entries)])
        store.close()

    write(team_file(then), allowed(of_ann, of_bob))
    sound = "1 answers name who has to sign, and these people signed 1."
    code, out, _ = run("verify")
    assert (code, sound in out) == (0, True)
    # One of them leaves the team, whose older file still has her keys.
    ours.change(lambda team: replace(team, members=(ANN.member,)))
    now = sha256(ours.folder.team.read_bytes()).hexdigest()
    write(team_file(now, time.time() + 3600, before=then))
    code, out, _ = run("verify")
    assert (code, "1 not checked: who signed, or the key, has left the team" in out) == (0, True)
    code, out, _ = run("verify", "--team-file", str(older))
    assert (code, sound in out) == (0, True)
    write(allowed(signed(ANN, SignedTerms(2), team=team.id)))
    code, out, _ = run("verify", "--team-file", str(older))
    lack = "FAULT  record 9: its decision lacks signatures: 1 of 2 have signed the answer (ann)"
    assert (code, lack in out) == (1, True)
    terms = json.loads(run("verify", "--json")[1])["signed"]["terms"]
    assert terms == {"kept": 0, "lacking": 1, "not_checked": {"left": 1}}
    older.write_bytes(older.read_bytes().replace(b"ann", b"eve"))
    for path, why in ((older, "without the team's passphrase"), (tmp_path, "cannot be read")):
        code, _, error = run("verify", "--team-file", str(path))
        assert (code, why in error) == (2, True), error


def test_verifying_finds_an_allow_for_a_strict_hook_that_lost_all_its_signatures_without_a_team(
    run: Read, folder: Path
) -> None:
    allow = allowed(signed(ANN))
    asked = entry(RecordKind.ASKED, card=1, request_id="r1", body={"strict": True})
    store = open_writer(folder)
    store.write([happened(asked, allow)])
    store.close()
    code, out, _ = run("verify")
    assert (code, "People allowed calls of strict hooks 1 times: 1 signed." in out) == (0, True)
    store = open_writer(folder)
    store.write([happened(replace(allow, signed=()))])
    store.close()
    code, out, _ = run("verify")
    fault = "FAULT  record 8: its decision lacks signatures: nobody has signed it for a strict hook"
    assert (code, fault in out) == (1, True)
    values = json.loads(run("verify", "--json")[1])
    assert (values["sound"], values["strict"]) == (False, {"allows": 2, "signed": 1})


@pytest.mark.parametrize("name", [POLICY, TEAM])
def test_a_team_that_has_not_changed_for_as_long_as_the_record_goes_back_is_the_team_of_then(
    run: Read, folder: Path, name: str
) -> None:
    ours = founded(folder / "team", time.time())
    groups = (TeamGroup("anns", ("o-ann",)),)
    members = ANN.member, BOB.member
    team = ours.change(lambda team: replace(team, members=members, groups=groups))
    store = open_writer(folder)
    store.write([happened(allowed(signed(BOB, SignedTerms(1, ("@anns",)), team=team.id)))])
    store.close()
    code, out, _ = run("verify")
    assert (code, "1 not checked: the team's file may have been another then" in out) == (0, True)
    text = ours.folder.team.read_text()
    seen = PolicyState({TEAM: sha256(text.encode()).hexdigest()}, {}).text
    document = Document(name, 1, text if name == TEAM else seen, iso(time.time()), "the server")
    store = open_writer(folder)
    store.write([written(document, document.entry(None, time.time(), {}))])
    store.close()
    code, out, _ = run("verify")
    assert (code, "0 of 1 people of @anns have signed the answer" in out) == (1, True)


def test_a_head_kept_elsewhere_finds_what_our_own_no_longer_can(
    run: Read, folder: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "head"
    elsewhere.write_text(run("head")[1])
    assert run("verify", "--head", str(elsewhere))[0] == 0
    change(folder, "DELETE FROM record WHERE seq = 5")
    (folder / "record.head").write_text(run("head")[1])
    assert run("verify")[0] == 0
    code, out, _ = run("verify", "--head", str(elsewhere))
    assert code == 1
    assert "cut off" in out


def test_stats_tell_who_decided_and_how_soon(run: Read) -> None:
    out = run("stats")[1]
    assert "operator 100%" in out
    assert "median 2.0 s, p90 2.0 s" in out
    assert json.loads(run("stats", "--json")[1])["all"]["decisions"] == 2


def test_sessions_are_listed(run: Read) -> None:
    assert [line.split()[4] for line in run("sessions")[1].splitlines()] == ["s1", "s2"]
    assert json.loads(run("sessions", "--json", "--session", "s2")[1])["decisions"] == 1


@pytest.mark.parametrize("action", ["list", "verify", "export", "stats", "head", "sessions"])
def test_without_a_record_there_is_nothing_to_show(run: Read, tmp_path: Path, action: str) -> None:
    code, out, err = run(action, "--folder", str(tmp_path / "nowhere"))
    assert (code, out) == (2, "")
    assert "there is no record" in err


def change(folder: Path, statement: str) -> None:
    """Change the record the way a person with `sqlite3` would."""
    with laid_open(folder) as connection:
        connection.execute(statement)


def test_where_the_record_is_elsewhere_the_teams_server_is_asked(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked: list[str | None] = []
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(past, "list_past", lambda to: asked.append(to.team) or 0)
    founded(tmp_path / "team", time.time()).seat(config.config_folder(), "ann", "127.0.0.1:7444")
    assert main(["log"]) == 0
    assert (asked, len(capsys.readouterr().out.splitlines())) == ([], 2)
    assert main(["log", "--team", "ours"]) == 0
    (folder / "record.db").unlink()
    assert main(["log"]) == 0
    assert asked == ["ours", None]
    assert main(["log", "verify"]) == 2
