"""An agent that asks its user first, and fires the event of each call after that: Qwen Code."""

from dataclasses import replace
from typing import Any

import pytest

from crabhook.broker.messages import Resolve
from crabhook.broker.recent import ASKED_AGAIN_WITHIN
from crabhook.model.card import Request
from crabhook.model.decision import Decision
from crabhook.model.jsontext import object_at
from tests.support.playbook import ALLOW, ASK, DENY, PASS, Playbook, calling

EDITED = {"command": "ls -l"}


def asked(ticket: str, command: str = "ls", **more: Any) -> Request:
    """The PermissionRequest of a command, which has no id."""
    return calling(ticket, {"command": command}, event="PermissionRequest", **_QWEN, **more)


def called(ticket: str, command: str = "ls", use_id: str = "t1", **more: Any) -> Request:
    """The PreToolUse of a command."""
    return calling(ticket, {"command": command}, use_id, **_QWEN, **more)


_QWEN = {"tool": "run_shell_command", "platform": "qwen"}


def waiting(book: Playbook) -> list[int]:
    return [card.number for card in book.broker.waiting()]


def test_a_granted_request_is_asked_about_once(book: Playbook) -> None:
    book.asks(asked("a")).sees("#1 waiting: a")
    book.answers(1, ALLOW).asks(called("b"))
    assert waiting(book) == []
    book.asks(called("c", use_id="t2")).sees("#2 waiting: c")


def test_a_request_that_was_changed_runs_as_it_was_changed(book: Playbook) -> None:
    book.asks(asked("a")).answers(1, replace(ALLOW, updated_input=EDITED))
    book.asks(called("b", EDITED["command"]))
    assert waiting(book) == []


def test_an_input_that_was_changed_away_is_never_let_run(book: Playbook) -> None:
    book.asks(asked("a")).answers(1, replace(ALLOW, updated_input=EDITED))
    book.asks(called("b"))
    (resolve, _) = book.effects
    assert isinstance(resolve, Resolve)
    assert (
        object_at(resolve.reply.output or {}, "hookSpecificOutput")["permissionDecision"] == "deny"
    )


def test_another_call_is_asked_about(book: Playbook) -> None:
    book.asks(asked("a")).answers(1, ALLOW)
    book.asks(called("b", "rm")).sees("#2 waiting: b")


def test_a_denied_request_answers_no_later_call(book: Playbook) -> None:
    book.asks(asked("a")).answers(1, DENY)
    book.asks(called("b")).sees("#2 waiting: b")


@pytest.mark.parametrize("decision", [ASK, PASS])
def test_what_was_left_to_the_agents_user_is_not_asked_about_again(
    decision: Decision, book: Playbook
) -> None:
    book.asks(asked("a")).answers(1, decision).asks(called("b"))
    assert waiting(book) == []


def test_an_answer_is_soon_forgotten(book: Playbook) -> None:
    book.asks(asked("a")).answers(1, ALLOW).waits(ASKED_AGAIN_WITHIN + 1)
    book.asks(called("b")).sees("#2 waiting: b")
