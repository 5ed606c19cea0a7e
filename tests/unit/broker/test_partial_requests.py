"""An agent whose calls have no id, and whose request gives a part of the input: Copilot."""

from typing import Any

import pytest

from crabhook.broker.call_outcomes import CallOutcome
from crabhook.broker.messages import Outcome
from crabhook.broker.recent import ASKED_AGAIN_WITHIN
from crabhook.model.card import Request
from crabhook.model.decision import Decision
from tests.support.playbook import ALLOW, ASK, DENY, PASS, Playbook, calling

_COPILOT: dict[str, Any] = {"tool": "Bash", "platform": "copilot"}
PATH, TEXT = {"path": "/p/a"}, {"file_text": "one"}
NEW = {**PATH, "diff": "\ndiff --git a/p/a b/p/a\ncreate file mode 100644\n+one"}


def called(ticket: str, command: str = "ls", event: str = "PreToolUse", **more: Any) -> Request:
    """An event of a command that has more than the command in its input."""
    tool_input = {"command": command, "description": "Look", **more}
    return calling(ticket, tool_input, event=event, **_COPILOT)


def asked(ticket: str, command: str = "ls") -> Request:
    """Its PermissionRequest, which has the command alone."""
    return calling(ticket, {"command": command}, event="PermissionRequest", **_COPILOT)


def of_a_file(ticket: str, tool: str, event: str, tool_input: dict[str, str]) -> Request:
    return calling(ticket, tool_input, event=event, tool=tool, platform="copilot")


def waiting(book: Playbook) -> list[int]:
    return [card.number for card in book.broker.waiting()]


def outcomes(book: Playbook) -> list[CallOutcome]:
    return [effect.fate for effect in book.effects if isinstance(effect, Outcome)]


def test_what_was_passed_is_not_asked_about_again(book: Playbook) -> None:
    book.asks(called("a")).answers(1, PASS).asks(asked("b"))
    assert waiting(book) == []
    book.asks(asked("c")).sees("#2 waiting: c")


def test_a_file_that_was_passed_is_not_asked_about_again(book: Playbook) -> None:
    book.asks(of_a_file("a", "Write", "PreToolUse", PATH | TEXT)).answers(1, PASS)
    book.asks(of_a_file("b", "edit", "PermissionRequest", NEW))
    assert waiting(book) == []


@pytest.mark.parametrize("decision", [ALLOW, DENY, ASK])
def test_no_decision_about_a_whole_input_is_repeated_for_a_part_of_one(
    decision: Decision, book: Playbook
) -> None:
    book.asks(called("a")).answers(1, decision)
    assert [effect for effect in book.asks(asked("b")).effects if effect]
    assert waiting(book) == [2]


def test_another_command_is_asked_about(book: Playbook) -> None:
    book.asks(called("a")).answers(1, PASS)
    book.asks(asked("b", "rm")).sees("#2 waiting: b")


def test_a_pass_is_soon_forgotten(book: Playbook) -> None:
    book.asks(called("a")).answers(1, PASS).waits(ASKED_AGAIN_WITHIN + 1)
    book.asks(asked("b")).sees("#2 waiting: b")


def test_no_call_joins_a_request_that_waits_also_if_it_has_no_more_in_its_input(
    book: Playbook,
) -> None:
    book.asks(asked("a")).sees("#1 waiting: a")
    book.asks(calling("b", {"command": "ls"}, **_COPILOT)).sees("#2 waiting: b")


def test_requests_of_one_turn_get_a_card_each(book: Playbook) -> None:
    book.asks(asked("a")).asks(asked("b"))
    assert waiting(book) == [1, 2]


def test_the_result_of_a_granted_request_is_that_of_its_call(book: Playbook) -> None:
    book.asks(asked("a")).answers(1, ALLOW).asks(called("b", event="PostToolUse"))
    assert outcomes(book) == [CallOutcome.AS_ALLOWED]


def test_another_command_than_was_granted_is_told(book: Playbook) -> None:
    book.asks(asked("a")).answers(1, ALLOW).asks(called("b", "rm", event="PostToolUse"))
    assert outcomes(book) == [CallOutcome.OTHER]


def test_a_whole_input_that_was_allowed_is_compared_whole(book: Playbook) -> None:
    book.asks(called("a")).answers(1, ALLOW)
    book.asks(called("b", event="PostToolUse", mode="detached"))
    assert outcomes(book) == [CallOutcome.OTHER]


def test_a_granted_change_of_a_file_is_followed_by_its_path(book: Playbook) -> None:
    book.asks(of_a_file("a", "edit", "PermissionRequest", NEW)).answers(1, ALLOW)
    book.asks(of_a_file("b", "Write", "PostToolUse", PATH | TEXT))
    assert outcomes(book) == [CallOutcome.AS_ALLOWED]
