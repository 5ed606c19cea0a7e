"""What was decided about a request, and by whom; not yet in any platform's words."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from crabhook.model.jsontext import Value


class Verdict(StrEnum):
    """The kinds of decision.

    PASS is no opinion: the agent goes on as if crabhook were not there.  It
    is never an allow.  ASK hands the call to the agent's own user.
    """

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"
    PASS = "pass"  # noqa: S105 - no password

    @property
    def done(self) -> str:
        """The verdict as the record and the screen say it once it is given."""
        return _DONE[self]


_DONE = {
    Verdict.ALLOW: "ALLOWED",
    Verdict.DENY: "DENIED",
    Verdict.ASK: "HANDED BACK",
    Verdict.PASS: "PASSED",
}

OPERATOR = "operator"
CRABHOOK = "crabhook"


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict with all that goes with it.

    `reason` tells the model why a call was denied; `note` is a word to the
    model beside an allow; `updated_input` replaces the tool's whole input
    (so it is built from the original, never from parts); `by` is who
    decided: OPERATOR, or CRABHOOK when nobody did.
    """

    verdict: Verdict
    reason: str = ""
    note: str = ""
    updated_input: Mapping[str, Value] | None = None
    by: str = OPERATOR


def no_opinion(reason: str = "") -> Decision:
    """Return the decision nobody made: `reason` says why, for the record and the screen."""
    return Decision(Verdict.PASS, reason=reason, by=CRABHOOK)
