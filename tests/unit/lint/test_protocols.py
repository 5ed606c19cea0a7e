"""The tables of what each agent reads."""

from enum import Enum
from importlib import import_module
from types import NoneType, UnionType
from typing import get_args, get_origin, get_type_hints

import pytest

from crabhook.data_files import tables
from crabhook.lint.configuration import protocols
from crabhook.platforms import HOOKED
from crabhook.platforms.claude.events import EVENTS
from crabhook.platforms.event_table import ANY, NOTHING, EventTable, Protocol, read_protocol
from tests.unit.lint.corpus import CORPUS

SAMPLES = CORPUS.parent


def test_claude_codes_events_are_those_of_the_platform() -> None:
    assert list(HOOKED["claude"].protocol.events) == list(EVENTS)


@pytest.mark.parametrize("protocol", protocols().values(), ids=list(protocols()))
def test_every_event_and_tool_that_an_agent_was_seen_to_send_is_known(protocol: object) -> None:
    agent = next(one for one in protocols().values() if one is protocol)
    seen = 0
    for path in sorted((SAMPLES / agent.name).glob("*.json")):
        event = HOOKED[agent.name].read(path.read_bytes())
        tool = event.tool.name if event.tool else ""
        of_a_server = tool.startswith("mcp_") or tool in ("echo-echo", "echo_echo")
        assert event.name in agent.events
        a_right = event.name == "permission.asked"  # which OpenCode names as it likes
        assert not tool or of_a_server or a_right or tool in agent.tools, path
        seen += 1
    assert seen > 10


@pytest.mark.parametrize("protocol", protocols().values(), ids=list(protocols()))
def test_other_agents_names_are_none_of_its_own_and_lead_to_one(protocol: object) -> None:
    agent = next(one for one in protocols().values() if one is protocol)
    known = agent.tools | set(agent.events)
    assert not set(agent.elsewhere) & known
    assert set(agent.elsewhere.values()) <= known


def test_tool_events_match_tools_and_turn_events_match_nothing() -> None:
    for agent, event in (("claude", "PreToolUse"), ("gemini", "BeforeTool")):
        assert HOOKED[agent].protocol.events[event].matcher == ANY
    assert HOOKED["claude"].protocol.events["Stop"].matcher == NOTHING
    assert HOOKED["codex"].protocol.events["Stop"].matcher == NOTHING


@pytest.mark.parametrize(
    ("event", "silent"),
    [
        ("PreToolUse", False),
        ("Stop", False),
        ("TeammateIdle", False),
        ("WorktreeCreate", False),
        ("PermissionRequest", True),
        ("SessionStart", True),
        ("Notification", True),
    ],
)
def test_exit_code_2_does_nothing_on_the_events_on_which_the_protocol_says_so(
    event: str, silent: bool
) -> None:
    assert HOOKED["claude"].protocol.events[event].silent is silent


@pytest.mark.parametrize("protocol", protocols().values(), ids=list(protocols()))
def test_what_a_protocols_file_says_is_of_its_fields_types(protocol: Protocol) -> None:
    for name, kind in get_type_hints(Protocol).items():
        said = getattr(protocol, name)
        whole = kind if get_origin(kind) is UnionType else kind | None
        (main, *_) = [one for one in get_args(whole) if one is not NoneType]
        if said is None:
            assert NoneType in get_args(kind), name
            continue
        origin = get_origin(main) or main
        assert isinstance(said, (int, float) if origin is float else origin), name
        if origin is frozenset:
            assert all(isinstance(one, get_args(main)[0]) for one in said), name
    assert all(isinstance(one, str) for item in protocol.elsewhere.items() for one in item)
    for path, value, effect in protocol.switches:
        assert all(path)
        assert value in (True, False)
        assert effect


def test_a_protocol_with_a_key_that_does_not_exist_or_without_one_that_it_needs_is_refused() -> (
    None
):
    told = {"unit": 1, "timeout": 1, "tools": [], "mcp": "", "decisions": []}
    assert read_protocol("x", "X", EventTable[Enum](), told).tools == frozenset()
    for wrong in (told | {"toolz": []}, {key: told[key] for key in told if key != "unit"}):
        with pytest.raises(TypeError):
            read_protocol("x", "X", EventTable[Enum](), wrong)


@pytest.mark.parametrize("agent", HOOKED)
def test_a_protocol_tells_of_no_event_that_its_agent_has_not(agent: str) -> None:
    platform = HOOKED[agent]
    told = tables(str(import_module(platform.package).__file__), "protocol")
    assert set(told["events"]) <= {*platform.events, *told.get("spellings", ())}
