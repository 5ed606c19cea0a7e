"""Every recorded input of Codex through the true client, the true server and a true desk."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from crabhook.model.card import Stance
from crabhook.platforms import PLATFORMS
from crabhook.platforms.event_table import Held
from tests.support.client import SAMPLES, Client, sample
from tests.support.codex_grammar import Fate, fate
from tests.support.examples import share
from tests.support.plain_desk import PlainDesk

if TYPE_CHECKING:
    from collections.abc import Iterator

CODEX = PLATFORMS["codex"]
NAMES = sorted(file.stem for file in (SAMPLES / "codex").glob("*.json"))
HELD = [name for name in NAMES if CODEX.held(CODEX.read(sample(name, agent="codex")), Stance.GATE) is Held.ALWAYS]  # fmt: skip
OPTIONS = ("--platform", "codex")
COMMAND = {"command": "touch outside.txt && echo made"}
"""What the recorded PermissionRequest asks for."""


@pytest.fixture(scope="module")
def desk() -> Iterator[PlainDesk]:
    with PlainDesk() as desk:
        yield desk


def asking(desk: PlainDesk, name: str, *options: str, session: str = "") -> Client:
    # A session of its own: two recorded legs of one call would rightly share one decision.
    payload = sample(name, agent="codex", session_id=session or f"{name}{len(desk.said)}")
    return Client(desk.address, payload, *OPTIONS, *options)


@pytest.mark.parametrize("name", share(NAMES, 1))
@pytest.mark.parametrize("words", ["deny not today", "pass"])
def test_every_recorded_input_is_answered_in_a_form_that_codex_takes(
    desk: PlainDesk, name: str, words: str
) -> None:
    event = CODEX.read(sample(name, agent="codex"))
    client = asking(desk, name)
    if name in HELD:
        number = int(desk.wait_for(rf"^#(\d+) {event.name} ")[1])
        desk.say(f"{number} {words}")
        answer = client.finish()
        assert answer.code == 0
        assert fate(event.name, answer.stdout) is (Fate.NOTHING if words == "pass" else Fate.DENIED)
        assert (b"not today" in answer.stdout) == (words != "pass")
    else:
        assert client.finish().silent


@pytest.mark.parametrize("name", [name for name in HELD if name.startswith("PreToolUse")])
def test_an_allow_before_the_call_prints_nothing(desk: PlainDesk, name: str) -> None:
    client = asking(desk, name)
    number = int(desk.wait_for(r"^#(\d+) PreToolUse ")[1])
    desk.say(f"{number} allow")
    assert client.finish().silent


def test_what_was_allowed_before_the_call_is_approved_when_codex_asks_and_only_then(
    desk: PlainDesk,
) -> None:
    payload = sample("PreToolUse-Bash", agent="codex", session_id="once", tool_input=COMMAND)
    before = Client(desk.address, payload, *OPTIONS)
    desk.say(f"{desk.card('Bash')} allow")
    assert before.finish().silent
    asked = asking(desk, "PermissionRequest-Bash", session="once").finish()
    assert fate("PermissionRequest", asked.stdout) is Fate.APPROVED
    again = asking(desk, "PermissionRequest-Bash", session="once")
    desk.say(f"{desk.card('Bash')} deny once is enough")
    assert fate("PermissionRequest", again.finish().stdout) is Fate.DENIED


def test_what_was_changed_before_the_call_is_approved_as_it_was_changed_and_never_as_it_was(
    desk: PlainDesk,
) -> None:
    payload = sample("PreToolUse-Bash", agent="codex", session_id="changed")
    before = Client(desk.address, payload, *OPTIONS)
    desk.say(f"{desk.card('Bash')} edit echo other")
    rewritten = before.finish()
    assert fate("PreToolUse", rewritten.stdout, "Bash") is Fate.REWRITTEN
    as_it_was = sample(
        "PermissionRequest-Bash",
        agent="codex",
        session_id="changed",
        tool_input={"command": "echo hi", "description": "why"},
    )
    unapproved = Client(desk.address, as_it_was, *OPTIONS).finish()
    assert fate("PermissionRequest", unapproved.stdout) is Fate.NOTHING


def test_a_question_is_answered_in_words(desk: PlainDesk) -> None:
    client = asking(desk, "PreToolUse-request_user_input")
    desk.say(f"{desk.card('request_user_input')} answer 1=2")
    answer = client.finish()
    assert fate("PreToolUse", answer.stdout) is Fate.DENIED
    reason = answer.output["hookSpecificOutput"]["permissionDecisionReason"]
    assert '"Which colour?" = "Blue"' in reason


def test_the_card_says_what_a_hook_cannot_do(desk: PlainDesk) -> None:
    client = asking(desk, "PreToolUse-Bash")
    number = desk.card("Bash")
    desk.wait_for("An allow approves nothing here", again=True)
    desk.say(f"{number} pass")
    assert client.finish().silent


def test_an_interrupt_withdraws_what_its_agent_asked(desk: PlainDesk) -> None:
    client = asking(desk, "PermissionRequest-Bash", session="esc")
    number = desk.card("Bash")
    assert asking(desk, "Interrupt", session="esc").finish().silent
    desk.wait_for(rf"^#{number} WITHDRAWN answered at the agent: its user interrupted")
    assert client.finish().silent


def result(desk: PlainDesk, session: str) -> Client:
    payload = sample("PostToolUse-Bash", agent="codex", session_id=session, tool_input=COMMAND)
    return Client(desk.address, payload, *OPTIONS)


def test_the_result_of_one_of_two_calls_alike_leaves_the_other_waiting(desk: PlainDesk) -> None:
    """Codex shows no dialog while a hook is asked, so nobody can have answered there first."""
    first = asking(desk, "PermissionRequest-Bash", session="twins")
    desk.say(f"{desk.card('Bash')} allow")
    assert fate("PermissionRequest", first.finish().stdout) is Fate.APPROVED
    second = asking(desk, "PermissionRequest-Bash", session="twins")
    number = desk.card("Bash")
    assert result(desk, "twins").finish().silent
    desk.say(f"{number} deny one is enough")
    assert fate("PermissionRequest", second.finish().stdout) is Fate.DENIED


def test_a_note_beside_an_approval_goes_with_the_result_once(desk: PlainDesk) -> None:
    client = asking(desk, "PermissionRequest-Bash", session="noted")
    desk.say(f"{desk.card('Bash')} allow mind the crab")
    assert fate("PermissionRequest", client.finish().stdout) is Fate.APPROVED
    told = result(desk, "noted").finish()
    assert fate("PostToolUse", told.stdout) is Fate.NOTHING
    assert told.output["hookSpecificOutput"]["additionalContext"] == "mind the crab"
    assert result(desk, "noted").finish().silent


@pytest.mark.parametrize("name", HELD)
def test_where_nobody_can_be_asked_a_hook_that_fails_closed_denies(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    event = json.loads(sample(name, agent="codex"))["hook_event_name"]
    closed = ("--when-unreachable", "deny")
    nobody = f"unix:{tmp_path_factory.mktemp('n')}/s"
    answer = Client(nobody, sample(name, agent="codex"), *OPTIONS, *closed).finish()
    assert (answer.code, fate(event, answer.stdout)) == (0, Fate.DENIED)
    assert Client(nobody, sample(name, agent="codex"), *OPTIONS).finish().silent
