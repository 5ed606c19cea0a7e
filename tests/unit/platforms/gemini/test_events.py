"""The table of Gemini CLI's events, held against the protocol's own list."""

from crabhook.model.card import Stance
from crabhook.model.decision import Verdict
from crabhook.model.event import EndScope, Event, ToolCall
from crabhook.platforms import PLATFORMS
from crabhook.platforms.event_table import Held
from crabhook.platforms.gemini.events import EVENTS, asks, is_call_of
from tests.support.rows import every_row

# The hook protocol's list, version 0.61.
PROTOCOL = """
    SessionStart SessionEnd BeforeAgent AfterAgent BeforeModel BeforeToolSelection AfterModel
    BeforeTool AfterTool Notification PreCompress
""".split()  # noqa: SIM905 - a list of names reads best so
ON_REQUEST = {"AfterTool", "BeforeAgent", "AfterAgent", "BeforeModel", "SessionStart"}
CLOSES = {
    "AfterTool": EndScope.RESULT,
    "BeforeAgent": EndScope.AGENT,
    "AfterAgent": EndScope.AGENT,
    "SessionEnd": EndScope.SESSION,
}


def event(name: str, tool: str = "") -> Event:
    return Event("gemini", name, tool=ToolCall(tool, {}) if tool else None)


def test_the_table_holds_the_protocols_11_events() -> None:
    assert len(PROTOCOL) == 11
    assert set(EVENTS) == set(PROTOCOL)


@every_row("stance", Stance)
@every_row("name", [*PROTOCOL, "Brand-New", "", "beforetool"])
def test_only_a_call_always_waits_and_a_stance_makes_no_difference(
    name: str, stance: Stance
) -> None:
    expected = (
        Held.ALWAYS
        if name == "BeforeTool"
        else Held.ON_REQUEST
        if name in ON_REQUEST
        else Held.NEVER
    )
    assert PLATFORMS["gemini"].held(event(name), stance) is expected
    assert bool(EVENTS[name].verdicts) == (expected is not Held.NEVER)


def test_what_can_be_held_on_request_is_offered_for_it() -> None:
    assert set(PLATFORMS["gemini"].holdable()) == ON_REQUEST


@every_row("name", [*PROTOCOL, "Brand-New"])
def test_every_event_closes_what_it_should(name: str) -> None:
    assert EVENTS[name].closes == CLOSES.get(name, EndScope.NOTHING)


def test_no_event_can_be_told_to_ask_since_that_ends_a_headless_run() -> None:
    assert not any(Verdict.ASK in rule.verdicts for rule in EVENTS.values())


def test_what_asks_a_person_is_known() -> None:
    assert asks(event("BeforeTool", "ask_user"))
    assert asks(event("BeforeTool", "exit_plan_mode"))
    assert not asks(event("BeforeTool", "run_shell_command"))
    assert not asks(event("BeforeAgent"))


def test_a_call_is_one_that_is_not_yet_made() -> None:
    assert is_call_of(event("BeforeTool", "ask_user"), "ask_user")
    assert not is_call_of(event("AfterTool", "ask_user"), "ask_user")
    assert not is_call_of(event("BeforeTool", "glob"), "ask_user", "exit_plan_mode")
    assert not is_call_of(event("BeforeTool"), "ask_user")
