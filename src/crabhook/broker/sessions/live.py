"""The live sessions: what each agent does now, as far as its events tell.

An event costs a few microseconds: the broker copies none of it until a desk reads the session. All
memory here is bounded.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from crabhook.datatypes import Bounded
from crabhook.model.event import Event
from crabhook.model.session import (
    Activity,
    AgentView,
    Note,
    SessionKey,
    SessionView,
    SharedFile,
)
from crabhook.platforms.event_table import Phase
from crabhook.platforms.interface import Platform

SESSIONS_KEPT = 4096  # not every session reports its end; the quietest go first
SHOWN = 200  # the sessions with the latest events
AGENTS_KEPT = 32  # of a session; not every subagent reports its end
FILES_KEPT = 50  # changed by a session
CALLS_COMPARED = 20  # of an agent, to see that it repeats the same call
CHANGING = 3600.0  # seconds in which a session counts as at work on a file


@dataclass(slots=True)
class _Agent:
    kind: str
    since: float
    doing: Activity | None = None
    whole: bool = False  # whether the event of `doing` still has its whole input
    new_files: list[str] = field(default_factory=list)  # new files of its last call
    calls: tuple[tuple[str, bytes], ...] = ()  # the last; a tuple, as most have one

    def does(self, event: Event, now: float, *, asks: bool) -> None:
        """Record a call that the agent is about to make; `asks`: the agent asks a person first."""
        tool, before = event.tool, self.doing
        assert tool is not None  # noqa: S101 - a call is of a tool
        call = (tool.name, tool.fingerprint)
        same = bool(self.calls) and self.calls[-1] == call
        if not (asks and same and before is not None and not before.outcome):
            self.calls = (*self.calls, call)[-CALLS_COMPARED:]
        self.new_files.clear()
        self.doing, self.whole = Activity(event, now), True

    def comes_to(self, event: Event, outcome: str, now: float | None = None) -> None:
        """Record the outcome of a call, where it is the agent's latest.

        `now`: the event itself tells of the call, whose beginning nobody may have heard.
        """
        doing = self.doing
        if doing is None and now is not None:
            self.tells(event, now, outcome)
            return
        if doing is None or doing.outcome or doing.event.tool is None or event.tool is None:
            return
        mine, its = doing.event.tool, event.tool
        both_have_ids = mine.use_id and its.use_id
        if mine.name == its.name and (not both_have_ids or mine.use_id == its.use_id):
            self.doing = replace(doing, outcome=outcome)

    def tells(self, event: Event, now: float, outcome: str) -> None:
        """Record that a turn began or ended."""
        self.calls = ()
        self.doing, self.whole = Activity(event, now, outcome), True

    def view(self, agent_id: str) -> AgentView:
        """Return the agent's view; after that only the start of its input is kept."""
        if self.whole and self.doing is not None:
            times = self.calls.count(self.calls[-1]) if self.calls else 1
            self.doing = replace(self.doing, event=self.doing.event.brief(), times=times)
            self.whole = False
        return AgentView(agent_id, self.kind, self.since, self.doing)


@dataclass(slots=True)
class _Live:
    since: float
    heard: float
    cwd: str = ""
    mode: str = ""
    agents: dict[str, _Agent] = field(default_factory=dict)
    files: dict[str, None] = field(default_factory=dict)


