"""One event that comes through two hooks: crabhook's own and the supervisor's on the same Stop.

An agent tells each of its hooks of the end of a turn, at once and in the same
words.  The second to arrive is no sign that anything else has happened: it
ends no card, and what was ordered about the first is said of it again.
"""

from collections import OrderedDict
from dataclasses import dataclass, field
from hashlib import sha256

from crabhook.model.decision import Decided
from crabhook.model.event import Event
from crabhook.model.jsontext import canonical
from crabhook.model.request import Request, Stance

TOGETHER_WITHIN = 30.0  # seconds; an agent starts its hooks at the same moment
_AGENTS_KEPT = 4096


@dataclass(slots=True)
class Twins:
    """One event, the hooks it has come through, and what an order said about it, if one did."""

    fingerprint: bytes = b""
    at: float = 0.0
    stances: set[Stance] = field(default_factory=set)
    ordered: Decided | None = None

    @property
    def told_before(self) -> bool:
        """Whether this is the event's second telling, or a later one."""
        return len(self.stances) > 1


class Tellings:
    """The last end of a turn of each agent, so that its second telling is known for what it is."""

    def __init__(self) -> None:
        self._last: OrderedDict[tuple[str, str, str], Twins] = OrderedDict()

    def __repr__(self) -> str:
        return f"<Tellings of {len(self._last)} agents>"

    def hear(self, request: Request, now: float) -> Twins:
        """Take in an event that ends a turn; return it with what its other hook has told.

        A hook tells once, so the same words under the same stance are another event.
        """
        agent, fingerprint = _agent(request.event), _fingerprint(request.event)
        last = self._last.pop(agent, None)
        if (
            last is not None
            and last.fingerprint == fingerprint
            and now - last.at <= TOGETHER_WITHIN
            and request.stance not in last.stances
        ):
            last.stances.add(request.stance)
            self._last[agent] = last
            return last
        self._last[agent] = Twins(fingerprint, now, {request.stance})
        if len(self._last) > _AGENTS_KEPT:
            self._last.popitem(last=False)
        return self._last[agent]


def _agent(event: Event) -> tuple[str, str, str]:
    return event.platform, event.session, event.agent_id


def _fingerprint(event: Event) -> bytes:
    return sha256(canonical({"name": event.name, **event.fields}).encode()).digest()
