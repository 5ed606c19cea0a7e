"""What the recorded requests of each agent are read as, and the result that answers them."""

import json
from typing import Any

import pytest

from crabhook.model.card import Stance
from crabhook.model.decision import Beside, Decision, Verdict
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event
from crabhook.model.question import Answer, merge_answers
from crabhook.platforms import PLATFORMS
from crabhook.platforms.event_table import Held
from tests.support.client import sample
from tests.support.rows import every_row

ACP = PLATFORMS["acp"]
ALLOW, DENY = Decision(Verdict.ALLOW), Decision(Verdict.DENY)


def request(name: str, **changes: Any) -> Event:
    return ACP.read(sample(name, agent="acp", **changes))


def result(event: Event, decision: Decision) -> Any:
    ACP.check(event, decision)
    return ACP.write(event, decision).output


@every_row(
    "name, agent, tool, first",
    [
        ("qwen-run_shell_command", "qwen", "run_shell_command", ("command", "touch made.txt")),
        ("qwen-write_file", "qwen", "write_file", ("file_path", "/home/dev/project/w.txt")),
        ("qwen-web_fetch", "qwen", "web_fetch", ("url", "http://127.0.0.1:1/x")),
        ("qwen-mcp__echo__echo", "qwen", "mcp__echo__echo", ("text", "hi")),
        ("claude-agent-acp-Bash", "claude", "Bash", ("command", "touch made.txt")),
        ("claude-agent-acp-Write", "claude", "Write", ("file_path", "/home/dev/project/new.txt")),
        ("codex-acp-execute", "codex", "Bash", ("command", "touch made.txt")),
        ("gemini-execute", "gemini", "Bash", ("command", "touch made.txt")),
        ("gemini-edit", "gemini", "Write", ("file_path", "/home/dev/project/new.txt")),
        ("copilot-execute", "copilot", "Bash", ("command", "false")),
        ("copilot-edit", "copilot", "Edit", ("file_path", "/home/dev/project/new.txt")),
        ("copilot-other", "copilot", "other", ("text", "hello")),
        ("opencode-execute", "opencode", "Bash", ("command", "touch made.txt")),
        ("opencode-edit", "opencode", "Write", ("file_path", "/home/dev/project/w.txt")),
    ],
)
def test_a_call_has_the_name_and_the_input_that_rules_know(
    name: str, agent: str, tool: str, first: tuple[str, str]
) -> None:
    event = request(name)
    assert event.tool is not None
    assert (event.agent, event.tool.name) == (agent, tool)
    assert next(iter(event.given.items())) == first
    assert ACP.held(event, Stance.COMPANION) is Held.ALWAYS


@every_row(
    "name, once, reject",
    [
        ("qwen-run_shell_command", "proceed_once", "cancel"),
        ("claude-agent-acp-Bash", "allow-once", "reject"),
        ("codex-acp-execute", "allow_once", "cancel"),
        ("gemini-execute", "proceed_once", "cancel"),
        ("copilot-execute", "allow_once", "reject_once"),
        ("opencode-execute", "once", "reject"),
    ],
)
def test_an_answer_is_the_option_of_its_kind_and_never_an_always(
    name: str, once: str, reject: str
) -> None:
    event = request(name)
    for decision, option in ((ALLOW, once), (DENY, reject)):
        assert result(event, decision) == {"outcome": {"outcome": "selected", "optionId": option}}
    for silent in (Verdict.ASK, Verdict.PASS):
        assert ACP.write(event, Decision(silent)).output is None


def test_neither_edit_nor_reason_nor_note_is_offered() -> None:
    choices = ACP.choices(request("gemini-execute"))
    assert choices.beside == Beside.RULE | Beside.WORDLESS
    for more in ({"updated_input": {"command": "ls"}}, {"note": "well"}):
        with pytest.raises(DecisionError):
            ACP.check(request("gemini-execute"), Decision(Verdict.ALLOW, **more))


OPTIONS = {
    kind: {"optionId": f"id of {kind}", "name": kind, "kind": kind}
    for kind in ("allow_once", "allow_always", "reject_once", "reject_always")
}


