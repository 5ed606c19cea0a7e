"""The race of editor and desk: the first answer counts, and all else passes as it came."""

import json
import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.acp import conversation
from crabhook.acp.conversation import (
    PASS,
    RACES_AT_ONCE,
    AskDesk,
    Conversation,
    Race,
    RaceStage,
    Step,
    Tell,
    ToAgent,
    ToEditor,
    read,
)
from tests.support.examples import examples
from tests.support.rows import every_row

ONCE = {"outcome": {"outcome": "selected", "optionId": "once"}}
REJECT = {"outcome": {"outcome": "selected", "optionId": "no"}}
OPTIONS = [
    {"optionId": "always", "name": "Always", "kind": "allow_always"},
    {"optionId": "once", "name": "Once", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
    {"optionId": "never", "name": "Never", "kind": "reject_always"},
]
CALL = {"toolCallId": "c1", "title": "touch made", "kind": "execute", "rawInput": {"command": "ls"}}


class Talk:
    """A conversation whose two sides say messages."""

    def __init__(self, session: str = "s") -> None:
        self.talk = Conversation()
        self.editor(id=1, method="initialize", params={})
        about = {"name": "gemini-cli", "title": "Gemini CLI", "version": "0.61.0"}
        self.agent(id=1, result={"agentInfo": about})
        self.editor(id=2, method="session/new", params={"cwd": "/home/dev/project"})
        modes = {"currentModeId": "default", "availableModes": []}
        self.agent(id=2, result={"sessionId": session, "modes": modes})

    def agent(self, **message: Any) -> list[Step]:
        line = json.dumps({"jsonrpc": "2.0", **message}).encode()
        return self.talk.from_agent(read(line), len(line))

    def editor(self, **message: Any) -> list[Step]:
        line = json.dumps({"jsonrpc": "2.0", **message}).encode()
        return self.talk.from_editor(read(line), len(line))

    def asks(self, id: object = 7, session: str = "s", **more: Any) -> Race:  # noqa: A002 - JSON-RPC's word
        """The agent asks, and the editor has its dialog."""
        params = {"sessionId": session, "toolCall": CALL, "options": OPTIONS} | more
        (ask,) = self.agent(id=id, method="session/request_permission", params=params)
        assert isinstance(ask, AskDesk)
        ask.race.shown = True
        return ask.race


def kinds(steps: Sequence[Step]) -> list[str]:
    return [type(step).__name__ for step in steps]


def told(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """What the server is told."""
    return [json.loads(step.payload) for step in steps if isinstance(step, Tell)]


def test_the_desk_is_asked_about_the_call_in_its_sessions_folder_and_mode() -> None:
    talk = Talk()
    talk.agent(
        method="session/update",
        params={"sessionId": "s", "update": {"sessionUpdate": "current_mode_update", "currentModeId": "plan"}},
    )  # fmt: skip
    asked = json.loads(talk.asks().payload)
    assert asked["hook_event_name"] == "session/request_permission"
    assert (asked["session_id"], asked["cwd"], asked["permission_mode"]) == ("s", "/home/dev/project", "plan")  # fmt: skip
    assert asked["agent"] == {"name": "gemini-cli", "title": "Gemini CLI", "version": "0.61.0"}
    assert (asked["tool_call"], asked["options"]) == (CALL, OPTIONS)


def test_the_desks_answer_goes_to_the_agent_and_the_editors_dialog_is_taken_back() -> None:
    talk = Talk()
    race = talk.asks(id=0)
    to_agent, to_editor = talk.talk.decided(race, ONCE)
    assert isinstance(to_agent, ToAgent)
    assert json.loads(to_agent.data) == {"jsonrpc": "2.0", "id": 0, "result": ONCE}
    assert isinstance(to_editor, ToEditor)
    assert json.loads(to_editor.data)["params"] == {"requestId": 0}
    assert talk.editor(id=0, result=REJECT) == []
    assert talk.editor(id=0, result=REJECT) == [PASS], "only the late answer itself is dropped"


def test_a_dialog_that_was_not_opened_is_not_taken_back() -> None:
    talk = Talk()
    race = talk.asks()
    race.shown = False
    assert kinds(talk.talk.decided(race, REJECT)) == ["ToAgent"]


def test_the_editors_answer_passes_and_the_desks_comes_too_late() -> None:
    talk = Talk()
    race = talk.asks()
    steps = talk.editor(id=7, result=ONCE)
    assert steps[0] == PASS
    (end,) = told(steps)
    assert (end["hook_event_name"], end["how"]) == ("acp/answered", "once")
    assert talk.talk.decided(race, REJECT) == []
    assert race.stage is RaceStage.OVER


@pytest.mark.parametrize("option", ["always", "never", "other", ""])
def test_the_desk_never_chooses_what_the_agent_would_keep(option: str) -> None:
    talk = Talk()
    race = talk.asks()
    answer = {"outcome": {"outcome": "selected", "optionId": option}}
    steps = talk.talk.decided(race, answer)
    assert "ToAgent" not in kinds(steps)
    assert race.stage is RaceStage.OPEN, "the editor still may answer"


UPDATE = {"sessionUpdate": "tool_call_update", "toolCallId": "c1"}


@every_row(
    "side, message",
    [
        ("editor", {"method": "session/cancel", "params": {"sessionId": "s"}}),
        ("agent", {"method": "$/cancel_request", "params": {"requestId": 7}}),
        ("agent", {"method": "session/update", "params": {"sessionId": "s", "update": UPDATE | {"status": "failed"}}}),
        ("agent", {"method": "session/update", "params": {"sessionId": "s", "update": UPDATE | {"status": "completed"}}}),
        ("agent", {"id": 3, "result": {"stopReason": "cancelled"}}),
        ("agent", {"id": 7, "method": "session/request_permission", "params": {"sessionId": "s"}}),
    ],
)  # fmt: skip
def test_what_ends_the_card_passes_and_is_never_an_allow(side: str, message: Any) -> None:
    talk = Talk()
    talk.editor(id=3, method="session/prompt", params={"sessionId": "s", "prompt": []})
    race = talk.asks()
    steps = getattr(talk, side)(**message)
    assert steps[0] == PASS
    assert race in [each for step in steps if isinstance(step, Tell) for each in step.then]
    assert not any(isinstance(step, ToAgent | ToEditor) for step in steps)
    assert talk.talk.decided(race, ONCE) == []


def test_the_end_of_a_peer_ends_every_card_and_session() -> None:
    talk = Talk()
    race = talk.asks()
    steps = talk.talk.ended("the agent has ended")
    assert [event["hook_event_name"] for event in told(steps)] == ["acp/answered", "acp/gone"]
    assert talk.talk.decided(race, ONCE) == []


def test_an_agent_that_asks_for_somebody_elses_session_is_a_stranger() -> None:
    talk = Talk()
    params = {"sessionId": "another", "toolCall": CALL, "options": OPTIONS}
    steps = talk.agent(id=9, method="session/request_permission", params=params)
    assert kinds(steps) == ["Pass", "Complain", "Tell"]
    assert told(steps)[0]["hook_event_name"] == "acp/warning"
    assert talk.talk.open_races() == []


@every_row(
    "line",
    [b"{", b"[1]\n", b"\xff\n", b'{"id": NaN}\n', b"null\n", b"nonsense\n", b"[" * 300 + b"\n"],
)
def test_what_cannot_be_read_passes_and_is_told(line: bytes) -> None:
    for side in (Conversation().from_agent, Conversation().from_editor):
        steps = side(read(line), len(line))
        assert kinds(steps) == ["Pass", "Complain", "Tell"]


def test_a_blank_line_passes_without_a_word() -> None:
    for side in (Conversation().from_agent, Conversation().from_editor):
        assert side(read(b" \n"), 2) == [PASS]


def test_what_an_update_told_of_a_call_is_on_its_card() -> None:
    talk = Talk()
    update = {"sessionUpdate": "tool_call", "toolCallId": "c2", "kind": "execute", "rawInput": {}}
    for more in ({}, {"rawInput": {"command": "make", "cwd": "/p"}}):
        talk.agent(method="session/update", params={"sessionId": "s", "update": update | more})
    race = talk.asks(
        toolCall={"toolCallId": "c2", "title": "Build", "rawInput": {"command": "make"}}
    )
    call = json.loads(race.payload)["tool_call"]
    assert call["rawInput"] == {"command": "make", "cwd": "/p"}
    assert (call["kind"], call["title"]) == ("execute", "Build")


def test_an_input_that_is_another_than_before_counts_alone() -> None:
    talk = Talk()
    update = {
        "sessionUpdate": "tool_call",
        "toolCallId": "c2",
        "rawInput": {"command": "ls", "cwd": "/"},
    }
    talk.agent(method="session/update", params={"sessionId": "s", "update": update})
    race = talk.asks(toolCall={"toolCallId": "c2", "rawInput": {"command": "rm"}})
    assert json.loads(race.payload)["tool_call"]["rawInput"] == {"command": "rm"}


def test_a_session_goes_on_in_its_folder_and_mode_after_another_was_made_of_it() -> None:
    talk = Talk()
    talk.editor(id=3, method="session/fork", params={"sessionId": "s", "cwd": "/elsewhere"})
    talk.agent(id=3, result={"sessionId": "t", "modes": {"currentModeId": "plan"}})
    for session, cwd, mode in (("s", "/home/dev/project", "default"), ("t", "/elsewhere", "plan")):
        asked = json.loads(talk.asks(id=session, session=session).payload)
        assert (asked["cwd"], asked["permission_mode"]) == (cwd, mode)


def test_what_is_kept_of_calls_has_a_bound_although_they_are_told_in_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(conversation, "CALLS_KEPT", 100_000)
    talk = Talk()
    for number in range(20):
        call = {"sessionUpdate": "tool_call", "toolCallId": f"n{number}"}
        for part in ({"rawInput": {"text": "a" * 50_000}}, {"title": "more"}):
            params = {"sessionId": "s", "update": call | part}
            talk.agent(method="session/update", params=params)
    kept = [
        len(json.loads(talk.asks(id=n, toolCall={"toolCallId": f"n{n}"}).payload)["tool_call"])
        for n in range(20)
    ]
    assert kept == [1] * 19 + [3], "the oldest are forgotten first"


def test_a_call_that_is_told_anew_and_anew_is_not_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(conversation, "CALLS_KEPT", 100_000)
    talk = Talk()
    for each in ({"rawInput": {"command": "ls"}}, *[{"content": [{"text": "a" * 30_000}]}] * 9):
        update = {"sessionUpdate": "tool_call_update", "toolCallId": "n", **each}
        talk.agent(method="session/update", params={"sessionId": "s", "update": update})
    asked = json.loads(talk.asks(toolCall={"toolCallId": "n"}).payload)
    assert asked["tool_call"]["rawInput"] == {"command": "ls"}


def test_of_too_many_requests_the_editor_decides_alone() -> None:
    talk = Talk()
    for number in range(RACES_AT_ONCE):
        talk.asks(id=f"n{number}")
    params = {"sessionId": "s", "toolCall": CALL, "options": OPTIONS}
    steps = talk.agent(id=9, method="session/request_permission", params=params)
    assert steps[0] == PASS
    assert kinds(steps[1:]) == ["Complain", "Tell"]


def test_a_request_of_64_mib_comes_to_the_desk_cut_and_says_so() -> None:
    talk = Talk()
    long = CALL | {"content": [{"type": "diff", "path": "/x", "newText": "a" * (64 << 20)}]}
    asked = json.loads(talk.asks(toolCall=long).payload)
    assert asked["cut"]["bytes"] > 64 << 20
    assert len(asked["tool_call"]["content"][0]["newText"]) < 10_000
    assert asked["options"] == OPTIONS


@given(st.integers(0, 2**32))
@examples(1000)
def test_of_a_thousand_races_each_has_one_outcome(seed: int) -> None:
    """Editor and desk answer in any order, and whatever else ends a request comes in between."""
    chance = random.Random(seed)
    talk = Talk()
    race = talk.asks(id=seed)
    moves = ["editor", "desk", *chance.sample(["cancel", "update", "editor", "desk"], 2)]
    chance.shuffle(moves)
    answers: list[Any] = []
    cancelled = False
    for move in moves:
        if move == "editor":
            if PASS in talk.editor(id=seed, result=ONCE) and not answers and not cancelled:
                answers.append(ONCE)
        elif move == "desk":
            steps = talk.talk.decided(race, REJECT)
            answers += [json.loads(s.data)["result"] for s in steps if isinstance(s, ToAgent)]
        elif move == "cancel":
            talk.editor(method="session/cancel", params={"sessionId": "s"})
            cancelled = True
        else:
            update = UPDATE | {"status": "failed"}
            talk.agent(method="session/update", params={"sessionId": "s", "update": update})
            cancelled = True
    assert len(answers) <= 1
    assert answers or cancelled
    assert race.stage is not RaceStage.OPEN
