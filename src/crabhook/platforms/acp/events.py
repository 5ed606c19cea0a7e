"""The events of our proxy, one row each: what an ACP agent asks, and what else passes by.

The names are the protocol's methods. Those that begin with "acp/" are the proxy's own words for
what it saw: an answer of the editor, an end, a warning. No answer can say more than its verdict.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import Enum

from crabhook.model.card import Stance
from crabhook.model.decision import Verdict
from crabhook.model.event import EndScope, Event, How, ShownField
from crabhook.model.jsontext import Value, canonical, object_at, text_at
from crabhook.platforms import AGENTS, common
from crabhook.platforms.acp import calls
from crabhook.platforms.event_table import Also, EventRow, EventTable, Held, Phase


class Way(Enum):
    """How a verdict is written."""

    SILENCE = "nothing: the editor decides"
    OUTCOME = "the id of an option of the request"
    ACTION = "the action of a form, with its values"


ASKED, FORM = "session/request_permission", "elicitation/create"
ANSWERED, TURN_OVER, GONE = "acp/answered", "acp/turn", "acp/gone"
WARNING = "acp/warning"
QUESTIONS = frozenset({"AskUserQuestion", "ask_user_question"})
PLANS = frozenset({"ExitPlanMode", "exit_plan_mode"})

_REQUEST: Mapping[Verdict, Way] = {
    Verdict.ALLOW: Way.OUTCOME,
    Verdict.DENY: Way.OUTCOME,
    Verdict.ASK: Way.SILENCE,
}
_FORM: Mapping[Verdict, Way] = {
    Verdict.ACCEPT: Way.ACTION,
    Verdict.DECLINE: Way.ACTION,
    Verdict.CANCEL: Way.ACTION,
}
_TELLS: Mapping[str, ShownField] = {
    "title": ShownField("the agent's title", short="title"),
    "texts": ShownField("the agent says", How.SEVERAL, short="says"),
    "kind": ShownField("kind", short="kind"),
    "places": ShownField("files it names", How.SEVERAL, short="files"),
    "terminals": ShownField("the editor's terminal", How.SEVERAL, short="terminal"),
    "offers": ShownField("the editor offers", How.SEVERAL, short="offers"),
    "client": ShownField("agent", short="agent"),
}

# The person at the editor may answer first: nothing but the proxy tells of it.
# fmt: off
EVENTS = EventTable[Way]({
    ASKED: EventRow(Held.ALWAYS, _REQUEST, Also.NOTHING, phase=Phase.ASKING, tells=_TELLS),
    FORM: EventRow(Held.ALWAYS, _FORM),
    ANSWERED: EventRow(closes=EndScope.CALL, outcome="answered in the editor"),
    "session/prompt": EventRow(
        closes=EndScope.AGENT, phase=Phase.PROMPT, outcome="new prompt", tells=common.TELLS_PROMPT
    ),
    "session/cancel": EventRow(),
    TURN_OVER: EventRow(closes=EndScope.AGENT, outcome="the agent's turn ended"),
    GONE: EventRow(closes=EndScope.SESSION, outcome="its session ended"),
    WARNING: EventRow(tells={"message": ShownField("the proxy saw", How.PROSE)}),
})
# fmt: on

_read = common.reader("acp", EVENTS, calls.call_of)


def read_event(payload: bytes) -> Event:
    """Return the event in what the proxy sends; raises PayloadError."""
    event = _read(payload)
    owner = calls.agent_of(event.fields).get("platform", "")
    tell = _TOLD.get(event.name)
    return replace(
        event,
        agent_id=calls.subagent_of(event.fields),
        proxied=owner if owner in AGENTS else "",
        fields={**event.fields, **(tell(event) if tell else {})},
    )


def _told(event: Event) -> dict[str, Value]:
    """Return what a request says beside its tool's input, in fields that a card can show."""
    call, agent = object_at(event.fields, "tool_call"), object_at(event.fields, "agent")
    shown = canonical(event.tool.input) if event.tool else ""
    title, texts = text_at(call, "title"), calls.texts_of(call)
    parts: dict[str, Value] = {
        "title": "" if canonical(title) in shown else title,
        "texts": [text for text in texts if canonical(text)[1:-1] not in shown],
        "kind": text_at(call, "kind"),
        "places": [*calls.places_of(call)],
        "terminals": [*calls.terminals_of(call)],
        "offers": [text_at(offer, "name") for offer in calls.objects_at(event.fields, "options")],
        "client": " ".join(filter(None, (_name(agent), text_at(agent, "version")))),
    }
    return {key: value for key, value in parts.items() if value}


def _name(agent: Mapping[str, Value]) -> str:
    return text_at(agent, "title") or text_at(agent, "name")


def _told_of_form(event: Event) -> dict[str, Value]:
    """Return who asks by a form: the agent, which may ask for a server that it does not name."""
    return {"mcp_server_name": _name(object_at(event.fields, "agent"))}


_TOLD: Mapping[str, Callable[[Event], dict[str, Value]]] = {
    ASKED: _told,
    FORM: _told_of_form,
}


def one_option(event: Event, kind: str) -> str:
    """Return the id of the only option of a kind; empty where there is none, or a choice."""
    offered = calls.options_of(event.fields, kind)
    return text_at(offered[0], "optionId") if len(offered) == 1 else ""


def is_cut(event: Event) -> bool:
    """Whether the proxy left out parts of the request, which was too long."""
    return "cut" in event.fields


def can_allow(event: Event) -> bool:
    """Whether the editor's request can be allowed once, and all of it is here to be seen."""
    return not is_cut(event) and bool(one_option(event, "allow_once"))


def asks(event: Event) -> bool:
    """Whether the event asks a person something, or only a person can allow it."""
    if event.name != ASKED:
        return event.name == FORM
    return event.calls(*QUESTIONS, *PLANS) or not can_allow(event)


def held(event: Event, _: Stance) -> Held:
    """Return when the event waits for the operator: where an answer of ours can be given."""
    if event.name == ASKED and not (can_allow(event) or one_option(event, "reject_once")):
        return Held.NEVER
    return EVENTS[event.name].held


def outcome(event: Event) -> str:
    """Return the result of a call answered at the agent, in words."""
    words = EVENTS[event.name].outcome
    how = event.text("how")
    return f"{words}: {how}" if how else words
