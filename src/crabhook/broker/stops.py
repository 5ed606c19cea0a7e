"""How often in a row an agent was told to keep going, and the limit to it.

Claude Code ends the turn after eight blocks of Stop in a row, whatever a hook
says (hook protocol, section 7); a ninth would be a decision that is shown and
not carried out.
"""

from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event

CAP = 8
_AGENTS_KEPT = 4096


class Stops:
    """Counts, by agent; an agent that stops by itself starts again from nothing."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str, str], int] = {}

    def in_a_row(self, event: Event) -> int:
        """Return how often the agent was kept going since it last began by itself."""
        if event.fields.get("stop_hook_active") is not True:
            self._counts.pop(_agent(event), None)
        return self._counts.get(_agent(event), 0)

    def counts(self, event: Event, decision: Decision) -> bool:
        """Count a decision that no operator made; say whether the agent will follow it."""
        try:
            self.count(event, decision)
        except DecisionError:
            return False
        return True

    def count(self, event: Event, decision: Decision) -> None:
        """Count a decision; raise DecisionError where the agent would no longer follow it."""
        if decision.verdict is not Verdict.KEEP_GOING:
            return
        row = self.in_a_row(event)
        if row >= CAP:
            raise DecisionError(
                f"it was kept going {CAP} times in a row; the agent stops now anyway"
            )
        self._counts[_agent(event)] = row + 1
        if len(self._counts) > _AGENTS_KEPT:
            del self._counts[next(iter(self._counts))]


def _agent(event: Event) -> tuple[str, str, str]:
    return event.platform, event.session, event.agent_id
