import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.model.card import Because, Brought, Card, Leg, Origin, State
from crabhook.model.decision import Decision, Verdict
from crabhook.model.event import Event, ToolCall
from crabhook.platforms import PLATFORMS
from crabhook.present.body import LABELS
from crabhook.present.phrases import countdown
from crabhook.ui.plain.output import FIRST, PROGRAMS, WHOLE
from tests.support.desk import PlayedDesk
from tests.support.rows import every_row

SAMPLES = Path("tests/samples/claude")
REFUSING = "1 deny REASON | 1 ask | 1 pass"
BESIDES = "1 defer | 1 halt REASON | 1 tell MESSAGE"


def sample(name: str) -> dict[str, Any]:
    return dict(json.loads((SAMPLES / f"{name}.json").read_text()))


def card_of(event: Event, **more: Any) -> Card:
    request = Leg("r", event, wait_until=600.0)
    return Card(7, (request,), asked_at=0.0, choices=PLATFORMS["claude"].choices(event), **more)


def tool_card(tool: str, tool_input: Any) -> Card:
    return card_of(Event("claude", "PreToolUse", tool=ToolCall(tool, tool_input)))


def test_a_card_is_a_header_its_facts_its_input_and_the_words_that_fit() -> None:
    desk = PlayedDesk()
    desk.ask(sample("PermissionRequest-Bash"), wait=600)
    desk.pass_time(12)
    (card,) = desk.waiting()
    (leg,) = card.requests
    card = replace(card, requests=(replace(leg, origin=Origin("box", 42, "dev")),))
    payload = sample("PermissionRequest-Bash")
    block = PROGRAMS.block(card, desk.now())
    assert block[0] == (
        f"#1 PermissionRequest Bash session={payload['session_id']} cwd={payload['cwd']}"
    )
    assert block[1:5] == [
        f"  mode: {payload['permission_mode']}",
        "  from: dev@box process 42",
        "  here because: the agent itself asks",
        "  time left: 9:48",
    ]
    assert block[5:7] == ["  command:", f"    {payload['tool_input']['command']}"]
    assert block[7:-2] == [
        "  description: write",
        "  always 1: also work in /home/dev/project → this session",
    ]
    assert block[-2].split(" | ") == [
        "  answer with: 1 allow [note]",
        *REFUSING.split(" | "),
        "1 edit TEXT",
        "1 always K [session|local|project|user]",
        "1 remember",
        "1 deny --interrupt REASON",
        "1 halt REASON",
    ]
    assert block[-1] == ""


def test_every_kind_of_request_claude_sends_can_be_shown() -> None:
    desk = PlayedDesk()
    asking = [*SAMPLES.glob("PermissionRequest-*.json"), *SAMPLES.glob("PreToolUse-*.json")]
    assert len(asking) > 15
    for path in sorted(asking):
        desk.ask(json.loads(path.read_text()))
    for card in desk.waiting():
        block = PROGRAMS.block(card, desk.now())
        assert card.event.session in block[0]
        assert "shortened" not in "\n".join(block)


def test_questions_are_answered_by_number() -> None:
    desk = PlayedDesk()
    desk.ask(sample("PermissionRequest-AskUserQuestion"))
    (card,) = desk.waiting()
    closing = PROGRAMS.block(card, desk.now())[-2]
    assert closing.startswith("  answer with: 1 answer 1=1")
    assert f" | {REFUSING} | " in closing
    assert "edit" not in closing


def test_questions_that_cannot_be_read_leave_the_words_of_any_call() -> None:
    block = PROGRAMS.block(tool_card("AskUserQuestion", {"questions": "?"}), 0)
    assert any(line.startswith("  these questions cannot be read: ") for line in block)
    told = f"  answer with: 1 allow [note] | {REFUSING} | 1 edit TEXT | {BESIDES}"
    assert block[-2] == told.replace("1 ", "7 ")


def test_a_subagent_and_the_client_are_named() -> None:
    event = Event("claude", "Odd", agent_id="a7f2", agent_type="Explore")
    request = Leg("r", event, 600.0, origin=Origin("box", 42, "dev"))
    block = PROGRAMS.block(Card(7, (request,), 0.0), 0)
    assert block[:3] == [
        "#7 Odd session= cwd=",
        "  agent: Explore a7f2",
        "  from: dev@box process 42",
    ]


def test_a_client_without_a_user_is_named_by_its_host() -> None:
    request = Leg("r", Event("claude", "Odd"), 600.0, origin=Origin("box", 42))
    assert PROGRAMS.block(Card(7, (request,), 0.0), 0)[1] == "  from: box process 42"


def test_a_client_whose_process_is_not_known_is_given_none() -> None:
    request = Leg("r", Event("claude", "Odd"), 600.0, origin=Origin("box"))
    assert PROGRAMS.block(Card(7, (request,), 0.0), 0)[1] == "  from: box"


