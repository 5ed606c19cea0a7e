"""The events that our plugin sends from inside OpenCode (1.18.33), one row each.

They bear the names that OpenCode gives them, but `crabhook.unheard`, which is the plugin's own. The
plugin makes each input, with the fields that every agent's has, so that a call has one id on all
its events.
"""

from collections.abc import Mapping
from enum import Enum

from crabhook.model.card import Stance
from crabhook.model.decision import Verdict
from crabhook.model.event import EndScope, Event, How, ShownField
from crabhook.platforms import common
from crabhook.platforms.event_table import SOON, Also, EventRow, EventTable, Held, Phase


class Way(Enum):
    """How a verdict is written."""

    SILENCE = "an empty answer"
    DECISION = "decision, reason and input"
    REPLY = "reply and message, as OpenCode's own API takes them"
    ANSWERS = "answers, as OpenCode's own API takes them"


# To ask cannot be said before a call: what is asked then is OpenCode's own matter.
_CALL: Mapping[Verdict, Way] = {Verdict.ALLOW: Way.DECISION, Verdict.DENY: Way.DECISION}
_REQUEST: Mapping[Verdict, Way] = {
    Verdict.ALLOW: Way.REPLY,
    Verdict.DENY: Way.REPLY,
    Verdict.ASK: Way.SILENCE,  # its own dialog stands beside
}
_QUESTION: Mapping[Verdict, Way] = {
    Verdict.ALLOW: Way.ANSWERS,
    Verdict.DENY: Way.ANSWERS,
    Verdict.ASK: Way.SILENCE,
}
_NOTED: Mapping[Verdict, Way] = {Verdict.ALLOW: Way.SILENCE}

_CALL_OVER, _RESULT = EndScope.CALL, EndScope.RESULT
_AGENT_OVER, _SESSION_OVER = EndScope.AGENT, EndScope.SESSION

_STARTED = {"started_as": ShownField("OpenCode was started as", short="started as")}
_REPLY = {"reply": ShownField("the answer given there")}
_ERROR = {"error": ShownField("what went wrong", How.PROSE)}

# fmt: off
EVENTS = EventTable[Way]({
    # tools
    "tool.execute.before": EventRow(Held.ALWAYS, _CALL, phase=Phase.BEFORE, tells=_STARTED),
    "permission.asked": EventRow(
        Held.ALWAYS, _REQUEST, phase=Phase.ASKING,
        tells={
            "permission": ShownField("OpenCode asks for", short="asks for"),
            "patterns": ShownField("patterns", How.SEVERAL, short="for the patterns"),
            **_STARTED,
        },
    ),
    "question.asked": EventRow(Held.ALWAYS, _QUESTION, phase=Phase.ASKING, tells=_STARTED),
    "tool.execute.after": EventRow(
        Held.ON_REQUEST, _NOTED, Also.CONTEXT, _RESULT, Phase.RAN, "it ran",
        tells=common.TELLS_RESULT,
    ),
    "message.part.updated": EventRow(  # of a call that failed, or was refused by another
        closes=_RESULT, phase=Phase.RAN, outcome="it failed", hook=SOON, tells=_ERROR,
    ),
    # answers that were given at the agent, and one of ours that came too late
    "permission.replied": EventRow(
        closes=_CALL_OVER, outcome="a person answered there", hook=SOON, tells=_REPLY,
    ),
    "question.replied": EventRow(
        closes=_CALL_OVER, outcome="a person answered there", hook=SOON, tells=_REPLY,
    ),
    "question.rejected": EventRow(
        closes=_CALL_OVER, outcome="a person dismissed it there", hook=SOON,
    ),
    "crabhook.unheard": EventRow(
        hook=SOON,
        tells={
            "answer": ShownField("OpenCode did not take the answer"),
            "status": ShownField("it says"),
        },
    ),
    # prompts and turns
    "chat.message": EventRow(
        closes=_AGENT_OVER, phase=Phase.PROMPT, outcome="new prompt", hook=SOON,
        tells=common.TELLS_PROMPT,
    ),
    "session.idle": EventRow(closes=_AGENT_OVER, outcome="the agent's turn ended", hook=SOON),
    "session.error": EventRow(
        closes=_AGENT_OVER, outcome="the agent's turn broke off", hook=SOON, tells=_ERROR
    ),
    # the session
    "session.created": EventRow(
        hook=SOON,
        tells={"title": ShownField("title"), "version": ShownField("OpenCode's version")},
    ),
    "session.deleted": EventRow(closes=_SESSION_OVER, outcome="its session ended", hook=SOON),
})
# fmt: on

QUESTION_TOOL = "question"

read_event = common.reader("opencode", EVENTS)


def held(event: Event, stance: Stance) -> Held:
    """Return when the event waits for the operator, under this stance.

    Of a companion's calls only a rule speaks: the request follows where OpenCode asks. A question
    waits when it is asked, since only then it takes answers.
    """
    row = EVENTS[event.name]
    if row.phase is Phase.BEFORE and (stance is Stance.COMPANION or asks(event)):
        return Held.BY_RULE
    return row.held


def by_person(event: Event) -> bool:
    """Whether a person wrote a prompt: a subagent's is the agent's own."""
    return not event.agent_id


_REPLIES = {
    "once": "allowed there, once",
    "always": 'allowed there for good ("always"): no like call of any session is asked about',
    "reject": "rejected there",
}


def outcome(event: Event) -> str:
    """Return what an event tells of a call or a turn; of an answer at the agent, which it was."""
    return _REPLIES.get(event.text("reply"), EVENTS[event.name].outcome)


def asks(event: Event) -> bool:
    """Whether the event is about questions to a person."""
    return event.calls(QUESTION_TOOL)
