"""What an event can be told, the decision and its maker, and the reply in an agent's words.

Permission suggestions are an agent's offers to allow from now on, and where to keep that (the hook
protocol's section 5, PermissionUpdate). An operator returns one with an allow, at most with another
destination.
"""

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import Flag, StrEnum, auto

from crabhook.datatypes import frozen
from crabhook.model import wording
from crabhook.model.actor import Actor, EndReason, Nobody
from crabhook.model.jsontext import WRITTEN_DEPTH, Value, compact, parse_object, text_at
from crabhook.model.signing import DecisionSignature


class Verdict(StrEnum):
    """The kinds of decision.

    PASS is no opinion, never an allow: the agent goes on as if crabhook were not there. ASK hands
    the call to the agent's own user; DEFER ends a headless run for a later decision. KEEP_GOING
    sends an agent on that wants to stop. RETRY lets the model try again what its agent denied.
    ACCEPT, DECLINE and CANCEL answer a form.
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


@frozen
class Decision:
    """A verdict with all that goes with it; what an event cannot carry is refused when it is made.

    `reason`: why it was denied, or how to keep going; the model reads it. `note`: a word to the
    model beside an allow. `updated_input`: replaces the tool's whole input, so it is built from the
    original, never from parts. `output`: replaces what the model is shown of a tool's result.
    `content`: a form's values, by property. `permissions`: permission updates to apply with an
    allow, in the agent's own words. `interrupt`: a denial also ends the turn. `halt`: ends the
    session's turn, for this reason, at every verdict. `user_message`: shown to the agent's user.
    `suppress_output`: asks the agent not to show what the hook says; what agents do with it is on
    docs/reference/protocols.md. `despite`: what the rules say against the changed input, to which
    the operator said yes a second time.
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


@frozen
class Decided:
    """A decision and its maker, kept, sent and recorded together.

    A screen says only what is decided; the server knows whose screen.
    """

    decision: Decision
    by: Actor


def no_opinion(why: EndReason) -> Decided:
    """Return the decision of nobody; its reason is for record and screen only."""
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
    RULE = auto()  # with an allow: the owner's rule for such calls from now on
    WORDLESS = auto()  # a denial goes without words: no model reads its reason


@frozen
class Choices:
    """The verdicts an event can carry, and what may go with them.

    `runs`: verdicts other than allow after which the agent may run the call without asking anybody,
    by the event's mode; may contain more than `verdicts`.
    """

    verdicts: frozenset[Verdict] = frozenset({Verdict.PASS})
    beside: Beside = Beside.NOTHING
    runs: frozenset[Verdict] = frozenset()

    def __and__(self, other: "Choices") -> "Choices":
        """Return what both can carry: a call's two legs get one decision."""
        return Choices(
            self.verdicts & other.verdicts, self.beside & other.beside, self.runs | other.runs
        )


PASS_ALONE = Choices()


@frozen
class Reply:
    """A hook's whole output; an `output` of None prints nothing: no opinion.

    `stdout`: the bytes for standard output, one line or none; made once, as they may be megabytes.
    `signed`: by whom it is signed, for a hook that prints no other.
    """

    output: Mapping[str, Value] | None = None
    stderr: str = ""
    exit_code: int = 0
    signed: tuple[DecisionSignature, ...] = ()
    stdout: bytes = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        line = b"" if self.output is None else compact(self.output).encode("ascii") + b"\n"
        object.__setattr__(self, "stdout", line)

    @classmethod
    def verbatim(cls, stdout: bytes, stderr: str, exit_code: int) -> "Reply":
        """Return a reply as it was once printed."""
        output = parse_object(stdout, WRITTEN_DEPTH) if stdout else None
        return cls(output, stderr, exit_code)


SILENCE = Reply()


MAX_SUGGESTIONS = 50

# Where an update can be kept, by the word an operator writes.
PLACES: Mapping[str, str] = {
    "session": "session",
    "local": "localSettings",
    "project": "projectSettings",
    "user": "userSettings",
}
MODES = ("default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions")

_PLACE_NAMES = {
    "session": "this session",
    "localSettings": "local settings",
    "projectSettings": "project settings",
    "userSettings": "user settings",
    "cliArg": "this run",
}


@frozen
class Suggestion:
    """One permission update as the agent offers it; `update` is the whole."""

    update: Mapping[str, Value]

    @property
    def what(self) -> str:
        """What it would change, in words; an update of an unknown kind or place as its JSON."""
        return (self.where and _told(self.update)) or compact(dict(self.update))

    @property
    def where(self) -> str:
        """The place to keep it, in our words; empty if unknown."""
        return _PLACE_NAMES.get(text_at(self.update, "destination"), "")

    def kept(self, place: str = "") -> Mapping[str, Value]:
        """Return the update to send back: as it came, or with one of PLACES as its destination."""
        return {**self.update, "destination": PLACES[place]} if place else self.update


def read_suggestions(event_fields: Mapping[str, Value]) -> tuple[Suggestion, ...]:
    """Return the suggestions of a PermissionRequest; items that are no objects are dropped."""
    listed = event_fields.get("permission_suggestions")
    if not isinstance(listed, list):
        return ()
    return tuple(Suggestion(item) for item in listed[:MAX_SUGGESTIONS] if isinstance(item, dict))


def set_mode(mode: str) -> Mapping[str, Value]:
    """Return the update that gives the session another permission mode."""
    return {"type": "setMode", "mode": mode, "destination": "session"}


def _told(update: Mapping[str, Value]) -> str:
    """Return the effect of an update; empty if a part is unknown, to be shown as JSON."""
    start, listed = _TELLING.get(text_at(update, "type"), ("", lambda _: []))
    start, things = start.format(text_at(update, "behavior")), listed(update)
    return start + ", ".join(things) if things and all(things) and start.strip() else ""


def _listed(update: Mapping[str, Value], key: str) -> list[Value]:
    listed = update.get(key)
    return listed if isinstance(listed, list) else []


def _rule(rule: Value) -> str:
    if not isinstance(rule, dict):
        return ""
    tool, content = text_at(rule, "toolName"), rule.get("ruleContent")
    if content is None:
        return tool
    return f"{tool}({content})" if tool and isinstance(content, str) else ""


def _rules(update: Mapping[str, Value]) -> list[str]:
    return list(map(_rule, _listed(update, "rules")))


def _directories(update: Mapping[str, Value]) -> list[str]:
    return [
        directory if isinstance(directory, str) else ""
        for directory in _listed(update, "directories")
    ]


_TELLING: Mapping[str, tuple[str, Callable[[Mapping[str, Value]], list[str]]]] = {
    "addRules": ("{} ", _rules),
    "replaceRules": ("{} nothing but ", _rules),
    "removeRules": ("no longer {} ", _rules),
    "addDirectories": ("also work in ", _directories),
    "removeDirectories": ("no longer work in ", _directories),
    "setMode": ("switch to the mode ", lambda update: [text_at(update, "mode")]),
}
"""The kinds of update: the words for each, with a place for its behavior, and what it lists."""
