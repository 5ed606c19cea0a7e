"""docs/reference: what the pages of the desk, the settings, the wire and the exit codes name is there."""

import re
from pathlib import Path

from crabhook.cli.commands import COMMANDS
from crabhook.config import _TABLES
from crabhook.ui.commands.parse import parse
from crabhook.ui.commands.words import PERSONS_WORDS
from crabhook.v1 import desk_pb2, enrol_pb2, operator_pb2, permission_pb2
from tests.docs.command_table import with_tables
from tests.docs.key_table import with_table

PAGES = Path(__file__).parents[2] / "docs" / "reference"


def page_of(name: str) -> str:
    return (PAGES / f"{name}.md").read_text(encoding="utf-8")


def test_the_desks_page_has_every_word_of_the_plain_desk_and_no_other() -> None:
    section = page_of("desk").split("## The plain desk")[1].split("\n## ")[0]
    cells = re.findall(r"^\| (`.*?`) \|", section, re.MULTILINE)
    told = set()
    for written in re.findall(r"`([^`]+)`", " ".join(cells)):
        command = parse(written.removeprefix("[N] "), PERSONS_WORDS)
        assert command is not None
        told.add(command.word.name)
    assert told == {word.name for word in PERSONS_WORDS.values()}


def test_the_desks_page_has_the_table_of_keys() -> None:
    page = page_of("desk")
    assert page == with_table(page), "python -m tests.docs.key_table writes it anew"


def test_the_page_of_commands_has_every_command() -> None:
    page = page_of("commands")
    assert page == with_tables(page), "python -m tests.docs.command_table writes it anew"


def test_the_page_of_settings_names_every_setting() -> None:
    page = page_of("settings")
    for table, settings in _TABLES.items():
        for name in settings:
            assert re.search(rf"`(\[{table}\] )?{name}\b", page), f"[{table}] {name}"


def test_the_page_of_exit_codes_has_every_command_once() -> None:
    section = page_of("exit-codes").split("## The commands")[1]
    first = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    assert sorted(re.findall(r"`([a-z-]+)`", " ".join(first))) == sorted(COMMANDS)


def test_the_page_of_the_wire_has_every_call_and_no_other() -> None:
    there = {
        f"{service.name}.{method.name}"
        for file in (permission_pb2, desk_pb2, enrol_pb2, operator_pb2)
        for service in file.DESCRIPTOR.services_by_name.values()
        for method in service.methods
    }
    assert set(re.findall(r"`(\w+Service\.\w+)`", page_of("wire"))) == there
