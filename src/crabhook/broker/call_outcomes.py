"""Decided calls, followed until the agent's own events report their outcome.

The broker compares what ran with what was allowed. Another hook may have changed the input after
the operator saw it, or answered the same question first. For a call that was left to the agent, the
next events show whether the agent's rules or its user decided.
"""

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from hashlib import sha256

from crabhook.broker.cards import named, over, same_agent
from crabhook.broker.recent import Memory
from crabhook.datatypes import frozen
from crabhook.model.decision import Decision, Verdict
from crabhook.model.event import EndScope, Event, ToolCall
from crabhook.model.jsontext import canonical
from crabhook.platforms.interface import Platform

FOLLOWED_FOR = 86_400.0  # seconds; as long as a tool may run
SEEN_FOR = 600.0  # seconds; a PermissionRequest follows its PreToolUse at once

_LEFT = frozenset({Verdict.ASK, Verdict.PASS, Verdict.DEFER})


class CallOutcome(StrEnum):
    """What became of a call, as far as its agent's events tell."""

    AS_ALLOWED = "it ran as it was allowed"
    OTHER = "what ran is not what was allowed"
    DENIED = "it ran although it was denied"
    RAN = "it ran: the agent's own user or rules allowed it"
    REFUSED = "the agent's own classifier denied it"
    NOT_RUN = "it did not run: refused at the agent, or broken off"

    @property
    def alarming(self) -> bool:
        """Whether the outcome differs from the decision."""
        return self in (CallOutcome.OTHER, CallOutcome.DENIED)


@frozen
class Followed:
    """A decided call: the event, without its input, and the decision.

    `asked` is the fingerprint of the input in the request, `wanted` the fingerprints of the parts
    that must be the same when the call runs. `requests` are the ids of its legs; `use_id` is the
    call's own id, empty where no event gave it.
    """

    event: Event
    verdict: Verdict
    asked: bytes
    wanted: Mapping[str, bytes]
    at: float
    card: int | None = None
    requests: tuple[str, ...] = ()
    use_id: str = ""

    @property
    def named(self) -> Event:
        """The event, with the call's id even where only another event gave it."""
        tool = self.event.tool
        return replace(self.event, tool=tool and replace(tool, use_id=self.use_id))


@frozen
class _Seen:
    """A call that was not held; a later PermissionRequest gives no id for it."""

    event: Event
    asked: bytes
    at: float


