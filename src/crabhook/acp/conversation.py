"""What editor and agent say to each other, as far as the desk has a part in it; no I/O.

The agent asks the editor for a permission, and the desk is asked as well. This module decides that
race: the first answer counts, and what comes later is dropped. It keeps which session works in
which folder, and what the agent told of each call. Everything kept has a bound.

A line that cannot be understood is not touched: it passes, and a complaint says so.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from crabhook.acp.payload import asked_payload, event_payload
from crabhook.datatypes import Bounded, frozen
from crabhook.model.errors import PayloadError
from crabhook.model.jsontext import Value, compact, object_at, parse_object, text_at
from crabhook.platforms.acp.calls import objects_at
from crabhook.platforms.acp.events import ANSWERED, ASKED, FORM, GONE, TURN_OVER, WARNING

_Object: TypeAlias = Mapping[str, Value]
SESSIONS_KEPT, REQUESTS_KEPT = 1000, 4096
RACES_AT_ONCE = 200
"""Requests that editor and desk race for at once; of more the editor decides alone."""
CALLS_KEPT = 32 << 20
"""Bytes of lines about calls that have not ended; the oldest are forgotten first."""
Message: TypeAlias = _Object | PayloadError
"""What a line says, or why it cannot be read."""
_CANCEL = "$/cancel_request"
_ONCE = frozenset({"allow_once", "reject_once"})
_OPENS = frozenset({"session/load", "session/resume"})
_OVER = frozenset({"completed", "failed"})
_NAMED = 80  # letters of a peer's word in a complaint of ours


def read(line: bytes) -> Message:
    """Return what a line says; a blank line says nothing."""
    if not line.strip():
        return {}
    try:
        return parse_object(line)
    except PayloadError as error:
        return error


class RaceStage(Enum):
    """How far a race has come."""

    OPEN = "nobody has answered"
    DESK = "the desk answered; an answer of the editor comes too late"
    OVER = "the editor answered, or nobody can any more"


@dataclass(eq=False, slots=True)
class Race:
    """A request of the agent that editor and desk may answer.

    `shown`: the editor has it. `once`: the ids of the options that an answer of the desk may name.
    """

    id: Value
    method: str
    session: str
    call_id: str
    payload: bytes
    once: frozenset[str]
    stage: RaceStage = RaceStage.OPEN
    shown: bool = False


@frozen
class Pass:
    """The line goes on to the other side, as it came."""


@frozen
class AskDesk:
    """Ask the desk. Then the line goes on, if the desk has not answered at once."""

    race: Race


@frozen
class ToAgent:
    """A line of ours for the agent, which answers the request of `race`."""

    data: bytes
    race: Race


@frozen
class ToEditor:
    """A line of ours for the editor."""

    data: bytes


@frozen
class Tell:
    """Tell the server what passed by; `then` are races whose desk need not answer any more."""

    payload: bytes
    then: tuple[Race, ...] = ()


@frozen
class Complain:
    """Say what was wrong with what a peer sent."""

    text: str


Step: TypeAlias = Pass | AskDesk | ToAgent | ToEditor | Tell | Complain
PASS = Pass()


@dataclass(slots=True)
class _Session:
    cwd: str
    mode: str = ""


@frozen
class _Pending:
    """A request of the editor whose answer tells something."""

    method: str
    params: _Object


class _Calls:
    """What the agent told of each call, until the call ends."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[dict[str, Value], int]] = {}
        self._size = 0

    def merge(self, session: str, update: _Object, size: int) -> None:
        """Add what an update tells of a call; `size`: the bytes of its line."""
        call_id = text_at(update, "toolCallId")
        call, before = self._known.pop((session, call_id), ({}, 0))
        self._size -= before
        if text_at(update, "status") in _OVER or size > CALLS_KEPT:
            return
        call, size = merged(call, update), before + size
        if self._size + size > CALLS_KEPT:  # parts that were told anew are counted twice
            size = len(compact(call))
        self._known[session, call_id] = call, size
        self._size += size
        while self._size > CALLS_KEPT:
            _, oldest = self._known.pop(next(iter(self._known)))
            self._size -= oldest

    def of(self, session: str, call_id: str) -> dict[str, Value]:
        """Return what the agent told of a call."""
        return self._known.get((session, call_id), ({}, 0))[0]


