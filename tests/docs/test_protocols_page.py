"""docs/reference/protocols.md says what the code's tables say."""

from pathlib import Path
from typing import Any

import pytest

from crabhook.model.event import EndScope
from crabhook.platforms.aap import events as aap
from crabhook.platforms.acp import events as acp
from crabhook.platforms.claude import events as claude
from crabhook.platforms.codex import events as codex
from crabhook.platforms.copilot import events as copilot
from crabhook.platforms.event_table import Also, Held
from crabhook.platforms.gemini import events as gemini
from crabhook.platforms.opencode import events as opencode
from crabhook.platforms.qwen import events as qwen

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "protocols.md"
TABLE = "| event | waits | can be told | beside it | closes |"
PLATFORMS: dict[str, Any] = {
    "What crabhook answers": claude,
    "Gemini CLI": gemini,
    "Codex": codex,
    "Qwen Code": qwen,
    "GitHub Copilot CLI": copilot,
    "OpenCode": opencode,
    "ACP": acp,
    "AAP": aap,
}
"""The beginning of each platform's heading, and the code's own table."""

WAITS = {
    Held.ALWAYS: "waits",
    Held.AT_THE_GATE: "waits at the gate",
    Held.ON_REQUEST: "on `hold`",
    Held.NEVER: "",
}
BESIDE = {"CONTEXT": "context", "HALT": "halt", "USER": "message"}
CLOSES = {
    EndScope.NOTHING: "",
    EndScope.RESULT: "",
    EndScope.CALL: "the call",
    EndScope.AGENT: "the agent",
    EndScope.SESSION: "the session",
}


@pytest.mark.parametrize("heading", PLATFORMS)
def test_the_page_has_every_event_as_the_table_has_it(heading: str) -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    begin = next(place for place, line in enumerate(lines) if line.startswith(f"# {heading}"))
    start = lines.index(TABLE, begin) + 2
    told = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[start:]]
    platform = PLATFORMS[heading]
    expected = [
        [
            name,
            WAITS[rule.held],
            ", ".join(rule.verdicts),
            ", ".join(word for flag, word in BESIDE.items() if Also[flag] in rule.also),
            CLOSES[rule.closes],
        ]
        for name, rule in platform.EVENTS.items()
    ]
    rows = [row for row in expected if any(row[1:])]
    assert told[: len(rows)] == rows
    assert lines[start + len(rows)] == ""
    observed = " ".join(f"`{row[0]}`" for row in expected if not any(row[1:]))
    assert lines[start + len(rows) + 1] == f"Only observed: {observed}"
