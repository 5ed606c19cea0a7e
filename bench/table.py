"""A table as text: columns as wide as they need to be, numbers to the right."""

from collections.abc import Sequence


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table that also reads well as it is; its first column is of words."""
    columns = list(zip(header, *rows, strict=True))
    widths = [max(3, *map(len, column)) for column in columns]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "".join(_line(cells, widths) for cells in (header, rule, *rows))


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = zip(cells, widths, strict=True)
    padded = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
    return f"| {' | '.join(padded)} |\n"
