"""docs/reference/lint.md: its tables are the code's, and its examples do what the page shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from crabhook.cli import main
from tests.unit.lint.page import PAGE, with_tables

TEXT = PAGE.read_text(encoding="utf-8")
FILES = re.findall(r"into a file `(\S+)`:\n\n```\w+\n(.*?)```", TEXT, re.DOTALL)
SESSIONS = re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL)


def test_the_page_has_every_rule_as_the_tables_have_it() -> None:
    assert with_tables(TEXT) == TEXT, "python -m tests.unit.lint.page writes it anew"


def test_there_are_examples() -> None:
    assert len(FILES) >= 1
    assert len(SESSIONS) >= 2


@pytest.mark.process
@pytest.mark.parametrize("session", SESSIONS, ids=range(len(SESSIONS)))
def test_a_session_on_the_page_goes_as_it_is_shown(tmp_path: Path, session: str) -> None:
    for name, content in FILES:
        (tmp_path / name).write_text(content, encoding="utf-8")
    programs = Path(sys.executable).parent
    for part in session.split("\n$ "):
        command, _, shown = part.removeprefix("$ ").partition("\n")
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env={"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(tmp_path)},
        )
        assert done.stderr + done.stdout == shown.rstrip("\n") + "\n", command


def test_every_option_is_on_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["lint", "--help"])
    options = set(re.findall(r"--[a-z-]+", capsys.readouterr().out)) - {"--help"}
    assert options
    assert all(f"`{option}" in TEXT for option in options)
