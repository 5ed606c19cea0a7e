"""An agent's rows behind a bar, which nothing of ours wears."""

from collections.abc import Iterable, Iterator

from crabhook.ui.full.paper import Line


def framed(rows: Iterable[tuple[bool, Line]]) -> Iterator[Line]:
    """Return rows behind a bar; broken where a row does not begin a line."""
    for begins, row in rows:
        yield [("bar", "│ " if begins else "┆ "), *row]
