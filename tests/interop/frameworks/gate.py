"""Holds the provider to what the package's own gate and client expect; prints the laws it kept.

Argument: the base URL. The provider's rules allow tools that begin with `allowed`, deny those that
begin with `denied`, and nobody decides about any other.
"""

from __future__ import annotations

import os
import sys
import threading
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from agentapprovalprotocol import AAPError, Call, Client, Deny, Gate, Pending
from agentapprovalprotocol._wire import dumps, loads, same

CLIENT = Client(sys.argv[1], os.environ["CRABHOOK_TOKEN"])
ODD = {
    "exact": 0.1,
    "large": 2**80,
    "text": "žluťoučký \U0001f600 \u202e\x1b",
    "none": None,
    "deep": [[{"a": -0.0}]],
}


def call(tool: str, **changes: Any) -> Call:
    values: dict[str, Any] = {"key": f"{uuid.uuid4()}:c", "tool": tool, "arguments": ODD}
    return Call(**(values | changes))


def an_approved_call_is_consumed_and_reported() -> None:
    gate, asked = Gate(CLIENT), call("allowed", server=None, reasoning="why\nso")
    with gate.guard(asked) as verdict:
        assert verdict
    seen = CLIENT.get(verdict.request_id)
    assert same(seen.arguments, loads(dumps(ODD)))
    assert seen.consumption.outcome.status == "succeeded"
    again = Gate(CLIENT).check(asked)
    assert isinstance(again, Deny)
    assert again.status == "consumed"


def break_off() -> None:
    raise RuntimeError("the tool broke")


def a_failure_is_reported() -> None:
    asked, gate = call("allowed"), Gate(CLIENT, mode="async")
    with suppress(RuntimeError), gate.guard(asked):
        break_off()
    request_id = gate.check(asked).request_id
    assert CLIENT.get(str(request_id)).consumption.outcome.status == "failed"


def a_denial_has_the_rules_words() -> None:
    verdict = Gate(CLIENT).check(call("denied"))
    assert isinstance(verdict, Deny)
    assert verdict.status == "denied"
    assert "not on Sundays" in verdict.reason


def one_of_eight_replicas_runs_a_call() -> None:
    asked, verdicts = call("allowed"), []
    threads = [
        threading.Thread(target=lambda: verdicts.append(Gate(CLIENT).check(asked)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(bool(verdict) for verdict in verdicts) == 1
    assert {each.status for each in verdicts if isinstance(each, Deny)} == {"consumed"}


def a_changed_argument_asks_again() -> None:
    gate, asked = Gate(CLIENT, mode="async"), call("open")
    first, same_again = gate.check(asked), gate.check(asked)
    other = gate.check(call("open", key=asked.key, arguments={"amount": 2}))
    assert isinstance(first, Pending)
    assert isinstance(other, Pending)
    assert first == same_again
    assert first.request_id != other.request_id
    assert CLIENT.cancel(first.request_id).status == "cancelled"
    assert CLIENT.cancel(other.request_id).status == "cancelled"
    denied = gate.check(asked)
    assert isinstance(denied, Deny)
    assert denied.status == "cancelled"


def who_waits_too_long_cancels() -> None:
    verdict = Gate(CLIENT, wait_limit=0.2).check(call("open"))
    assert isinstance(verdict, Deny)
    assert CLIENT.get(str(verdict.request_id)).status == "cancelled"


def a_deadline_expires() -> None:
    verdict = Gate(CLIENT, timeout="1s").check(call("open"))
    assert isinstance(verdict, Deny)
    assert verdict.status == "expired"


def refusal(does: Callable[..., Any], *arguments: str) -> str:
    """The error that the client raises: its code where it has one, else its class."""
    try:
        does(*arguments)
    except AAPError as error:
        return getattr(error, "code", type(error).__name__)
    return "none"


def what_is_unknown_is_not_found() -> None:
    for does in (CLIENT.get, CLIENT.cancel):
        assert refusal(does, str(uuid.uuid4())) == "NotFound"


def what_was_not_consumed_takes_no_report() -> None:
    request_id = str(Gate(CLIENT).check(call("denied")).request_id)
    assert refusal(CLIENT.report_outcome, request_id, "succeeded") == "not_consumed"
    assert refusal(CLIENT.consume, request_id, "k") == "not_approved"
    assert refusal(CLIENT.cancel, request_id) == "already_terminal"


def a_wrong_token_is_told() -> None:
    verdict = Gate(Client(sys.argv[1], "wrong")).check(call("allowed"))
    assert isinstance(verdict, Deny)
    assert "refused this agent's credential" in verdict.reason


LAWS: tuple[Callable[[], None], ...] = (
    an_approved_call_is_consumed_and_reported,
    a_failure_is_reported,
    a_denial_has_the_rules_words,
    one_of_eight_replicas_runs_a_call,
    a_changed_argument_asks_again,
    who_waits_too_long_cancels,
    a_deadline_expires,
    what_is_unknown_is_not_found,
    what_was_not_consumed_takes_no_report,
    a_wrong_token_is_told,
)
for law in LAWS:
    law()
    print(law.__name__)
