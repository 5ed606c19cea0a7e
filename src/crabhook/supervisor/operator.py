"""The reviewer that is the operator at the desk, asked as any hook asks."""

import os
from collections.abc import Sequence

from crabhook.hook.client import Request, Unanswered, read_options
from crabhook.hook.fallback import KINDS
from crabhook.hook.wire import SUPERVISOR, Reply
from crabhook.sdk import heard
from crabhook.sdk.answer import Answer, Verdict
from crabhook.sdk.reading import read_event
from crabhook.supervisor.contract import Occasion
from crabhook.supervisor.deadline import Deadline
from crabhook.supervisor.errors import OutOfTimeError, ReviewerError
from crabhook.supervisor.review import Finding, Review

_ALLOWS = {Verdict.ALLOW: True, Verdict.DENY: False}


class Operator:
    """The operator; `options` are those of crabhook's own hook that say where and how to ask."""

    def __init__(self, options: Sequence[str] = ()) -> None:
        self._options = list(options)
        self._request: Request | None = None
        self._to_confirm = False

    def review(self, review: Review, deadline: Deadline) -> Finding:
        """Return what the operator decides; see `interface.Reviewer`.

        The input goes to the server as the agent sent it, under a stance in
        which a stop waits for the operator, too.
        """
        options = read_options(self._options, os.environb)
        options.stance = SUPERVISOR
        options.wait = deadline.left()
        self._request = request = Request(options)
        try:
            reply = request.ask(review.asked.payload)
        except Unanswered as unanswered:
            if unanswered.kind == "late":
                raise OutOfTimeError from unanswered
            what, remedy = KINDS[unanswered.kind]
            raise ReviewerError(f"{what} ({unanswered}); {remedy}") from unanswered
        except BaseException:
            request.close()  # so that the card goes from the desk
            raise
        self._to_confirm = reply.confirm
        return finding(review, reply)

    def told(self) -> None:
        """Tell the server that the agent has the answer, if anybody waits to hear that."""
        if self._request is None:
            return
        if self._to_confirm:
            self._request.confirm()
        self._request.close()


def finding(review: Review, reply: Reply) -> Finding:
    """Return what the server's reply says; all of it goes on to the agent in its own words.

    On a stop silence is an operator who allowed it, or had no opinion.  Where
    the silence has a reason, nobody was there: raises ReviewerError.
    """
    output = heard.output(reply)
    why = reply.stderr.decode("utf-8", "replace").strip()
    if why and not output and not reply.exit_code:
        raise ReviewerError(why)
    said = heard.answer(read_event(review.asked.payload, "claude"), reply) or Answer()
    if review.occasion is Occasion.STOP:
        return Finding(said.verdict is not Verdict.KEEP_GOING, said.reason, output)
    allow = _ALLOWS.get(said.verdict) if said.verdict else None
    return Finding(allow, said.reason, output)
