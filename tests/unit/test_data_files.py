"""Tables of words as TOML: each of their rows has what its reader reads, and nothing else."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import crabhook
from crabhook.data_files import names, tables
from tests.support.rows import every_row

SOURCE = Path(crabhook.__file__).parent
KNOWN = {
    ("secrets/kinds", "context"): "kind starts before secret bare mere most after exact last",
    ("secrets/programs", "option"): "programs kind needs option within prefix value begins",
    ("secrets/programs", "input"): "programs needs reads",
    ("policy/protected", "entry"): "name what paths free secret changed commands",
    ("policy/shell/programs", "wrapper"): "names valued positional assigns",
    ("policy/shell/programs", "deep"): "names letters long",
    ("desk/acts", "act"): (
        "name pipes means takes reach taken role verb shell gives interrupt field beside kinds suggests "
        "agent_waits"
    ),
}
"""The keys of each list of tables."""


def of(name: str) -> Mapping[str, Any]:
    return tables(str(SOURCE / name), Path(name).name)


def texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            if key != "means":  # a sentence
                yield from texts(one)


def test_a_file_is_read_once_for_all_modules_of_its_folder() -> None:
    one, other = (
        str(SOURCE / "policy" / "shell" / f"{name}.py") for name in ("hidden", "programs")
    )
    assert tables(one, "programs") is tables(other, "programs")


@pytest.mark.parametrize("place", KNOWN, ids=" ".join)
def test_a_row_has_only_the_keys_that_its_reader_reads(place: tuple[str, str]) -> None:
    file, table = place
    known = set(KNOWN[place].split())
    assert of(file)[table]
    for row in of(file)[table]:
        assert set(row) <= known, row


NAMING = sorted(
    {*SOURCE.rglob("*.toml")}
    - {*SOURCE.glob("cli/**/*.toml"), SOURCE / "install" / "environment.toml"}
    - {SOURCE / "doctor" / "findings.toml"}
)
"""All but those that hold sentences."""


@every_row("file", NAMING)
def test_no_list_of_names_holds_a_name_twice(file: Path) -> None:
    for text in texts(tables(str(file), file.stem)):
        if re.fullmatch(r"\s*(?:[\w.-]+\s+){3,}[\w.-]*[^\s.]\s*", text):  # no sentence
            names = text.split()
            assert len(names) == len(set(names)), sorted(
                {one for one in names if names.count(one) > 1}
            )


def test_blanks_and_line_ends_part_names() -> None:
    assert names("a b\n  c\n") == {"a", "b", "c"}
