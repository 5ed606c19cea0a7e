"""What the agent's process is given."""

import json
from typing import Any

from crabhook.model.decision import SILENCE, Decision, Reply, Verdict
from crabhook.model.jsontext import MAX_DEPTH
from crabhook.platforms import PLATFORMS


def test_silence_prints_nothing_and_is_no_failure() -> None:
    assert (SILENCE.stdout, SILENCE.stderr, SILENCE.exit_code) == (b"", "", 0)


def test_an_empty_object_is_not_silence() -> None:
    assert Reply({}).stdout == b"{}\n"


def test_a_reply_is_one_line_of_ascii_that_reads_back_the_same() -> None:
    output = {"a": "é\u2028\ud800\n", "b": {"c": None}}
    assert Reply(output).stdout.isascii()  # type: ignore[arg-type]
    assert Reply(output).stdout.count(b"\n") == 1  # type: ignore[arg-type]
    assert json.loads(Reply(output).stdout) == output  # type: ignore[arg-type]


def test_a_reply_about_the_deepest_input_that_is_read_can_be_taken_up_again() -> None:
    deepest: Any = []
    for _ in range(MAX_DEPTH - 3):
        deepest = [deepest]
    call = {"hook_event_name": "PermissionRequest", "tool_name": "T", "tool_input": {"x": deepest}}
    for platform in PLATFORMS.values():
        event = platform.read(json.dumps(call).encode())
        reply = platform.write(event, Decision(Verdict.ALLOW, updated_input={"x": deepest}))
        assert Reply.verbatim(reply.stdout, "", 0) == reply
