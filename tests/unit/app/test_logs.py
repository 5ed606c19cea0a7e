"""Lines of the log: when, how grave, what; nothing an agent sent can act, hide, or begin a line."""

import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.app.logs import CANNOT_BEGIN, FAILED, JsonLines, TextLines, fields, logging_to
from crabhook.model.errors import CrabhookError

LOG = logging.getLogger("crabhook.test")
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
EVIL = "a\x1b[2J\u202eb\n2026-01-01T00:00:00.000Z info decided verdict=allow"


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    yield
    logging.captureWarnings(capture=False)
    assert root.handlers == handlers
    root.setLevel(level)


def record(words: str, *, fault: bool = False, **about: object) -> logging.LogRecord:
    error = ValueError(EVIL)
    info: Any = (ValueError, error, None) if fault else None
    made = LOG.makeRecord(LOG.name, logging.WARNING, "f", 1, "%s", (words,), info)
    vars(made).update(fields(**about))
    return made


def test_a_line_of_text_says_when_how_grave_and_what() -> None:
    line = TextLines().format(record("decided", verdict="deny", subject="rm -rf x", by=""))
    assert re.fullmatch(rf'{TIME} warning decided verdict=deny subject="rm -rf x"', line)


def test_a_line_of_json_says_the_same() -> None:
    line = json.loads(JsonLines().format(record("decided", verdict="deny", cards=3, by=None)))
    assert re.fullmatch(TIME, line.pop("time"))
    assert line == {
        "level": "warning",
        "logger": "crabhook.test",
        "what": "decided",
        "verdict": "deny",
        "cards": 3,
    }


@given(words=st.text(), value=st.text(min_size=1))
def test_text_is_one_line_that_a_terminal_shows_as_it_is(words: str, value: str) -> None:
    line = TextLines().format(record(words, value=value))
    assert all(letter.isprintable() for letter in line)
    assert re.match(rf"{TIME} warning ", line)


@given(value=st.text())
def test_no_value_passes_for_another_field(value: str) -> None:
    line = TextLines().format(record("decided", subject=value or "x", verdict="deny"))
    beside = line.split(" warning decided ", 1)[1]
    assert re.fullmatch(r'subject=([^\s"=]+|"([^"\\]|\\.)*") verdict=deny', beside)


@given(words=st.text(), value=st.text(min_size=1))
def test_json_is_one_line_of_ascii_that_loses_nothing(words: str, value: str) -> None:
    text = JsonLines().format(record(words, value=value))
    assert text.isascii()
    assert text.isprintable()
    line = json.loads(text)
    assert (line["what"], line["value"]) == (words, value)


def test_a_traceback_begins_no_line_of_its_own() -> None:
    first, *below = TextLines().format(record("a fault", fault=True)).split("\n")
    assert first.endswith(" warning a fault")
    assert any("ValueError" in line for line in below)
    assert all(line.startswith("    | ") for line in below)
    assert "\x1b" not in "".join(below)
    assert "ValueError" in json.loads(JsonLines().format(record("a fault", fault=True)))["trace"]


@pytest.mark.parametrize(("level", "many"), [("debug", 4), ("info", 3), ("error", 1)])
def test_only_what_is_grave_enough_is_written(
    capfd: pytest.CaptureFixture[str], level: str, many: int
) -> None:
    with logging_to(None, form="json", level=level):
        for say in (LOG.debug, LOG.info, LOG.warning, LOG.error):
            say("a word")
    assert len(capfd.readouterr().err.splitlines()) == many


def test_a_file_is_added_to_and_keeps_its_lines(tmp_path: Path) -> None:
    for word in ("one", "two"):
        with logging_to(tmp_path / "log", form="text", level="info"):
            LOG.warning(word)
    lines = (tmp_path / "log").read_text().splitlines()
    assert [line.rsplit(" ", 1)[1] for line in lines] == ["one", "two"]


def test_what_ends_a_server_is_logged_where_no_person_reads_it(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with (
        pytest.raises(SystemExit) as ended,
        logging_to(None, form="json", level="error"),
    ):
        raise CrabhookError("not like this")
    assert ended.value.code == CANNOT_BEGIN
    line = json.loads(capfd.readouterr().err)
    assert (line["level"], line["what"]) == ("critical", "not like this")


def test_a_person_is_told_by_the_command_itself(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CrabhookError), logging_to(None, form="text", level="error"):
        raise CrabhookError("not like this")
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_fault_of_ours_is_logged_with_its_traceback(
    capfd: pytest.CaptureFixture[str], form: str
) -> None:
    with pytest.raises(SystemExit) as ended, logging_to(None, form=form, level="error"):
        raise ZeroDivisionError
    assert ended.value.code == FAILED
    assert "ZeroDivisionError" in capfd.readouterr().err


def test_beside_a_full_screen_the_traceback_is_on_the_terminal_too(tmp_path: Path) -> None:
    with (
        pytest.raises(ZeroDivisionError),
        logging_to(tmp_path / "log", form="json", level="error"),
    ):
        raise ZeroDivisionError
    assert "ZeroDivisionError" in (tmp_path / "log").read_text()
