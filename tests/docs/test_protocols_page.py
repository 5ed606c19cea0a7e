"""docs/protocols.md says what the code's table says."""

from pathlib import Path

from crabhook.model.event import Scope
from crabhook.platforms.claude.events import EVENTS, Also
from crabhook.platforms.interface import Held

PAGE = Path(__file__).parents[2] / "docs" / "protocols.md"

WAITS = {
    Held.ALWAYS: "waits",
    Held.AT_THE_GATE: "waits at the gate",
    Held.ON_REQUEST: "when asked to",
    Held.NEVER: "",
}
BESIDE = {Also.CONTEXT: "context", Also.HALT: "halt", Also.USER: "message"}
CLOSES = {
    Scope.NOTHING: "",
    Scope.CALL: "the call",
    Scope.AGENT: "what this agent asked",
    Scope.SESSION: "the session",
}


def test_the_page_has_every_event_as_the_table_has_it() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = lines.index("| --- | --- | --- | --- | --- |") + 1
    told = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[start:]]
    expected = [
        [
            name,
            WAITS[rule.held],
            ", ".join(rule.verdicts),
            ", ".join(word for flag, word in BESIDE.items() if flag in rule.also),
            CLOSES[rule.closes],
        ]
        for name, rule in EVENTS.items()
    ]
    assert told[: len(expected)] == expected
