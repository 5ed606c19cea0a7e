"""From a card to a rule of the operator's own, through the true client, server and record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.client import Client, sample
from tests.support.plain_desk import PlainDesk
from tests.support.rows import every_row

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def desk() -> Iterator[PlainDesk]:
    with PlainDesk() as desk:
        yield desk


def ask(desk: PlainDesk, command: str, use_id: str) -> Client:
    payload = sample(
        "PreToolUse-Bash",
        tool_input={"command": command},
        tool_use_id=use_id,
        cwd="/nowhere/project",
    )
    return Client(desk.address, payload)


def verdict(client: Client) -> str:
    said: str = client.finish().output["hookSpecificOutput"]["permissionDecision"]
    return said


def rules(desk: PlainDesk) -> str:
    path = desk.folder / ".config" / "crabhook" / "rules.toml"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def listed(desk: PlainDesk, number: int) -> list[str]:
    """Ask for the rules of a card; return the lines that tell of them."""
    before = len(desk.said)
    desk.say(f"{number} remember")
    desk.wait_for(rf"{number} remember K 7d|no rule is offered")
    return desk.said[before:]


def test_a_rule_from_a_card_decides_the_same_call_from_then_on(desk: PlainDesk) -> None:
    first = ask(desk, "pytest -q", "t1")
    number = desk.card("Bash")
    waits = ask(desk, "pytest -q", "t2")
    other = desk.card("Bash")
    lines = listed(desk, number)
    assert any("1  covers 0: exactly `pytest -q`, in this session" in line for line in lines)
    desk.say(f"{number} remember 2")
    assert verdict(first) == "allow"
    assert verdict(waits) == "allow"  # it waited for the very same
    desk.wait_for(rf"^#{other} ALLOWED \(by rule allow Bash\(pytest -q\) ")
    assert verdict(ask(desk, "pytest -q", "t3")) == "allow"
    beside = ask(desk, "pytest --all", "t4")
    asked = desk.card("Bash")
    assert asked == other + 1  # the third call had no card
    desk.say(f"{asked} deny no")
    assert verdict(beside) == "deny"
    written = rules(desk)
    assert 'match = "Bash(pytest -q)"' in written
    assert 'project = ["/nowhere/project"]' in written
    assert "expires = 20" in written
    assert f"on card #{number}" in written


def test_a_denial_of_the_past_is_shown_and_undone_only_on_purpose(desk: PlainDesk) -> None:
    denied = ask(desk, "pytest --slow", "t1")
    desk.say(f"{desk.card('Bash')} deny too slow")
    assert verdict(denied) == "deny"
    asked = ask(desk, "pytest -q", "t2")
    number = desk.card("Bash")
    lines = listed(desk, number)
    assert any("tried on the last 1 call" in line for line in lines)
    assert "     ! would have let through 1 call that was DENIED:" in lines
    assert "       - pytest --slow" in lines
    desk.say(f"{number} remember 4")
    desk.wait_for(f"nothing was decided. Write: {number} remember 4 anyway")
    assert rules(desk) == ""
    desk.say(f"{number} remember 4 1d anyway")
    assert verdict(asked) == "allow"
    assert verdict(ask(desk, "pytest --slow", "t3")) == "allow"


@every_row("command", ["rm -rf build", "sudo ls", "git push", "cat ~/.ssh/id_rsa"])
def test_for_some_commands_no_rule_is_offered(desk: PlainDesk, command: str) -> None:
    client = ask(desk, command, "t1")
    number = desk.card("Bash")
    assert "no rule is offered" in listed(desk, number)[-1]
    desk.say(f"{number} remember 1")
    desk.wait_for("no rule is offered for .* nothing was decided")
    desk.say(f"{number} deny no")
    assert verdict(client) == "deny"
    assert rules(desk) == ""


def test_a_broken_rule_file_lets_nothing_through(desk: PlainDesk) -> None:
    client = ask(desk, "pytest -q", "t1")
    number = desk.card("Bash")
    listed(desk, number)
    folder = desk.folder / ".config" / "crabhook"
    folder.mkdir(parents=True)
    (folder / "rules.toml").write_text("nonsense", encoding="utf-8")
    desk.say(f"{number} remember 1")
    desk.wait_for("no rule was written, and nothing decided: .*line 1")
    desk.say(f"{number} deny no")
    assert verdict(client) == "deny"
