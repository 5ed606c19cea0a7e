"""The table of keys as docs/reference/desk.md has it; run as a module it writes it there anew."""

from pathlib import Path

from crabhook.ui.full.keyrow import Group, Key
from crabhook.ui.full.keys import TABLE

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "desk.md"
BEGIN, END = "<!-- keys: made from src/crabhook/ui/full/keys.py -->", "<!-- end of keys -->"
_TITLED = "| **{}** | | |"


def table() -> str:
    """Return the table, the groups to know first at its start, as on the desk's own page."""
    rows = ["| key | | |", "| --- | --- | --- |"]
    for group in sorted(TABLE, key=lambda group: not group.first):
        rows += _rows(group)
    return "\n".join(rows)


def _rows(group: Group) -> list[str]:
    title = [_TITLED.format(group.title)] if group.title else []
    return [*title, *map(_row, group.keys)]


def _row(key: Key) -> str:
    shown = " ".join(f"`{one}`" for one in key.shown.split())
    return f"| {shown} | {key.name} | {key.does} |"


def with_table(page: str) -> str:
    """Return the page with the table in its place."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
