"""The table of events as docs/how-to/own-hooks.md has it; run as a module it writes it there anew."""

import inspect
from pathlib import Path

from crabhook.platforms import PLATFORMS
from crabhook.sdk import EVENTS, Event, Platform
from tests.docs.made_part import put

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "own-hooks.md"
BEGIN, END = "<!-- events: made from src/crabhook/sdk/events -->", "<!-- end of events -->"
_NO_ANSWERS = {"refusal", "takes"}


def answers(kind: type[Event]) -> list[str]:
    """Return the methods that make an answer, the verdicts first."""
    found = [
        name
        for name, value in inspect.getmembers_static(kind, inspect.isfunction)
        if not name.startswith("_") and name not in _NO_ANSWERS
    ]
    beside = {"context", "tell_user", "halt"}
    return sorted(found, key=lambda name: (name in beside, name))


def table() -> str:
    """Return the table, and the events that can only be looked at below it."""
    kinds = list(dict.fromkeys(kind for kinds in EVENTS.values() for kind in kinds.values()))
    rows = [
        f"| event | {' | '.join(PLATFORMS[agent].title for agent in Platform)} | can be told |",
        f"| --- |{' --- |' * (len(Platform) + 1)}",
    ]
    for kind in kinds:
        if told := answers(kind):
            names = " | ".join(_name(kind, platform) for platform in Platform)
            rows.append(
                f"| `{kind.__name__}` | {names} | {', '.join(f'`{one}`' for one in told)} |"
            )
    silent = ", ".join(f"`{kind.__name__}`" for kind in kinds if not answers(kind))
    return "\n".join(
        [*rows, "", f"Only to be looked at: {silent}, and `Unknown`, which is every other."]
    )


def _name(kind: type[Event], platform: Platform) -> str:
    name = next((name for name, one in EVENTS[platform].items() if one is kind), "")
    return "yes" if name == kind.__name__ else name


def with_table(page: str) -> str:
    """Return the page with the table in its place."""
    return put(table(), page, BEGIN, END)


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
