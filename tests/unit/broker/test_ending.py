"""How cards end is told in test_broker; here, what an end leaves behind for the call's later events."""

from crabhook.broker.orders import Kind, Order
from crabhook.model.decision import Decision, Verdict
from tests.support.playbook import Playbook, asking, calling, done, prompt

PLAN = {"plan": "# one"}


def plan(ticket: str, event: str, use_id: str = "", **more: object) -> object:
    return calling(ticket, PLAN | more, use_id, event=event, tool="ExitPlanMode")


def test_a_changed_plan_is_carried_by_the_request_that_follows(book: Playbook) -> None:
    book.asks(plan("a", "PreToolUse", "t1"))  # type: ignore[arg-type]
    changed = {"plan": "# two"}
    mode = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    decision = Decision(Verdict.ALLOW, updated_input=changed, permissions=(mode,))
    book.answers(1, decision).sees("a hears nothing, confirms", "#1 decided ALLOWED: a")
    book.asks(plan("b", "PermissionRequest"))  # type: ignore[arg-type]
    told = book.effects[0].reply.output["hookSpecificOutput"]["decision"]  # type: ignore[union-attr,index,call-overload]
    assert told == {"behavior": "allow", "updatedInput": changed, "updatedPermissions": [mode]}


def test_a_note_goes_with_a_result_even_if_the_result_is_held(book: Playbook) -> None:
    book.asks(prompt("a", "ls")).answers(1, Decision(Verdict.ALLOW, note="only this once"))
    book.orders(Order(Kind.HOLD, name="PostToolUse"))
    book.asks(done("b", "ls")).answers(2, Decision(Verdict.ALLOW))
    assert b"only this once" in book.effects[0].reply.stdout  # type: ignore[union-attr]


def test_a_halt_goes_with_any_verdict(book: Playbook) -> None:
    book.orders(Order(Kind.HOLD, name="Stop")).asks(asking("a", "Stop"))
    book.answers(1, Decision(Verdict.PASS, halt="enough"))
    assert book.effects[0].reply.output == {"continue": False, "stopReason": "enough"}  # type: ignore[union-attr]