@every_row(
    "offered, verdicts",
    [
        ((), None),
        (("allow_always", "reject_always"), None),
        (("allow_always", "reject_once"), {Verdict.DENY}),
        (("allow_once", "reject_always"), {Verdict.ALLOW}),
        (("allow_once", "allow_once", "reject_once"), {Verdict.DENY}),
        (("allow_once", "reject_once", "reject_once"), {Verdict.ALLOW}),
    ],
)
def test_where_no_answer_for_once_is_offered_or_several_are_there_is_none(
    offered: tuple[str, ...], verdicts: set[Verdict] | None
) -> None:
    event = request("gemini-execute", options=[OPTIONS[kind] for kind in offered])
    assert ACP.held(event, Stance.COMPANION) is (Held.NEVER if verdicts is None else Held.ALWAYS)
    can = ACP.choices(event).verdicts - {Verdict.ASK, Verdict.PASS}
    assert can == (verdicts or set())
    if Verdict.ALLOW not in can:
        assert ACP.write(event, ALLOW).output is None
        assert ACP.asks(event), "or an order to allow all would say that it allowed"


def test_two_ways_to_leave_a_plan_are_left_to_the_editor() -> None:
    plan = request("qwen-exit_plan_mode")
    assert ACP.asks(plan)
    assert Verdict.ALLOW not in ACP.choices(plan).verdicts
    assert any("restore previous mode" in limit for limit in ACP.limits(plan))


def test_the_answers_to_questions_go_beside_the_outcome_by_their_place() -> None:
    event = request("qwen-ask_user_question")
    assert event.tool is not None
    answered = merge_answers(event.tool.input, {0: Answer(chosen=(1,))})
    told = result(event, Decision(Verdict.ALLOW, updated_input=answered))
    assert told["answers"] == {"0": "Blue"}
    assert told["outcome"]["optionId"] == "proceed_once"
    with pytest.raises(DecisionError, match="answer the questions"):
        ACP.check(event, ALLOW)


def test_a_form_is_accepted_with_its_values() -> None:
    form = request("claude-agent-acp-form-mcp")
    accepted = Decision(Verdict.ACCEPT, content={"size": "M", "gift": True})
    assert result(form, accepted) == {"action": "accept", "content": {"size": "M", "gift": True}}
    assert result(form, Decision(Verdict.DECLINE)) == {"action": "decline"}
    with pytest.raises(DecisionError):
        ACP.check(form, Decision(Verdict.ACCEPT, content={"size": "XXL"}))


def test_a_request_that_was_cut_is_not_allowed_from_a_card() -> None:
    event = request("gemini-execute", cut={"bytes": 64 << 20})
    assert Verdict.ALLOW not in ACP.choices(event).verdicts
    assert Verdict.DENY in ACP.choices(event).verdicts
    assert ACP.write(event, ALLOW).output is None
    assert any("64 MiB" in limit for limit in ACP.limits(event))


@every_row(
    "text, cwd",
    [
        ("[current working directory /p] (Make)", None),
        ("[in /other] (Make)", "/other"),
        ("[in /odd]/name] (Make)", ["/odd", "/odd]/name"]),
        ("[in /other] (a [b] c)", ["/other", "/other] (a [b"]),
    ],
)
def test_a_folder_that_can_be_read_in_two_ways_is_told_as_two(text: str, cwd: Any) -> None:
    call = json.loads(sample("gemini-execute", agent="acp"))["tool_call"]
    content = [{"type": "content", "content": {"type": "text", "text": text}}]
    event = request("gemini-execute", tool_call=call | {"content": content})
    assert event.given.get("cwd") == cwd


def test_a_title_is_no_command_but_of_an_agent_that_is_known_for_it() -> None:
    about = {"name": "some-agent", "title": "Some", "version": "1"}
    said = json.loads(sample("gemini-execute", agent="acp")) | {"agent": about}
    event = ACP.read(json.dumps(said).encode())
    assert event.tool is not None
    assert (event.agent, event.tool.name) == ("acp", "execute")
    assert event.given == {"description": "touch made.txt"}


def test_a_second_file_is_never_lost() -> None:
    call = json.loads(sample("gemini-edit", agent="acp"))["tool_call"]
    places = [{"path": "/home/dev/project/new.txt"}, {"path": "/etc/passwd"}]
    event = request("gemini-edit", tool_call=call | {"locations": places})
    assert event.given["path"] == "/etc/passwd"
