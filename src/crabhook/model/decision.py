"""What an event can be told, what was decided and by whom, and the reply in an agent's words."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Flag, StrEnum, auto
from functools import cached_property

from crabhook.model import wording
from crabhook.model.actor import Actor, EndReason, Nobody
from crabhook.model.jsontext import WRITTEN_DEPTH, Value, compact, parse_object


class Verdict(StrEnum):
    """The kinds of decision.

    PASS is no opinion: the agent goes on as if crabhook were not there.  It
    is never an allow.  ASK hands the call to the agent's own user, DEFER ends
    a headless run so that the call can be decided later.  KEEP_GOING tells an
    agent that wants to stop to go on.  RETRY lets the model try again what its
    agent denied.  ACCEPT, DECLINE and CANCEL answer a form.
    """

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"
    DEFER = "defer"
    KEEP_GOING = "keep-going"
    RETRY = "retry"
    ACCEPT = "accept"
    DECLINE = "decline"
    CANCEL = "cancel"
    PASS = "pass"  # noqa: S105 - no password

    @property
    def done(self) -> str:
        """The verdict as the record and the screen say it once it is given."""
        return _DONE[self]


_DONE = {
    Verdict.ALLOW: "ALLOWED",
    Verdict.DENY: "DENIED",
    Verdict.ASK: "HANDED BACK",
    Verdict.DEFER: "DEFERRED",
    Verdict.KEEP_GOING: "KEPT GOING",
    Verdict.RETRY: "RETRIED",
    Verdict.ACCEPT: "ACCEPTED",
    Verdict.DECLINE: "DECLINED",
    Verdict.CANCEL: "CANCELLED",
    Verdict.PASS: "PASSED",
}


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict with all that goes with it; what an event cannot carry is refused when it is made.

    `reason`: why it was denied, or how to keep going; the model reads it.
    `note`: a word to the model beside an allow.
    `updated_input`: replaces the tool's whole input, so it is built from the
    original, never from parts.
    `output`: replaces what the model is shown of a tool's result.
    `content`: a form's values, by property.
    `permissions`: permission updates to apply with an allow, in the agent's own words.
    `interrupt`: a denial also ends the turn.
    `halt`: ends the session's turn, for this reason, whatever the verdict.
    `user_message`: shown to the agent's user.
    `suppress_output`: asks the agent not to show what the hook says; what agents do
    with it is on docs/reference/protocols.md.
    `despite`: what the rules say against the changed input, to which the operator
    said yes a second time.
    """

    verdict: Verdict
    reason: str = ""
    note: str = ""
    updated_input: Mapping[str, Value] | None = None
    output: Value = None
    content: Mapping[str, Value] | None = None
    permissions: tuple[Mapping[str, Value], ...] = ()
    interrupt: bool = False
    halt: str = ""
    user_message: str = ""
    suppress_output: bool = False
    despite: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision and who made it: neither is kept, sent or recorded without the other.

    A screen says what is decided; who said it is known to the server that took it.
    """

    decision: Decision
    by: Actor


def no_opinion(why: EndReason) -> Decided:
    """Return what nobody decided: the reason is for the record and the screen alone."""
    return Decided(Decision(Verdict.PASS, reason=wording.why(why)), Nobody(why))


class Beside(Flag):
    """What may go with a verdict; each but RULE is a part of a Decision."""

    NOTHING = 0
    NOTE = auto()  # with an allow: a word to the model
    INPUT = auto()  # with an allow: another input than the agent's
    PERMISSIONS = auto()  # with an allow: permission updates
    OUTPUT = auto()  # with an allow: another output than the tool's
    INTERRUPT = auto()  # with a denial: the end of the turn
    HALT = auto()  # with any: the end of the session's turn, with a reason
    MESSAGE = auto()  # with any: a message to the agent's user
    SUPPRESS = auto()  # with any: the wish that the agent does not show what the hook says
    RULE = auto()  # with an allow: a rule of the owner's, which decides such a call from now on


@dataclass(frozen=True, slots=True)
class Choices:
    """The verdicts an event can be answered with, and what may go with them.

    `runs`: the verdicts beside an allow after which the agent may let the call happen without
    asking any person, as the event's mode has it; they may have more members than `verdicts`.
    """

    verdicts: frozenset[Verdict] = frozenset({Verdict.PASS})
    beside: Beside = Beside.NOTHING
    runs: frozenset[Verdict] = frozenset()

    def __and__(self, other: "Choices") -> "Choices":
        """Return what both can be told: a call's two legs get one decision."""
        return Choices(
            self.verdicts & other.verdicts, self.beside & other.beside, self.runs | other.runs
        )


PASS_ALONE = Choices()


@dataclass(frozen=True)
class Reply:
    """A hook's whole output.

    `output` is the JSON object for standard output; None prints nothing,
    which is how a hook says that it has no opinion.
    """

    output: Mapping[str, Value] | None = None
    stderr: str = ""
    exit_code: int = 0

    @classmethod
    def verbatim(cls, stdout: bytes, stderr: str, exit_code: int) -> "Reply":
        """Return a reply as it was once printed."""
        output = parse_object(stdout, WRITTEN_DEPTH) if stdout else None
        return cls(output, stderr, exit_code)

    @cached_property
    def stdout(self) -> bytes:
        """The bytes for standard output, one line, or none at all.

        Made once, for the record and for the wire: a reply may hold megabytes.
        """
        return b"" if self.output is None else compact(self.output).encode("ascii") + b"\n"


SILENCE = Reply()
