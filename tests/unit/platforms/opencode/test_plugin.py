"""Our plugin in OpenCode's own runtime: each habit of OpenCode that would let a call run, or hang."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from crabhook.model.card import Stance
from crabhook.platforms.opencode.settings import plugin
from tests.support.opencode_plugin import PluginStage, Reply, before, event, permission
from tests.support.rows import every_row

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.support.opencode_plugin import Played, Says

pytestmark = [pytest.mark.process, pytest.mark.timeout(120)]

QUESTIONS = [
    {
        "question": "Which colour?",
        "header": "Colour",
        "options": [{"label": "Red"}, {"label": "Blue"}],
    }
]
TOUCH = before("bash", command="touch made")


def asked_of(name: str, output: object, **more: Any) -> Says:
    """Say this to one event, and nothing to the others."""

    def says(asked: Mapping[str, Any]) -> Reply | None:
        return Reply(output, **more) if asked["hook_event_name"] == name else None

    return says


def play(folder: Path, says: Says, *steps: Any, how: Any = None, **scene: Any) -> Played:
    with PluginStage(folder, says, how or {}) as stage:
        return stage.play(*steps, **scene)


def on_call(output: object, **more: Any) -> Says:
    return asked_of("tool.execute.before", output, **more)


def on_request(output: object, **more: Any) -> Says:
    return asked_of("permission.asked", output, **more)


GATE = {"stance": Stance.GATE}

# A call.


def test_an_allowed_call_runs_as_it_is(tmp_path: Path) -> None:
    played = play(tmp_path, on_call({"decision": "allow"}), TOUCH)
    assert played.results == [{"ran": {"command": "touch made"}}]


def test_a_denial_is_thrown_and_its_reason_is_all_that_is_said(tmp_path: Path) -> None:
    played = play(tmp_path, on_call({"decision": "deny", "reason": "not today"}), TOUCH)
    assert played.results == [{"threw": "not today"}]


def test_an_edited_input_is_the_whole_input(tmp_path: Path) -> None:
    edited = {"command": "touch other", "__proto__": {"a": 1}}
    call = before("bash", command="touch made", description="make it")
    played = play(tmp_path, on_call({"decision": "allow", "input": edited}), call)
    assert played.results == [{"ran": edited}]


@every_row(
    "output",
    [{}, [], True, 7, "allow", {"decision": "always"}, {"decision": None}, {"decision": "deny"}],
)
def test_what_is_no_allow_denies_with_words(tmp_path: Path, output: object) -> None:
    (result,) = play(tmp_path, on_call(output), TOUCH).results
    assert result["threw"].strip()


def test_no_opinion_leaves_the_call_to_opencode(tmp_path: Path) -> None:
    played = play(tmp_path, lambda _: None, TOUCH, how=GATE)
    assert played.results == [{"ran": {"command": "touch made"}}]


# Without an answer.

NO_SERVER: Any = ({"url": "http://127.0.0.1:9"}, lambda _: None)
STOPPED: Any = ({}, lambda _: Reply("no", 503))
WRONG_TOKEN: Any = ({}, lambda _: Reply("no", 401))


@pytest.mark.parametrize("failure", [NO_SERVER, STOPPED, WRONG_TOKEN])
@pytest.mark.parametrize(
    ("stance", "denies"),
    [({"stance": Stance.COMPANION}, False), (GATE, True), ({"fail_closed": True}, True)],
)
def test_without_an_answer_a_gate_denies_and_a_companion_has_no_opinion(
    tmp_path: Path, failure: Any, stance: Any, *, denies: bool
) -> None:
    how, says = failure
    steps = (TOUCH, permission(1, "touch other", "call_9"), {"pause": 200})
    played = play(tmp_path, says, *steps, how={**how, **stance})
    result, *_ = played.results
    assert ("crabhook cannot ask the operator" in result.get("threw", "")) is denies
    replies = [answer["body"]["reply"] for answer in played.answers]
    assert replies == (["reject"] if denies else [])
    assert all(answer["body"]["message"] for answer in played.answers)


def test_a_wait_ends(tmp_path: Path) -> None:
    # The installer adds half a minute to what is given, so the plugin's own line is shortened.
    with PluginStage(tmp_path, lambda _: Reply({"decision": "allow"}, after=10), GATE) as stage:
        stage.seconds = 1
        (result,) = stage.play(TOUCH).results
    assert "nobody decided in time" in result["threw"]


@pytest.mark.parametrize("over", ["session.idle", "session.error", "session.deleted"])
@pytest.mark.parametrize("stance", [Stance.COMPANION, Stance.GATE])
def test_the_end_of_a_turn_withdraws_what_waits_and_the_call_does_not_run(
    tmp_path: Path, over: str, stance: Stance
) -> None:
    ends = {"together": [TOUCH, {"pause": 1}, event(over, sessionID="ses_1")]}
    late = on_call({"decision": "allow"}, after=20)
    (results,) = play(tmp_path, late, ends, how={"stance": stance}).results
    assert "threw" in results[0]


# A request of OpenCode's own.


@every_row(
    "output, body",
    [
        ({"reply": "once"}, {"reply": "once"}),
        ({"reply": "reject", "message": "no"}, {"reply": "reject", "message": "no"}),
        ({"reply": "reject"}, {"reply": "reject", "message": "The crabhook operator denied this."}),
        ({"reply": "always"}, {"reply": "reject", "message": "The crabhook operator denied this."}),
        (
            {"decision": "allow"},
            {"reply": "reject", "message": "The crabhook operator denied this."},
        ),
    ],
)
def test_a_request_is_answered_with_once_or_with_words(
    tmp_path: Path, output: object, body: object
) -> None:
    played = play(tmp_path, on_request(output), permission(1, "touch made"), {"until": 1})
    assert played.answers == [
        {
            "url": "/permission/per_1/reply",
            "body": body,
            "query": {"directory": "/home/dev/project"},
        }
    ]


def test_two_copies_in_a_process_ask_and_answer_once(tmp_path: Path) -> None:
    steps = (permission(1, "touch made"), {"until": 1}, {"pause": 100})
    played = play(tmp_path, on_request({"reply": "once"}), *steps, copies=2)
    assert len(played.answers) == len(played.named("permission.asked")) == 1


def test_what_was_allowed_before_is_not_asked_again(tmp_path: Path) -> None:
    steps = (TOUCH, permission(1, "touch made"), {"until": 1})
    played = play(tmp_path, on_call({"decision": "allow"}), *steps, how=GATE)
    assert [answer["body"] for answer in played.answers] == [{"reply": "once"}]
    assert not played.named("permission.asked")


@every_row(
    "steps",
    [
        [TOUCH, permission(1, "rm -rf /")],  # changed behind us
        [before("bash", session="ses_2", command="touch made"), permission(1, "touch made")],
        [
            TOUCH,
            before("bash", command="touch made"),
            permission(1, "touch made"),
        ],  # one name, two calls
    ],
)
def test_no_allow_reaches_another_call(tmp_path: Path, steps: list[Any]) -> None:
    played = play(tmp_path, on_call({"decision": "allow"}), *steps, {"pause": 200}, how=GATE)
    assert played.answers == []
    (asked,) = played.named("permission.asked")
    assert asked["tool_input"] == asked["metadata"]


def test_an_answer_at_the_agent_ends_the_question_and_ours_is_not_sent(tmp_path: Path) -> None:
    replied = event("permission.replied", sessionID="ses_1", requestID="per_1", reply="always")
    late = on_request({"reply": "once"}, after=1)
    steps = (permission(1, "touch made"), {"pause": 100}, replied, {"pause": 1500})
    played = play(tmp_path, late, *steps, how=GATE)
    assert played.answers == []
    (told,) = played.named("permission.replied")
    assert (told["reply"], told["tool_use_id"]) == ("always", "call_1")


def test_an_answer_that_opencode_does_not_take_is_said(tmp_path: Path) -> None:
    steps = (permission(1, "touch made"), {"until": 1}, {"pause": 200})
    played = play(tmp_path, on_request({"reply": "once"}), *steps, taken=404)
    (told,) = played.named("crabhook.unheard")
    assert (told["answer"], told["status"]) == ("once", "404")


def test_a_refused_call_is_not_told_to_have_failed(tmp_path: Path) -> None:
    part = {
        "type": "tool",
        "sessionID": "ses_1",
        "callID": "call_1",
        "state": {"status": "error", "error": "x"},
    }
    failed = event("message.part.updated", part=part)
    denied = play(
        tmp_path, on_call({"decision": "deny", "reason": "no"}), TOUCH, failed, {"pause": 200}
    )
    assert not denied.named("message.part.updated")
    ran = play(tmp_path, lambda _: None, TOUCH, failed, failed, {"pause": 200})
    assert len(ran.named("message.part.updated")) == 1


# Questions.


def test_a_question_is_answered_by_opencodes_own_api(tmp_path: Path) -> None:
    question = event("question.asked", id="que_1", sessionID="ses_1", questions=QUESTIONS)
    says = asked_of("question.asked", {"answers": [["Blue"]], "refused": True})
    played = play(tmp_path, says, question, {"until": 1})
    (answer,) = played.answers
    assert (answer["url"], answer["body"]) == ("/question/que_1/reply", {"answers": [["Blue"]]})


# What is sent.


def test_the_token_comes_from_its_file_and_goes_to_no_proxy(tmp_path: Path) -> None:
    proxies = dict.fromkeys(("http_proxy", "HTTP_PROXY"), "http://127.0.0.1:9")
    with PluginStage(tmp_path, on_call({"decision": "allow"}), GATE) as stage:
        (result,) = stage.play(TOUCH, environment=proxies).results
        headers = stage.headers[0]
    assert "ran" in result
    assert headers["Authorization"] == "Bearer the-token"
    assert (headers["X-Crabhook-Stance"], headers["X-Crabhook-Wait"]) == ("gate", "86430")


def test_a_subagents_session_is_an_agent_of_the_one_that_began_it(tmp_path: Path) -> None:
    begun = event("session.created", sessionID="ses_3", info={"id": "ses_3", "parentID": "ses_2"})
    steps = (
        before("bash", session="ses_3", command="ls"),
        before("bash", session="ses_1", command="ls"),
    )
    played = play(tmp_path, lambda _: None, begun, *steps, parents={"ses_2": "ses_1"})
    inner, outer = played.named("tool.execute.before")
    assert (inner["agent_id"], outer.get("agent_id")) == ("ses_3", None)
    assert outer["session_id"] == "ses_1"


def test_a_note_is_added_to_what_the_model_reads(tmp_path: Path) -> None:
    call = {"tool": "bash", "sessionID": "ses_1", "callID": "call_1", "args": {}}
    says = asked_of("tool.execute.after", {"note": "look twice"})
    steps = [{"after": {"input": call, "output": {"output": "done"}}}]
    steps += [{"after": {"input": call, "output": {"content": [{"type": "text", "text": "a"}]}}}]
    first, second = play(tmp_path, says, *steps).results
    assert first["output"] == "done\n\nlook twice"
    assert second["content"][-1] == {"type": "text", "text": "look twice"}


def test_its_text_has_none_of_what_was_seen_to_fail() -> None:
    text = plugin()
    assert '"permission.ask"' not in text  # which is never called
    assert text.count('"always"') == 1  # in a comment
    assert 'reply: "always"' not in text
    assert "timeout: false" in text  # the runtime's own ends a question after five minutes