class LiveSessions:
    """All live sessions; the session with the latest event is the last.

    `cards_of` and `notes_of` return the cards and notes of a session for its view.
    """

    def __init__(
        self,
        platforms: Mapping[str, Platform],
        cards_of: Callable[[SessionKey], tuple[int, ...]],
        notes_of: Callable[[SessionKey], tuple[Note, ...]],
    ) -> None:
        self._platforms, self._cards_of, self._notes_of = platforms, cards_of, notes_of
        self._live: Bounded[SessionKey, _Live] = Bounded(SESSIONS_KEPT)
        self._changed: dict[SessionKey, None] = {}
        self._changers: dict[str, dict[SessionKey, float]] = {}  # by file, each with its time

    def __len__(self) -> int:
        return len(self._live)

    def __repr__(self) -> str:
        return f"<LiveSessions {len(self._live)}>"

    @property
    def changed(self) -> bool:
        """Whether a session has changed since `take_changes`."""
        return bool(self._changed)

    def record(self, event: Event, now: float, *, ends_turn: bool = False) -> None:
        """Record an event of a session."""
        key = event.session_key
        if (live := self._live.get(key)) is not None:
            self._live.move_to_end(key)
        else:
            if len(self._live) == SESSIONS_KEPT:
                self._forget(next(iter(self._live)))
            live = self._live[key] = _Live(now, now)
        self._changed[key] = None
        live.heard = now
        live.cwd, live.mode = event.cwd or live.cwd, event.permission_mode or live.mode
        if ends_turn and event.agent_id:
            live.agents.pop(event.agent_id, None)
            return
        agent = live.agents.get(event.agent_id)
        if agent is None:
            agent = live.agents[event.agent_id] = _Agent(event.agent_type, now)
            if len(live.agents) > AGENTS_KEPT:
                del live.agents[next(agent_id for agent_id in live.agents if agent_id)]
        platform = self._platforms[event.platform]
        phase = platform.phase(event)
        if event.tool is None:
            if ends_turn or phase is Phase.PROMPT:
                agent.tells(event, now, platform.outcome(event) if ends_turn else "")
        elif phase in (Phase.BEFORE, Phase.ASKING):
            agent.does(event, now, asks=phase is Phase.ASKING)
        elif phase in (Phase.RAN, Phase.REFUSED):
            agent.comes_to(event, platform.outcome(event), now)

    def refused(self, event: Event) -> None:
        """Record that a call was denied."""
        live = self._live.get(event.session_key)
        if live is not None and (agent := live.agents.get(event.agent_id)) is not None:
            agent.comes_to(event, "denied")
            for path in agent.new_files:  # the denied call did not change them
                if path in live.files:
                    del live.files[path]
                    self._leave(event.session_key, path)
            agent.new_files.clear()
            self.touch(event.session_key)

    def touch(self, key: SessionKey) -> None:
        """Mark a session as changed."""
        if key in self._live:
            self._changed[key] = None

    def end(self, event: Event) -> None:
        """Record that a session has ended."""
        self._forget(event.session_key)

    def _forget(self, key: SessionKey) -> None:
        live = self._live.pop(key, None)
        if live is not None:
            self._changed[key] = None
            for path in live.files:
                self._leave(key, path)

    def agents_of(self, session: str) -> Iterator[tuple[SessionKey, tuple[str, ...]]]:
        """Return the sessions with this id, and the ids of their agents."""
        for key, live in self._live.items():
            if key[1] == session:
                yield key, tuple(live.agents)

    # Files.

    def changes(self, event: Event, files: tuple[str, ...], now: float) -> None:
        """Record that a session is about to change files, given by their real paths."""
        key = event.session_key
        live = self._live.get(key)
        for path in files if live is not None else ():
            assert live is not None  # noqa: S101 - see the line above
            if path not in live.files and event.agent_id in live.agents:
                live.agents[event.agent_id].new_files.append(path)
            live.files.pop(path, None)
            live.files[path] = None
            if len(live.files) > FILES_KEPT:
                oldest = next(iter(live.files))
                del live.files[oldest]
                self._leave(key, oldest)
            self._changers.setdefault(path, {})[key] = now
            self._changed |= dict.fromkeys(self._changers[path])

    def _leave(self, key: SessionKey, path: str) -> None:
        """Forget that a session changed a file; mark the other sessions of the file as changed."""
        changers = self._changers[path]
        del changers[key]
        self._changed |= dict.fromkeys(changers)
        if not changers:
            del self._changers[path]

    def changed_at(self, key: SessionKey, path: str) -> float:
        """Return when a session last changed a file; minus infinity where it never did."""
        return self._changers.get(path, {}).get(key, float("-inf"))

    def sharers(self, key: SessionKey, path: str, now: float) -> tuple[SessionKey, ...]:
        """Return the other sessions that changed a file lately, the first to do so first."""
        changers = self._changers.get(path, {})
        return tuple(o for o, at in changers.items() if o != key and now - at < CHANGING)

    # Views.

    def take_changes(self, now: float) -> tuple[tuple[SessionView, ...], tuple[SessionKey, ...]]:
        """Return the sessions that have changed since the last call, and those that ended."""
        keys, self._changed = self._changed, {}
        views = [self._view(key, now) for key in keys if key in self._live]
        return tuple(views), tuple(key for key in keys if key not in self._live)

    def views(self, now: float) -> tuple[SessionView, ...]:
        """Return the sessions with the latest events, at most SHOWN, the latest last."""
        return tuple(self._view(key, now) for key in tuple(self._live)[-SHOWN:])

    def _view(self, key: SessionKey, now: float) -> SessionView:
        live = self._live[key]
        agents = [
            doing.view(agent) for agent, doing in sorted(live.agents.items(), key=_main_first)
        ]
        shared = [
            SharedFile(path, by) for path in live.files if (by := self.sharers(key, path, now))
        ]
        return SessionView(
            *(key[0], self._platforms[key[0]].title, key[1], live.cwd, live.mode),
            since=live.since,
            heard=live.heard,
            agents=tuple(agents),
            waiting=self._cards_of(key),
            files=tuple(live.files),
            shared=tuple(shared),
            notes=self._notes_of(key),
            machine=key[2],
        )


def _main_first(item: tuple[str, _Agent]) -> tuple[bool, float]:
    return bool(item[0]), item[1].since