def test_an_ended_card_tells_how_it_ended_instead_of_what_to_write() -> None:
    desk = PlayedDesk()
    desk.ask(sample("PermissionRequest-Bash"))
    ended = desk.answer(1, Decision(Verdict.ASK))
    block = PROGRAMS.block(ended, desk.now())
    assert block[-2] == "  ended: HANDED BACK"
    assert not any("time left" in line for line in block)


def test_a_long_request_is_shortened_and_says_how_to_see_all_of_it() -> None:
    given = {"command": "\n".join(f"echo {n}" for n in range(1000))}
    card = tool_card("Bash", given)
    block = PROGRAMS.block(card, 0)
    assert len(block) <= FIRST[0] + 10
    assert "    echo 0" in block
    assert "    echo 999" in block
    assert block[-3] == '  shortened: "7 show" prints more of it'
    whole = PROGRAMS.block(card, 0, whole=True)
    assert [line for line in whole if "echo" in line] == [f"    echo {n}" for n in range(1000)]


def test_even_the_whole_has_a_bound_and_says_so() -> None:
    card = tool_card("Bash", {"command": "x" * (WHOLE[1] * 2)})
    whole = PROGRAMS.block(card, 0, whole=True)
    assert whole[-3] == "  shortened: this is the most the plain desk prints"
    assert len("\n".join(whole)) < WHOLE[1] + 1000
    assert len("\n".join(PROGRAMS.block(card, 0))) < FIRST[1] + 1000


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0:00"), (-5, "0:00"), (9.9, "0:09"), (588, "9:48"), (3600, "1:00:00"), (7325, "2:02:05")],
)
def test_times_are_told_in_minutes_and_seconds(seconds: float, text: str) -> None:
    assert countdown(seconds) == text


# What a hostile agent can do to the lines: nothing.

FORGERIES = st.sampled_from(
    [
        "\n#8 ALLOWED",
        "\r\n#8 PreToolUse Bash session=x cwd=/",
        "\r#8 DENIED no",
        "\u2028#8 ALLOWED",
        "\x85#8 ALLOWED",
        "\x0b#8\x0c#9",
        "\n  mode: plan",
        "\n  answer with: 8 allow",
        "\n· PostToolUse",
        "\n! nothing",
        "\x1b[1A\x1b[2K#8 ALLOWED",
        "\u202e\u2066",
        " session=fake cwd=/",
        "\ud800",
    ]
)
TEXT = st.one_of(
    FORGERIES, st.text(max_size=30), st.tuples(FORGERIES, st.text(max_size=9)).map("".join)
)
VALUE = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), TEXT),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
OPTION = st.fixed_dictionaries({"label": TEXT, "description": TEXT, "preview": TEXT})
QUESTION = st.fixed_dictionaries(
    {"question": TEXT, "header": TEXT, "options": st.lists(OPTION, max_size=3), "kind": TEXT}
)
EDIT = st.fixed_dictionaries({"old_string": TEXT, "new_string": TEXT}, optional={"x": VALUE})
INPUT = st.fixed_dictionaries(
    {},
    optional={
        "command": VALUE,
        "description": TEXT,
        "file_path": TEXT,
        "old_string": TEXT,
        "new_string": TEXT,
        "content": TEXT,
        "plan": TEXT,
        "edits": st.lists(EDIT, max_size=3),
        "questions": st.lists(QUESTION, max_size=3),
        "unknown": VALUE,
    },
)
KNOWN = [*LABELS, "session_id", "tool_input", "tool_name", "effort", "requested_schema"]
PROPERTY = st.fixed_dictionaries(
    {"type": TEXT, "title": TEXT},
    optional={"description": TEXT, "enum": st.lists(VALUE), "default": VALUE, "format": TEXT},
)
SCHEMA = st.fixed_dictionaries({"properties": st.dictionaries(TEXT, PROPERTY, max_size=3)})
UPDATE = st.fixed_dictionaries(
    {"type": st.sampled_from(["addRules", "setMode", "addDirectories"]), "destination": TEXT},
    optional={"mode": TEXT, "behavior": TEXT, "directories": st.lists(TEXT), "rules": VALUE},
)
SUGGESTED = st.lists(UPDATE | VALUE, max_size=3)
EVENT = st.builds(
    Event,
    platform=TEXT,
    name=TEXT | st.sampled_from(["Stop", "Elicitation", "PermissionRequest", "PostToolUse"]),
    session=TEXT,
    cwd=TEXT,
    permission_mode=TEXT,
    agent_id=TEXT,
    agent_type=TEXT,
    tool=st.none() | st.builds(ToolCall, TEXT | st.just("AskUserQuestion"), INPUT | VALUE),
    fields=st.dictionaries(TEXT, VALUE, max_size=3)
    | st.dictionaries(st.sampled_from(KNOWN), VALUE, max_size=6)
    | st.fixed_dictionaries({"requested_schema": SCHEMA, "permission_suggestions": SUGGESTED}),
)
OURS = re.compile(
    r"  (agent: |mode: |time left: \d+:\d\d$|command:$|description: |file_path: |change:$|content:$"
    r"|plan:$|\d+ of \d+:$|with:$|\d+\. |these questions cannot be read: |(other )?input:$|event:$"
    r"|answer with: 7 |covered: secrets; |\s\s)|     \d\) "
    rf"|  ({'|'.join(map(re.escape, LABELS.values()))}|other fields|always \d|field|kept going):"
)
ONCE = ("  mode: ", "  agent: ", "  time left: ", "  answer with: ", "  command:", "  plan:")


