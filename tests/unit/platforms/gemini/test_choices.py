"""What an operator may decide about Gemini's events, and what they are told it will not do."""

import json
from pathlib import Path

import pytest

from crabhook.model.decision import PASS_ALONE, Beside, Verdict
from crabhook.model.event import Event, ToolCall
from crabhook.platforms.gemini.events import EVENTS
from crabhook.platforms.gemini.write import choices, limits

SAMPLES = Path(__file__).parents[3] / "samples" / "gemini"


def call(tool: str = "run_shell_command", name: str = "BeforeTool") -> Event:
    return Event("gemini", name, tool=ToolCall(tool, {}))


def test_a_call_is_allowed_or_denied_changed_or_made_a_rule() -> None:
    offered = choices(call())
    assert offered.verdicts == {Verdict.ALLOW, Verdict.DENY, Verdict.PASS}
    told = Beside.NOTE | Beside.HALT | Beside.MESSAGE | Beside.SUPPRESS
    assert offered.beside == told | Beside.INPUT | Beside.RULE | Beside.INTERRUPT


def test_what_asks_the_user_can_be_made_no_rule() -> None:
    for tool in ("ask_user", "exit_plan_mode"):
        assert Beside.RULE not in choices(call(tool)).beside


def test_answers_go_with_the_input_and_have_notes_of_their_own() -> None:
    beside = choices(call("ask_user")).beside
    assert Beside.INPUT in beside
    assert Beside.NOTE not in beside


def test_a_plan_lies_in_a_file_that_no_changed_input_reaches() -> None:
    assert Beside.INPUT not in choices(call("exit_plan_mode")).beside


def test_only_a_result_can_be_replaced() -> None:
    replaceable = [name for name in EVENTS if Beside.OUTPUT in choices(call(name=name)).beside]
    assert replaceable == ["AfterTool"]


def test_permissions_are_never_offered() -> None:
    assert not any(Beside.PERMISSIONS in choices(call(name=name)).beside for name in EVENTS)


@pytest.mark.parametrize("name", ["Notification", "PreCompress", "SessionEnd", "AfterModel", "New"])
def test_nothing_can_be_decided_about_what_is_only_watched(name: str) -> None:
    assert choices(Event("gemini", name)) == PASS_ALONE


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (call(), "asks its own user as well after an allow"),
        (call("mcp_server_tool"), "asks its own user as well after an allow"),
        (call("ask_user"), "takes no answers from a hook"),
        (call("exit_plan_mode"), "only there a plan is approved"),
        (call(name="AfterTool"), "reaches the model as the tool's error"),
    ],
)
def test_the_operator_is_told_what_a_hook_cannot_do(event: Event, said: str) -> None:
    (told,) = limits(event)
    assert said in told


@pytest.mark.parametrize("name", ["AfterAgent", "BeforeAgent", "SessionStart", "Notification", "X"])
def test_where_a_hook_can_do_what_is_offered_nothing_is_said(name: str) -> None:
    assert not limits(Event("gemini", name))


def test_every_recorded_call_has_its_limits() -> None:
    for sample in SAMPLES.glob("BeforeTool-*.json"):
        fields = json.loads(sample.read_bytes())
        assert limits(call(fields["tool_name"])), sample
