"""The table of metrics as docs/reference/metrics.md has it; run as a module it writes it there anew."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from crabhook.app.status import Part
from crabhook.model.actor import Role
from crabhook.model.decision import Verdict
from crabhook.platforms import PLATFORMS
from crabhook.server.metrics.collector import (
    AHEAD,
    AT_ONCE,
    COUNTERS,
    GAUGES,
    ORDERS,
    REASONS,
    TIMINGS,
)
from crabhook.server.metrics.tally import BY, HERE, OTHER, End, Exported, Pushed, TurnedAway
from tests.docs.made_part import put

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "metrics.md"
BEGIN, FINISH = (
    "<!-- metrics: made from src/crabhook/server/metrics/definitions.toml -->",
    "<!-- end of metrics -->",
)

WORDS: Mapping[str, Sequence[str]] = {
    "platform": tuple(PLATFORMS),
    "end": tuple(End),
    "by": tuple(BY.values()),
    "verdict": tuple(Verdict),
    "reason": tuple(REASONS.values()),
    "kind": tuple(ORDERS.values()),
    "fate": ("received", "lost"),
    "role": (*Role, HERE),
    "part": tuple(Part),
    "why": tuple(TurnedAway),
    "push": tuple(Pushed),
    "record": tuple(Exported),
    "when": (AT_ONCE, AHEAD),
}
"""What each label can say; those with words of their own, below."""
TOLD = {
    "event": f"the agent's name for it, or `{OTHER}`",
    "version": "crabhook's",
}


def _rows() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for family in (*COUNTERS, *GAUGES):
        yield family.name, family.documentation, family.labels
    for timed in TIMINGS:
        yield timed.name, f"{timed.documentation} A histogram.", timed.labels


def table() -> str:
    """Return the table of metrics, and that of their labels."""
    rows = ["| metric | labels | |", "| --- | --- | --- |"]
    for name, documentation, labels in _rows():
        rows.append(f"| `{name}` | {', '.join(f'`{one}`' for one in labels)} | {documentation} |")
    rows += ["", "| label | |", "| --- | --- |"]
    said = {name: ", ".join(f"`{word}`" for word in words) for name, words in WORDS.items()}
    rows += [f"| `{name}` | {words} |" for name, words in (said | TOLD).items()]
    return "\n".join(rows)


def with_table(page: str) -> str:
    """Return the page with the table in its place."""
    return put(table(), page, BEGIN, FINISH)


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
