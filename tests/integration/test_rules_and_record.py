"""Rules that decide, and a record that outlives the server, through the true client and server."""

from __future__ import annotations

import json
import os
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from tests.support.client import Client, sample
from tests.support.plain_desk import CRABHOOK, PlainDesk
from tests.support.typist import agree

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def desk() -> Iterator[PlainDesk]:
    desk = PlainDesk()
    rules(desk, '[[rule]]\nverdict = "allow"\nmatch = "Bash(npm run *)"\n')
    with desk:
        yield desk


def rules(desk: PlainDesk, text: str) -> None:
    folder = desk.folder / ".config" / "crabhook"
    folder.mkdir(parents=True, exist_ok=True)
    # Put in place whole: the server may look at any moment.
    (folder / "rules.new").write_text(text, encoding="utf-8")
    (folder / "rules.new").replace(folder / "rules.toml")


def bash(command: str, number: int = 1) -> bytes:
    return sample(
        "PreToolUse-Bash",
        tool_input={"command": command},
        tool_use_id=f"t{number}",
        cwd="/nowhere/project",
    )


def audit(desk: PlainDesk, *words: str) -> str:
    environment = {"PATH": os.environ["PATH"], "HOME": str(desk.folder), "LANG": "C.UTF-8"}
    return subprocess.run(
        [CRABHOOK, "log", *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env=environment,
    ).stdout


def verdict(client: Client) -> str:
    said: str = client.finish().output["hookSpecificOutput"]["permissionDecision"]
    return said


def test_a_rule_allows_what_it_covers_and_nothing_beside_it(desk: PlainDesk) -> None:
    assert verdict(Client(desk.address, bash("npm run build"))) == "allow"
    other = Client(desk.address, bash("npm run build && rm -rf x", 2))
    desk.say(f"{desk.card('Bash')} deny no")
    assert verdict(other) == "deny"


def test_what_is_protected_reaches_a_person_whatever_is_allowed(desk: PlainDesk) -> None:
    rules(desk, '[[rule]]\nverdict = "allow"\nmatch = "Bash"\n')
    client = Client(desk.address, bash("cat ~/.ssh/id_ed25519"))
    desk.say(f"{desk.card('Bash')} deny no")
    assert verdict(client) == "deny"


def test_a_denying_rule_counts_while_the_operator_is_away(desk: PlainDesk) -> None:
    rules(desk, '[[rule]]\nverdict = "deny"\nmatch = "Bash(rm *)"\nnote = "use the trash"\n')
    desk.say("away")
    desk.wait_for("(?i)away")
    answer = Client(desk.address, bash("rm -rf x")).finish()
    assert "use the trash" in answer.stdout.decode()
    assert Client(desk.address, bash("ls", 2)).finish().silent


def test_rules_are_read_again_and_a_broken_file_changes_nothing(desk: PlainDesk) -> None:
    assert verdict(Client(desk.address, bash("npm run build"))) == "allow"
    rules(desk, "[[rule]]\nverdict = 'nonsense'\n")
    time.sleep(1.1)
    assert verdict(Client(desk.address, bash("npm run test", 2))) == "allow"
    desk.wait_for("RULES NOT READ.*line 2")
    rules(desk, '[[rule]]\nverdict = "deny"\nmatch = "Bash(npm run *)"\n')
    time.sleep(1.1)
    assert verdict(Client(desk.address, bash("npm run build", 3))) == "deny"


def test_every_decision_is_on_record_and_the_chain_is_whole(desk: PlainDesk) -> None:
    assert verdict(Client(desk.address, bash("npm run build"))) == "allow"
    client = Client(desk.address, bash("cat x", 2))
    number = desk.card("Bash")
    desk.say(f"{number} deny not this one")
    assert verdict(client) == "deny"
    desk.wait_for(f"#{number} delivered")
    lines = [json.loads(line) for line in audit(desk, "--json").splitlines()]
    decided = [line for line in lines if line["kind"] == "decided"]
    assert [line["verdict"] for line in decided] == ["allow", "deny"]
    assert "not this one" in json.dumps(decided[1])
    assert "as they were written" in audit(desk, "verify")


def test_a_killed_server_begins_again_with_what_waited_and_what_was_answered() -> None:
    with PlainDesk() as desk:
        clients = [Client(desk.address, bash(f"echo {n}", n)) for n in range(3)]
        numbers = [desk.card("Bash") for _ in clients]
        desk.kill()
        desk.stop()
        desk.start()
        assert sorted(desk.card("Bash") for _ in clients) == sorted(numbers)
        for number in numbers:
            desk.say(f"{number} allow")
        for client in clients:
            assert verdict(client) == "allow"
        desk.say("list")
        desk.wait_for("nothing waits")


def test_a_session_that_asks_too_much_is_turned_away_to_its_own_prompt() -> None:
    desk = PlainDesk()
    settings = desk.folder / ".config" / "crabhook" / "settings.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("[waiting]\nmax_session_waiting = 2\n", encoding="utf-8")
    with desk:
        turns_away_what_is_too_much(desk)
        desk.stop()
        assert "turned away" in audit(desk, "--all-kinds")


def turns_away_what_is_too_much(desk: PlainDesk) -> None:
    """Ask for more than a session may, beside another session."""
    waiting = [Client(desk.address, bash(f"make {number}", number)) for number in range(2)]
    numbers = [desk.card("Bash") for _ in waiting]
    refused = Client(desk.address, bash("make more", 9)).finish()
    assert refused.silent
    assert "too much of this session waits" in refused.stderr
    other = Client(desk.address, sample("PreToolUse-Read", session_id="another"))
    desk.say(f"{desk.card('Read')} allow")
    assert verdict(other) == "allow"
    for number in numbers:
        desk.say(f"{number} deny no")
    assert [verdict(one) for one in waiting] == ["deny", "deny"]


def test_an_edit_that_a_rule_denies_needs_a_second_yes_and_both_are_on_record(
    desk: PlainDesk,
) -> None:
    rules(desk, '[[rule]]\nverdict = "deny"\nmatch = "Bash(rm *)"\nnote = "use the trash"\n')
    desk.wait_for("the rules have changed: 1 of yours are in force")
    client = Client(desk.address, bash("ls build"))
    number = desk.card("Bash")
    desk.say(f"{number} edit rm -rf build")
    desk.wait_for(r"^  ! .*deny Bash\(rm \*\) \(use the trash\): rm -rf build$")
    desk.wait_for(f"Write: {number} anyway$")
    desk.say(f"{number} anyway")
    said = client.finish().output["hookSpecificOutput"]
    assert (said["permissionDecision"], said["updatedInput"]["command"]) == (
        "allow",
        "rm -rf build",
    )
    desk.wait_for(f"#{number} delivered")
    (decided,) = [
        json.loads(line)["body"]
        for line in audit(desk, "--json").splitlines()
        if json.loads(line)["kind"] == "decided"
    ]
    assert decided["edited"] == {"command": "rm -rf build"}
    (against,) = decided["despite"]
    assert against.endswith("deny Bash(rm *) (use the trash): rm -rf build")


def test_rules_that_are_broken_at_the_start_are_said_to_be_none_until_they_are_mended() -> None:
    desk = PlainDesk()
    rules(desk, "[[rule]]\nverdict = 'nonsense'\n")
    with desk:
        desk.wait_for("^! NO RULES ARE in force: .*line 2")
        rules(desk, '[[rule]]\nverdict = "deny"\nmatch = "Bash"\n')
        desk.wait_for("^· desk: the rules are read again: 1 of yours are in force")
        assert verdict(Client(desk.address, bash("ls"))) == "deny"


def test_a_change_by_an_editor_stands_in_red_until_a_person_answers_for_it(
    desk: PlainDesk,
) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(desk.folder), "LANG": "C.UTF-8"}
    by_command = [CRABHOOK, "rules", "add", "deny", "Bash(rm *)"]
    subprocess.run(by_command, env=environment, check=True, capture_output=True, timeout=60)
    desk.wait_for("the rules have changed: 2 of yours")
    rules(desk, '[[rule]]\nverdict = "deny"\nmatch = "Bash(npm run *)"\n')
    desk.wait_for("the rules have changed: 1 of yours")
    desk.wait_for("CHANGED BY NO DESK AND NO COMMAND: rules at", again=True)
    desk.stop()
    desk.said.clear()
    desk.start()
    desk.wait_for("CHANGED BY NO DESK AND NO COMMAND: rules at", again=True)
    desk.ask("list", "CHANGED BY NO DESK AND NO COMMAND: rules at")
    code, _, _ = agree([CRABHOOK, "log", "attest"], environment, "n\n")
    assert code != 0
    code, told, shown = agree([CRABHOOK, "log", "attest"], environment)
    assert (code, "rules, by the file" in shown) == (0, True), shown
    assert "It is attested" in told
    deadline = time.monotonic() + 60
    while "attested" not in (lines := audit(desk, "list", "--json")):
        assert time.monotonic() < deadline, lines
        time.sleep(0.1)
    entries = [
        json.loads(line) for line in audit(desk, "list", "--all-kinds", "--json").splitlines()
    ]
    changes = [entry["body"] for entry in entries if entry["kind"] == "rules-changed"]
    assert [change.get("out_of_band", False) for change in changes] == [False, False, True]
    assert audit(desk, "attest") == "There is no change that nobody answers for.\n"
    assert "as they were written" in audit(desk, "verify")
