"""How a call went that was answered at the agent."""

from crabhook.model.event import EndScope, Event
from crabhook.platforms import PLATFORMS
from crabhook.platforms.codex.events import EVENTS
from tests.support.rows import every_row


@every_row("name", EVENTS)
def test_every_event_that_closes_says_how_it_ended_and_no_other_does(name: str) -> None:
    closes = EVENTS[name].closes is not EndScope.NOTHING
    assert bool(PLATFORMS["codex"].outcome(Event("codex", name))) == closes