@given(EVENT)
def test_no_text_of_an_agents_can_pass_for_a_line_of_ours(event: Event) -> None:
    first, *lines, closing, blank = PROGRAMS.block(card_of(event), 0)
    assert first.startswith("#7 ")
    assert closing.startswith("  answer with: 7 ")
    assert blank == ""
    assert all(OURS.match(line) for line in lines), lines
    assert all(sum(line.startswith(label) for line in lines) <= 1 for label in ONCE)


@given(EVENT)
def test_no_line_holds_a_character_that_acts_or_hides(event: Event) -> None:
    for line in PROGRAMS.block(card_of(event), 0):
        assert line.isprintable(), line
        assert line.splitlines() in ([line], [])


@given(EVENT)
def test_the_header_can_be_taken_apart_whatever_the_agent_named_itself(event: Event) -> None:
    first = PROGRAMS.block(card_of(event), 0)[0]
    words, _, cwd = first.partition(" cwd=")
    number, *names, session = words.split(" ")
    assert number == "#7"
    assert len(names) == 1 + bool(event.tool)
    assert session.startswith("session=")
    assert not any("=" in name for name in names)
    assert cwd.count("fake") == event.cwd.count("fake")


def test_what_a_hook_cannot_do_stands_on_a_line_of_its_own_while_the_card_waits() -> None:
    event = Event("gemini", "BeforeTool", tool=ToolCall("replace", {"file_path": "a"}))
    limits = tuple(PLATFORMS["gemini"].limits(event))
    card = replace(card_of(event), limits=limits)
    assert f"  limit: {limits[0]}" in PROGRAMS.block(card, 0.0)
    ended = replace(card, state=State.WITHDRAWN)
    assert not any("limit:" in line for line in PROGRAMS.block(ended, 0.0))


KEY = "sk-ant-api03-" + "aB3" * 20
SECRETS: list[tuple[str, dict[str, Any]]] = [
    ("Bash", {"command": f"echo a\ncurl -H 'PRIVATE-TOKEN: s3cr3tvalue' x\nexport K={KEY}"}),
    ("Write", {"file_path": "a", "content": f"x\nAPI_TOKEN={KEY}\n"}),
    ("Edit", {"file_path": "a", "old_string": f"k = '{KEY}'", "new_string": "k = ''"}),
    ("mcp__a__b", {"deep": [{"password": "hunter2hunter2", "text": KEY}]}),
    ("Task", {"prompt": f"use {KEY}", "description": KEY}),
    ("Read", {"file_path": f"/tmp/{KEY}"}),
]


@every_row("tool, given", SECRETS)
@every_row("whole", [False, True])
def test_no_secret_is_printed_in_the_clear_until_it_is_asked_for(
    tool: str, given: dict[str, Any], *, whole: bool
) -> None:
    event = Event("claude", "PreToolUse", "s", "/p", tool=ToolCall(tool, given))
    card = card_of(event, reason=Because(Brought.RULE, f"a rule says so: {KEY}"))
    shown = "\n".join(PROGRAMS.block(card, 0.0, whole=whole))
    for secret in (KEY, KEY[20:40], "s3cr3tvalue", "hunter2hunter2"):
        assert secret not in shown
    assert '"7 show secrets" prints them' in shown
    bare = "\n".join(PROGRAMS.block(card, 0.0, bare=True))
    assert KEY in bare
    assert "covered" not in bare


@pytest.mark.parametrize(
    "field", ["command", "file_path", "content", "prompt", "x", "plan", "description"]
)
def test_of_a_huge_input_a_bounded_part_is_printed(field: str) -> None:
    lines = "x\n" * WHOLE[0] + f"token=abc {'x' * 90}\n" * 2_500  # past both bounds
    huge = {field: lines, "deep": [{"y" * 100_000: "z" * 100_000}] * 20}
    event = Event(
        "c" * 9999, "PreToolUse", "s" * 100_000, "/p" * 100_000, tool=ToolCall("T" * 100_000, huge)
    )
    card = card_of(
        replace(event, permission_mode="m" * 100_000),
        reason=Because(Brought.RULE, "why " * 100_000),
    )
    unasked = "\n".join(PROGRAMS.block(card, 0.0))
    assert len(unasked) < FIRST[1] + 10_000
    assert unasked.count("\n") < FIRST[0] + 50
    assert len("\n".join(PROGRAMS.block(card, 0.0, whole=True))) < WHOLE[1] + 10_000