def merged(earlier: _Object, newer: _Object) -> dict[str, Value]:
    """Return a call with what is newly told of it.

    Nothing, and an empty input, say nothing new. An input that says less than before, and nothing
    else, adds to it: OpenCode tells a command's folder only in the update before its request. An
    update's `_meta` adds to the earlier: Qwen Code names there the call that began a subagent.
    """
    news = {key: value for key, value in newer.items() if value is not None}
    news.pop("sessionUpdate", None)
    before, now = object_at(earlier, "rawInput"), object_at(news, "rawInput")
    if before and (now or not news.get("rawInput")):
        same = all(compact(before[key]) == compact(now[key]) for key in before.keys() & now.keys())
        news["rawInput"] = {**before, **now} if same else {**now}
    if about := {**object_at(earlier, "_meta"), **object_at(news, "_meta")}:
        news["_meta"] = about
    return {**earlier, **news}


class Conversation:
    """The state between one editor and one agent; each line is handed in, and brings steps."""

    def __init__(self) -> None:
        self.agent: _Object = {}
        self._sessions: Bounded[str, _Session] = Bounded(SESSIONS_KEPT)
        self._pending: Bounded[str, _Pending] = Bounded(REQUESTS_KEPT)
        self._races: dict[str, Race] = {}
        self._late: Bounded[str, Race] = Bounded(REQUESTS_KEPT)
        self._calls = _Calls()

    def open_races(self) -> list[Race]:
        """Return the races that nobody has won."""
        return list(self._races.values())

    # What the agent says.

    def from_agent(self, message: Message, size: int) -> list[Step]:
        """Return what a line of the agent's brings; `size`: its bytes."""
        if isinstance(message, PayloadError):
            return [PASS, *self._wrong("agent", message)]
        method, params = text_at(message, "method"), object_at(message, "params")
        if not method:
            return [PASS, *self._answered_by_agent(message)]
        if "id" in message:
            return self._asked(message, method, params, size)
        if method == "session/update":
            return [PASS, *self._updated(params, size)]
        if method == _CANCEL:
            race = self._races.get(compact(params.get("requestId")))
            return [PASS, *([] if race is None else self._over([race], "the agent took it back"))]
        return [PASS]

    def _asked(self, message: _Object, method: str, params: _Object, size: int) -> list[Step]:
        if method not in (ASKED, FORM):
            return [PASS]
        session_id, key = text_at(params, "sessionId"), compact(message["id"])
        before = self._races.get(key)
        if before is not None:
            again = f"the agent asks again under an id that waits for an answer: {key[:_NAMED]}"
            over = self._over([before], "the agent asked for something else")
            return [PASS, *over, *self._say(again)]
        session = self._sessions.get(session_id)
        if session is None:
            of = f"a session that no editor opened here: {session_id[:_NAMED]!r}"
            return [PASS, *self._say(f"the agent asks for {of}. The editor alone decides")]
        if len(self._races) >= RACES_AT_ONCE:
            many = f"{RACES_AT_ONCE} requests wait: the editor alone decides about one more"
            return [PASS, *self._say(many)]
        call = merged(
            self._calls.of(session_id, text_at(object_at(params, "toolCall"), "toolCallId")),
            object_at(params, "toolCall"),
        )
        payload = asked_payload(method, params, call, self._about(session_id), size)
        race = Race(
            id=message["id"],
            method=method,
            session=session_id,
            call_id=text_at(call, "toolCallId"),
            payload=payload,
            once=_once(params),
        )
        self._races[key] = race
        return [AskDesk(race)]

    def _updated(self, params: _Object, size: int) -> Iterator[Step]:
        session_id, update = text_at(params, "sessionId"), object_at(params, "update")
        session, kind = self._sessions.get(session_id), text_at(update, "sessionUpdate")
        if session is None:
            return
        if kind == "current_mode_update":
            session.mode = text_at(update, "currentModeId")
        elif kind in ("tool_call", "tool_call_update"):
            self._calls.merge(session_id, update, size)
            if text_at(update, "status") in _OVER:
                call_id = text_at(update, "toolCallId")
                races = [
                    race
                    for race in self._races.values()
                    if call_id and (race.session, race.call_id) == (session_id, call_id)
                ]
                yield from self._over(races, "the agent went on without an answer")

    def _answered_by_agent(self, message: _Object) -> Iterator[Step]:
        asked = self._pending.pop(compact(message.get("id")), None)
        result = object_at(message, "result")
        if asked is None:
            return
        session_id = text_at(asked.params, "sessionId")
        if asked.method == "initialize":
            self.agent = {
                key: text_at(object_at(result, "agentInfo"), key)
                for key in ("name", "title", "version")
            }
        elif asked.method in ("session/new", "session/fork"):
            if opened := text_at(result, "sessionId"):
                self._open(opened, text_at(asked.params, "cwd"))
                self._mode(opened, result)
        elif asked.method in _OPENS:
            self._mode(session_id, result)
        elif asked.method == "session/set_mode":
            if "error" not in message and (session := self._sessions.get(session_id)):
                session.mode = text_at(asked.params, "modeId")
        elif asked.method == "session/close":
            yield from self._over(self._of(session_id), "its session was closed")
            yield Tell(event_payload(GONE, self._about(session_id), {"how": "closed"}))
            self._sessions.pop(session_id, None)
        elif asked.method == "session/prompt":
            yield from self._over(self._of(session_id), "the agent's turn ended")
            why = text_at(result, "stopReason") or "an error"
            yield Tell(event_payload(TURN_OVER, self._about(session_id), {"how": why[:_NAMED]}))

    # What the editor says.

    def from_editor(self, message: Message, _: int) -> list[Step]:
        """Return what a line of the editor's brings; without `Pass` it is dropped."""
        if isinstance(message, PayloadError):
            return [PASS, *self._wrong("editor", message)]
        method, params = text_at(message, "method"), object_at(message, "params")
        if not method:
            return self._answered_by_editor(message)
        session_id = text_at(params, "sessionId")
        if "id" in message:
            self._pending[compact(message["id"])] = _Pending(method, _kept(params))
        if method in _OPENS and session_id:
            self._open(session_id, text_at(params, "cwd"))
        if method == "session/prompt":
            fields = {"prompt": _words(params)}
            return [PASS, Tell(event_payload(method, self._about(session_id), fields))]
        if method == "session/cancel":
            races = self._of(session_id)
            fields = {"how": f"{len(races)} of its requests waited"}
            cancelled = Tell(event_payload(method, self._about(session_id), fields))
            return [PASS, *self._over(races, "cancelled"), cancelled]
        return [PASS]

    def _answered_by_editor(self, message: _Object) -> list[Step]:
        key = compact(message.get("id"))
        if self._late.pop(key, None) is not None:
            return []
        race = self._races.get(key)
        if race is None:
            return [PASS]
        return [PASS, *self._over([race], _said(message, race))]

    def _over(self, races: Sequence[Race], how: str) -> Iterator[Step]:
        """End races without the desk, whose cards end too, and never with an allow of ours."""
        for race in races:
            race.stage = RaceStage.OVER
            self._races.pop(compact(race.id), None)
            yield Tell(event_payload(ANSWERED, race.payload, {"how": how}), (race,))

    # What the desk says.

    def decided(self, race: Race, result: _Object) -> list[Step]:
        """Return what an answer of the desk brings; nothing where it comes too late."""
        if race.stage is not RaceStage.OPEN:
            return []
        if not self._may_say(race, result):
            return [*self._say("the server's answer is none of this request's options: not sent")]
        race.stage = RaceStage.DESK
        key = compact(race.id)
        del self._races[key]
        line = compact({"jsonrpc": "2.0", "id": race.id, "result": dict(result)})
        steps: list[Step] = [ToAgent(f"{line}\n".encode(), race)]
        if race.shown:
            self._late[key] = race
            taken_back: _Object = {
                "jsonrpc": "2.0",
                "method": _CANCEL,
                "params": {"requestId": race.id},
            }
            steps.append(ToEditor(f"{compact(taken_back)}\n".encode()))
        return steps

    def _may_say(self, race: Race, result: _Object) -> bool:
        """Whether a desk may give this answer: never an option that the agent keeps."""
        if race.method == FORM:
            return text_at(result, "action") in ("accept", "decline", "cancel")
        outcome = object_at(result, "outcome")
        return text_at(outcome, "outcome") == "selected" and (
            text_at(outcome, "optionId") in race.once
        )

    # Both.

    def unread(self, who: str) -> list[Step]:
        """Return what a line brings that is too long to be read."""
        return [*self._say(f"a line of the {who}'s is too long to be read: it passes unread")]

    def ended(self, why: str) -> list[Step]:
        """Return what the end of a peer brings."""
        steps = [*self._over(self.open_races(), why)]
        fields: _Object = {"how": why}
        gone = [event_payload(GONE, self._about(session), fields) for session in self._sessions]
        self._sessions.clear()
        return [*steps, *map(Tell, gone)]

    def _of(self, session: str) -> list[Race]:
        return [race for race in self._races.values() if race.session == session]

    def _open(self, session: str, cwd: str) -> None:
        self._sessions[session] = _Session(cwd)

    def _mode(self, session: str, result: _Object) -> None:
        if (open_session := self._sessions.get(session)) is not None:
            open_session.mode = text_at(object_at(result, "modes"), "currentModeId")

    def _about(self, session_id: str) -> dict[str, Value]:
        """Return what every event of a session says."""
        session = self._sessions.get(session_id) or _Session("")
        return {
            "session_id": session_id,
            "cwd": session.cwd,
            "permission_mode": session.mode,
            "agent": dict(self.agent),
        }

    def _wrong(self, who: str, error: PayloadError) -> Iterator[Step]:
        return self._say(f"a line of the {who}'s cannot be read ({error}): it passes as it is")

    def _say(self, text: str) -> Iterator[Step]:
        yield Complain(text)
        yield Tell(event_payload(WARNING, self._about(""), {"message": text}))


def _once(params: _Object) -> frozenset[str]:
    return frozenset(
        text_at(option, "optionId")
        for option in objects_at(params, "options")
        if text_at(option, "kind") in _ONCE
    )


def _kept(params: _Object) -> _Object:
    """Return what of a request's parameters its answer will need: not the prompt."""
    return {key: params[key] for key in ("sessionId", "cwd", "modeId") if key in params}


_PROMPT = 100_000  # letters of a prompt that the server is told


def _words(params: _Object) -> str:
    """Return the text of a prompt."""
    texts = [text_at(block, "text") for block in objects_at(params, "prompt")]
    return "\n".join(filter(None, texts))[:_PROMPT]


def _said(message: _Object, race: Race) -> str:
    """Return in words what the editor answered."""
    if "error" in message:
        return "an error"
    result = object_at(message, "result")
    if race.method == FORM:
        return text_at(result, "action")[:_NAMED] or "an answer"
    outcome = object_at(result, "outcome")
    return (text_at(outcome, "optionId") or text_at(outcome, "outcome"))[:_NAMED] or "an answer"
