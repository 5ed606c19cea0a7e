"""docs/protocols.md says what the code's table says."""

import re
from pathlib import Path

from crabhook.model.event import Scope
from crabhook.platforms.claude.events import EVENTS

PAGE = Path(__file__).parents[2] / "docs" / "protocols.md"

SCOPES = {
    "": Scope.NOTHING,
    "the call": Scope.CALL,
    "what this agent asked": Scope.AGENT,
    "the session": Scope.SESSION,
}


def test_the_page_has_every_event_as_the_table_has_it() -> None:
    rows = re.findall(
        r"^\| (\w+) \| (held|observed) \| ?(.*?) ?\|$", PAGE.read_text(), re.MULTILINE
    )
    told = {name: (how == "held", SCOPES[over.strip()]) for name, how, over in rows}
    assert told == {name: (bool(rule.verdicts), rule.closes) for name, rule in EVENTS.items()}
