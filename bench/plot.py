"""Draws bench/latency.svg from the section `hooks` of results.json, and from nothing else.

The same figures give the same bytes.  Text stays text; the colours are those
of a light page, and on a dark one a style sheet within the picture puts others
in their place.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeAlias

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from bench.figures import Spread, percentile, spread
from bench.goals import FLOORS, INSTEAD, NOTHING_AGAIN, OURS, POSTS

_Timed: TypeAlias = Sequence[Mapping[str, Any]]

_INK, _PALE, _PAPER = "#1f2328", "#d1d9e0", "#ffffff"


@dataclass(frozen=True, slots=True)
class Group:
    """Some of the contenders, drawn below one another in one colour."""

    title: str
    names: Sequence[str]
    colour: str


_GROUPS = (
    Group("crabhook by HTTP: no process is started", POSTS, "#1a7f37"),
    Group("floors: processes that do nothing", FLOORS, "#7d8590"),
    Group("crabhook's own clients", OURS, "#0969da"),
    Group("what one would use instead", INSTEAD, "#bc4c00"),
)

_DARK = {
    _INK: "#e6edf3",
    _PALE: "#30363d",
    _PAPER: "#0d1117",
    "#1a7f37": "#3fb950",
    "#7d8590": "#9198a1",
    "#0969da": "#58a6ff",
    "#bc4c00": "#f0883e",
}
_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "crabhook",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "sans-serif"],
    "font.size": 9,
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "xtick.color": _INK,
}
_HEIGHT_OF_A_ROW = 0.235  # inches
_ABOVE, _BELOW = 0.5, 0.65  # inches, of the rows
_LEFT, _WIDTH = 0.3, 0.64  # of the figure's width, where the axes are
_MARGIN = 0.02
_LEFT_OF_AXES = (_MARGIN - _LEFT) / _WIDTH


def draw(hooks: Mapping[str, Any], picture: Path) -> None:
    """Draw what the section `hooks` found."""
    rows = list(_rows(hooks["runs"]))
    height = _ABOVE + _BELOW + _HEIGHT_OF_A_ROW * len(rows)
    within = 1 - (_ABOVE + _BELOW) / height
    with mpl.rc_context(_SETTINGS):
        figure = Figure(figsize=(9, height), facecolor=_PAPER)
        axes = figure.add_axes((_LEFT, _BELOW / height, _WIDTH, within))
        _lay_out(axes, [_ends(seconds) for _, seconds, _ in rows if seconds], len(rows))
        for place, (name, seconds, group) in enumerate(rows):
            if seconds:
                _row(axes, place, name, seconds, group.colour)
            else:
                _heading(axes, place, group)
        figure.text(_MARGIN, 1 - 0.3 / height, "One hook call", size=13, weight="bold")
        figure.text(0.185, 1 - 0.3 / height, _LEGEND, size=8.5)
        figure.text(_MARGIN, 0.13 / height, _caption(hooks), size=8)
        figure.savefig(picture, format="svg", metadata={"Date": None, "Creator": None})
    picture.write_text(_for_dark_pages(picture.read_text(encoding="utf-8")), encoding="utf-8")


_LEGEND = (
    "a process: spawned to reaped; a POST: sent to answered. "
    "Dot and number: median; bar: quartiles; line: p5 to p95."
)


def _rows(runs: Mapping[str, _Timed]) -> Iterator[tuple[str, list[float], Group]]:
    """Yield a row without seconds for each group, then its contenders, the quickest first."""
    for group in _GROUPS:
        timed = {name: _seconds(runs[name]) for name in group.names if name in runs}
        timed.pop(NOTHING_AGAIN, None)
        if timed:
            yield "", [], group
        for name in sorted(timed, key=lambda name: spread(timed[name]).median):
            yield name, timed[name], group


def _seconds(its_runs: _Timed) -> list[float]:
    return [seconds for run in its_runs for seconds in run.get("each", (run["wall"],))]


def _ends(seconds: Sequence[float]) -> tuple[float, float]:
    """Return between which milliseconds a row is drawn."""
    low, high = (percentile(seconds, percent) * 1e3 for percent in (5, 95))
    return low, high


def _lay_out(axes: Axes, ends: Sequence[tuple[float, float]], rows: int) -> None:
    axes.set_facecolor("none")
    axes.set_xscale("log")
    axes.set_xlim(min(low for low, _ in ends) / 1.2, max(high for _, high in ends) * 1.2)
    axes.set_ylim(rows - 0.5, -0.5)
    axes.set_yticks([])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda ms, _: f"{ms:g} ms"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(axis="x", which="both", length=0)
    axes.grid(axis="x", color=_PALE, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)


def _heading(axes: Axes, place: int, group: Group) -> None:
    where: dict[str, Any] = {"transform": axes.get_yaxis_transform(), "va": "center"}
    axes.text(_LEFT_OF_AXES, place + 0.12, group.title, weight="bold", **where)


def _row(axes: Axes, place: int, name: str, seconds: Sequence[float], colour: str) -> None:
    middle = spread(seconds)
    low, high = _ends(seconds)
    across = axes.get_yaxis_transform()
    axes.text(-0.02, place, name, transform=across, va="center", ha="right")
    axes.hlines(place, low, high, color=colour, linewidth=1)
    axes.hlines(place, middle.low * 1e3, middle.high * 1e3, color=colour, linewidth=6)
    axes.plot(middle.median * 1e3, place, "o", color=_PAPER, mec=colour, mew=1.4, ms=5)
    axes.annotate(
        _quoted(middle),
        (high, place),
        xytext=(5, 0),
        textcoords="offset points",
        va="center",
        color=colour,
        size=8.5,
    )


def _quoted(middle: Spread) -> str:
    """Return the median in milliseconds, to three figures."""
    ms = middle.median * 1e3
    return f"{ms:.0f}" if ms >= 100 else f"{ms:#.3g}"


def _caption(hooks: Mapping[str, Any]) -> str:
    facts = hooks["machine"]
    system = re.match(r"[^-]+-\d+\.\d+|[^-]+", facts["system"])
    rounds = max(map(len, hooks["runs"].values()))
    told = (
        datetime.fromisoformat(facts["on"]).date().isoformat(),
        f"{rounds} rounds, every contender in each, in random order",
        system.group().replace("-", " ") if system else "",
        f"{facts['cores']} cores, load {facts['load before']} to {facts['load after']}",
        f"Python {facts['python']}",
    )
    missing = ", ".join(hooks.get("left_out", ()))
    return ";  ".join(told) + (f"\nLeft out, not on this machine: {missing}" if missing else "")


def _for_dark_pages(svg: str) -> str:
    """Put a style sheet in that repaints every colour on a page that is dark."""
    rules = "".join(
        f'[style*="{what}: {light}"] {{ {what}: {dark} !important }}\n'
        for light, dark in _DARK.items()
        for what in ("fill", "stroke")
    )
    sheet = f"<style>\n@media (prefers-color-scheme: dark) {{\n{rules}}}\n</style>\n"
    before, opening, after = svg.partition("<defs>")
    return f"{before}{sheet}{opening}{after}"
