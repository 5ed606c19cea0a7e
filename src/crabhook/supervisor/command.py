"""The reviewer that is a command of the owner's: a review as JSON in, a verdict as JSON out."""

import os
from collections.abc import Mapping, Sequence

from crabhook.model.errors import PayloadError
from crabhook.model.jsontext import parse_object
from crabhook.supervisor.deadline import Deadline
from crabhook.supervisor.errors import ReviewerError
from crabhook.supervisor.guard import with_guard
from crabhook.supervisor.program import printed_by
from crabhook.supervisor.review import Finding, Review

FORM = '{"allow_stop": true or false, "feedback": "..."}'


class Command:
    """A reviewer's command, its program first."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> None:
        self._command = tuple(command)
        self._environment = os.environ if environment is None else environment

    def __repr__(self) -> str:
        return f"Command({self._command})"

    def review(self, review: Review, deadline: Deadline) -> Finding:
        """Return what the command says; see `interface.Reviewer`."""
        environment = with_guard(self._environment)
        printed = printed_by(self._command, review.as_json(), environment, deadline)
        return read_finding(printed)

    def told(self) -> None:
        """Nothing: the command has ended."""


def read_finding(printed: bytes) -> Finding:
    """Return the verdict that a command printed; raise ReviewerError for anything else.

    Whoever prints a little more or less than the form may mean something else
    by the rest as well.
    """
    try:
        said = parse_object(printed)
    except PayloadError as error:
        raise ReviewerError(f"what the reviewer printed is not {FORM}: {error}") from error
    allow, feedback = said.pop("allow_stop", None), said.pop("feedback", None)
    if not isinstance(allow, bool) or not isinstance(feedback, str) or said:
        raise ReviewerError(f"what the reviewer printed is not {FORM}")
    return Finding(allow, feedback)
