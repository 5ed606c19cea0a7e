"""docs/how-to/http.md has every status that the HTTP door answers with, and no other."""

import re
from http import HTTPStatus
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = (ROOT / "src" / "crabhook" / "server" / "http").glob("*.py")


def test_the_table_has_every_status_that_there_is() -> None:
    names = {
        name
        for source in SOURCES
        for name in re.findall(r"\bHTTPStatus\.([A-Z_]+)", source.read_text(encoding="utf-8"))
    }
    page = (ROOT / "docs" / "how-to" / "http.md").read_text(encoding="utf-8")
    table = page.split("## What is answered")[1].split("\n\n**")[0]
    rows = re.findall(r"^\| ([0-9, ]+)", table, re.MULTILINE)
    told = {int(status) for row in rows for status in row.replace(",", " ").split()}
    assert told == {HTTPStatus[name].value for name in names} | {200}
