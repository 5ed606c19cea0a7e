"""An event that waits for a decision, and who sent it."""

from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv4Address, IPv6Address, ip_address

from crabhook.model.event import Event


def number_of(host: str) -> IPv4Address | IPv6Address | None:
    """Return the address that a host is the number of; None for a name, which may lead anywhere."""
    try:
        return ip_address(host)
    except ValueError:
        return None


class Stance(StrEnum):
    """Whether the agent's own dialog stands beside the hook that asks.

    GATE holds every call before the agent's own rules see it; COMPANION
    leaves the agent's dialog usable and lets the first answer win; before a
    call it holds only what a rule or a protected place wants asked.
    SUPERVISOR holds the end of a turn as well, and what else it asks about.
    """

    GATE = "gate"
    COMPANION = "companion"
    SUPERVISOR = "supervisor"


@dataclass(frozen=True, slots=True)
class Origin:
    """Who asks, as the client says it: shown to the operator, trusted for nothing."""

    host: str = ""
    pid: int = 0
    user: str = ""


@dataclass(frozen=True, slots=True)
class Leg:
    """One invocation of a hook, as it is on a card: without its ticket's secret.

    On the broker's clock (monotonic seconds) we answer by `wait_until`, and the hook itself
    gives up at `gives_up_at`.  `note` goes to the model with whatever is answered.
    `size` is how many bytes its input had.  `when_lost` is what its hook does
    where nobody decides in time: "pass", "ask", "deny"; empty where it is not known.
    """

    id: str
    event: Event
    wait_until: float
    stance: Stance = Stance.GATE
    origin: Origin = Origin()
    gives_up_at: float = 0.0
    note: str = ""
    size: int = 0
    when_lost: str = ""


@dataclass(frozen=True, slots=True)
class Request(Leg):
    """A hook's request as its client sends it; `id` and `secret` are the client's ticket."""

    secret: str = field(kw_only=True, repr=False)

    def leg(self, note: str) -> Leg:
        """Return what of it is on a card, with a note for the model."""
        return Leg(
            self.id,
            self.event,
            self.wait_until,
            self.stance,
            self.origin,
            self.gives_up_at,
            note or self.note,
            self.size,
            self.when_lost,
        )