class FollowedCalls:
    """The memory of decided calls; bounded in number and in time."""

    def __init__(self, platforms: Mapping[str, Platform]) -> None:
        self._platforms = platforms
        self._calls: Memory[Followed] = Memory(FOLLOWED_FOR)
        self._seen: Memory[_Seen] = Memory(SEEN_FOR)
        self._changed: Memory[Followed] = Memory(FOLLOWED_FOR)

    def __repr__(self) -> str:
        return f"<FollowedCalls {len(self._calls)}>"

    def see(self, event: Event, now: float) -> None:
        """Keep a call with an id that is about to run and that no operator was asked about."""
        if event.tool is not None and named(event):
            self._seen.keep(_Seen(event.slim(), event.tool.fingerprint, now))

    def follow(
        self,
        event: Event,
        decision: Decision,
        now: float,
        *,
        card: int | None = None,
        requests: tuple[str, ...] = (),
    ) -> None:
        """Keep the decision about a call."""
        tool = event.tool
        if tool is None:
            return
        allowed = tool
        if decision.updated_input is not None:
            allowed = ToolCall(tool.name, dict(decision.updated_input))
        entry = Followed(
            event.slim(),
            decision.verdict,
            tool.fingerprint,
            self._fingerprints(event, allowed),
            now,
            card,
            requests,
            tool.use_id or self._id_of(event, tool),
        )
        for key, kept in self._calls.of_use(event, entry.use_id):
            if same_agent(kept.event, event) and kept.asked == entry.asked:
                self._calls.drop(key)  # the agent asked again: the later decision counts
        self._calls.keep(entry, entry.use_id)

    def unfollow(self, event: Event, request_id: str) -> None:
        """Forget the decision about the call of this request, which its hook never had."""
        for key, kept in self._calls.of_session(event):
            if request_id in kept.requests:
                self._calls.drop(key)

    def agent_of(self, event: Event) -> str:
        """Return the subagent whose hook alone has named this very call; "" where there is none.

        A proxy's event may not say which agent of its session makes a call. The call's id, its tool
        and its whole input must be the same, and no other agent may have named such a call.
        """
        if event.tool is None or not named(event):
            return ""
        own = (event.tool.use_id, event.tool.name, event.tool.fingerprint)
        agents = {
            kept.event.agent_id
            for memory in (self._seen, self._calls)
            for _, kept in memory.of_session(event)
            if kept.event.tool is not None
            and not kept.event.proxied
            and (kept.event.tool.use_id, kept.event.tool.name, kept.asked) == own
        }
        return agents.pop() if len(agents) == 1 else ""

    def rivals(self, event: Event) -> list[Followed]:
        """Return the decided calls that have the event's id, but another tool or input."""
        if event.tool is None:
            return []
        return [
            kept
            for _, kept in self._calls.of_use(event, event.tool.use_id)
            if kept.event.tool is not None
            and same_agent(kept.event, event)
            and (kept.event.tool.name, kept.asked) != (event.tool.name, event.tool.fingerprint)
        ]

    def ran(self, event: Event) -> tuple[Followed, CallOutcome] | None:
        """Return the decided call whose result `event` is, and its outcome; once for each call."""
        if event.tool is None:
            return None
        mine = [(key, kept) for key, kept in self._calls.of_session(event) if _may_be(kept, event)]
        if not mine:
            return None
        key, call, fate = self._fate(mine, event)
        if call is None:
            return None
        self._calls.drop(key)
        if fate is CallOutcome.OTHER:
            self._changed.keep(call)
        for other, kept in mine:
            if other != key and kept.use_id and kept.use_id == event.tool.use_id:
                self._calls.drop(other)
        return call, fate

    def changed(self, event: Event) -> Followed | None:
        """Return the last call of the event's session that ran in another form than was allowed."""
        return next((kept for _, kept in reversed(self._changed.of_session(event))), None)

    def refused(self, event: Event) -> tuple[Followed, CallOutcome] | None:
        """Return the call left to the agent that the agent, by this event, has denied itself."""
        for key, kept in self._calls.of_session(event):
            if kept.verdict in _LEFT and _may_be(kept, event) and kept.use_id:
                self._calls.drop(key)
                return kept, CallOutcome.REFUSED
        return None

    def conclude(self, news: Event, closes: EndScope) -> list[tuple[Followed, CallOutcome]]:
        """Forget the calls that the end of a turn or session closes.

        Returns the calls that were left to the agent and did not run.
        """
        unheard = []
        for key, _ in self._changed.of_session(news) if closes is EndScope.SESSION else ():
            self._changed.drop(key)
        for key, kept in self._calls.of_session(news):
            if closes in (EndScope.AGENT, EndScope.SESSION) and over(kept.event, news, closes):
                left = kept.verdict in _LEFT
                if closes is EndScope.SESSION or left or not kept.use_id:
                    self._calls.drop(key)
                if left and kept.card is not None:
                    unheard.append((kept, CallOutcome.NOT_RUN))
        return unheard

    def _fate(
        self, mine: list[tuple[int, Followed]], event: Event
    ) -> tuple[int, Followed | None, CallOutcome]:
        assert event.tool is not None  # noqa: S101 - asked by those who have looked
        prints = self._fingerprints(event, event.tool)
        for key, kept in mine:
            if kept.verdict is Verdict.ALLOW and _holds(kept, prints):
                return key, kept, CallOutcome.AS_ALLOWED
        for key, kept in mine:
            sure = bool(kept.use_id) or not named(event) or _holds(kept, prints)
            if kept.verdict in _LEFT and sure:
                return key, kept, CallOutcome.RAN
        for key, kept in reversed(mine):
            # By the id alone. Where the agent gives no id, only an allowed call that has not
            # run yet is the only thing that can have.
            if kept.verdict is Verdict.ALLOW and (kept.use_id or not named(event)):
                return key, kept, CallOutcome.OTHER
            if kept.verdict is Verdict.DENY and kept.use_id:
                return key, kept, CallOutcome.DENIED
        return 0, None, CallOutcome.AS_ALLOWED

    def _fingerprints(self, event: Event, tool: ToolCall) -> dict[str, bytes]:
        compared = self._platforms[event.platform].compared(tool)
        if compared is None:
            return {"input": tool.fingerprint}  # which is known already
        return {name: sha256(canonical(v).encode()).digest() for name, v in compared.items()}

    def _id_of(self, event: Event, tool: ToolCall) -> str:
        """Return the id of the only recently seen call that `event` can be about."""
        ids = {
            seen.event.tool.use_id
            for _, seen in self._seen.of_session(event)
            if seen.event.tool is not None
            and same_agent(seen.event, event)
            and seen.event.tool.name == tool.name
            and seen.asked == tool.fingerprint
        }
        return ids.pop() if len(ids) == 1 else ""


def _holds(kept: Followed, prints: Mapping[str, bytes]) -> bool:
    return all(prints.get(name) == value for name, value in kept.wanted.items())


def _may_be(kept: Followed, event: Event) -> bool:
    """Whether a result may be of the call: by the id where both have an id, else by the tool."""
    if kept.event.tool is None or event.tool is None or not same_agent(kept.event, event):
        return False
    if kept.use_id and event.tool.use_id:
        return kept.use_id == event.tool.use_id
    return kept.event.tool.name == event.tool.name
