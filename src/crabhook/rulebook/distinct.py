"""Past calls, each different one once, read into the parts that rules speak of."""

import json
import logging
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from crabhook.model.event import Event
from crabhook.policy.call import read_call
from crabhook.policy.engine import Policy
from crabhook.policy.parts import Call, Part
from crabhook.policy.protected import Protected
from crabhook.policy.rule import RuleVerdict
from crabhook.policy.surroundings import Surroundings
from crabhook.rulebook.past import PastCall
from crabhook.rulebook.recalled import recalled
from crabhook.rulebook.today import InForce, LawOf

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Distinct:
    """A call that was made once or more: the same input to the same tool in the same folder."""

    latest: PastCall
    times: int


@dataclass(frozen=True, slots=True)
class Seen:
    """A call with its parts, and what today's rules say of it; None where they leave it open."""

    past: PastCall
    times: int
    event: Event
    call: Call
    there: InForce
    today: RuleVerdict | None

    @property
    def surroundings(self) -> Surroundings:
        """Where it was made."""
        return self.there.surroundings

    def said_by(self, policy: Policy) -> RuleVerdict | None:
        """Return what some other rules say of it."""
        return policy.examine_call(self.call, self.event, self.surroundings).verdict

    def allowed_today(self, part: Part) -> bool:
        """Whether today's rules allow one part of it, taken alone."""
        alone = Call(self.call.tool, self.call.kind, (part,), ())
        ruling = self.there.policy.examine_call(alone, self.event, self.surroundings)
        return ruling.verdict is RuleVerdict.ALLOW


def distinct(past: Iterable[PastCall]) -> list[Distinct]:
    """Return the different calls, the most frequent first, and then the latest."""
    latest: dict[tuple[str, ...], PastCall] = {}
    times: Counter[tuple[str, ...]] = Counter()
    for call in past:
        key = _same(call.event)
        times[key] += 1
        latest.pop(key, None)
        latest[key] = call
    found = [Distinct(call, times[key]) for key, call in reversed(latest.items())]
    return sorted(found, key=lambda one: -one.times)


def _same(event: Event) -> tuple[str, ...]:
    """Return what two calls that count as one have in common."""
    tool = event.tool
    return (tool.name, json.dumps(tool.input, sort_keys=True), event.cwd) if tool else ()


def seen(one: Distinct, law: LawOf, protected: Protected) -> Seen | None:
    """Return the call with its parts, or None for one that no rule could ever allow."""
    event = recalled(one.latest.event)
    there = law(event)
    try:
        call = read_call(event, there.surroundings)
        if call is None or not call.required or call.troubles:
            return None
        bare = Policy((), protected).examine_call(call, event, there.surroundings)
        today = there.policy.examine_call(call, event, there.surroundings)
    except Exception:  # noqa: BLE001 - when it comes again this is a question, never an allow
        _LOG.debug("a past call of %s could not be read", event.name, exc_info=True)
        return None
    if bare.verdict is not None:
        return None
    return Seen(one.latest, one.times, event, call, there, today.verdict)
