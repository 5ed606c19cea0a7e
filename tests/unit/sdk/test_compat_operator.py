"""The operator's answer in the specification's shape."""

import json
from collections.abc import Iterator

import pytest

from crabhook.sdk.compat import (
    HookInput,
    HookOutput,
    Platform,
    ask_operator,
    denormalize_output,
    normalize_input,
)
from crabhook.v1 import permission_pb2 as pb
from tests.unit.hook.peers import Operator, replying, serving, short_folder
from tests.unit.sdk import samples


@pytest.fixture
def address() -> Iterator[str]:
    with short_folder() as folder:
        yield f"unix:{folder}/s"


def asked(name: str = "PreToolUse-Bash") -> HookInput:
    return normalize_input(samples.text("claude", name), Platform.CLAUDE)


def answered(address: str, response: pb.PermissionResponse) -> tuple[HookOutput | None, Operator]:
    served = Operator(lambda _request, _context: response)
    with serving(served, address):
        return ask_operator(asked(), address=address, timeout=60), served


def test_an_answer_is_printed_word_for_word(address: str) -> None:
    said = {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "allow",
            "updatedInput": {"command": "true"},
        }
    }
    output, served = answered(address, replying(json.dumps(said).encode(), confirm=True))
    assert output is not None
    given = asked()
    assert json.loads(denormalize_output(output, given.platform, given.event)) == said
    assert json.loads(served.requests[0].payload) == given.raw_input
    assert len(served.confirmed) == 1


def test_an_answer_that_is_an_exit_code_becomes_a_block(address: str) -> None:
    output, _ = answered(address, replying(stderr=b"not yet\n", exit_code=2))
    assert output == HookOutput("block", reason="not yet")


def test_no_opinion_is_none(address: str) -> None:
    assert answered(address, replying())[0] is None


def test_an_input_that_is_no_event_asks_nobody(address: str) -> None:
    assert ask_operator(normalize_input("", Platform.CLAUDE), address=address) is None
