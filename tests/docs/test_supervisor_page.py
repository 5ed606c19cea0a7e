"""docs/how-to/supervisor.md: what it shows is what happens."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from crabhook.config import _TABLES, parse
from crabhook.supervisor.contract import Occasion, Review, read

TEXT = (Path(__file__).parents[2] / "docs" / "how-to" / "supervisor.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", TEXT, re.DOTALL)


def blocks(kind: str) -> list[str]:
    """What stands in the page's blocks of this kind."""
    return [text for found, text in BLOCKS if found == kind]


def run(folder: Path, command: str) -> str:
    """Run a line of a shell's; return what it says, standard error first."""
    programs = Path(sys.executable).parent
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(folder)},
    )
    return done.stderr + done.stdout


@pytest.mark.process
def test_the_page_goes_as_it_is_shown(tmp_path: Path) -> None:
    settings = tmp_path / ".config" / "crabhook" / "settings.toml"
    settings.parent.mkdir(parents=True)
    for kind, text in BLOCKS:
        if kind == "toml" and "judge.py" in text:
            settings.write_text(text, encoding="utf-8")
        elif kind == "python":
            (tmp_path / "judge.py").write_text(text, encoding="utf-8")
        elif kind == "console":
            for part in text.removeprefix("$ ").split("\n$ "):
                command, _, shown = part.partition("\n")
                assert run(tmp_path, command) == shown.rstrip("\n") + "\n", command


def test_the_settings_on_the_page_are_settings() -> None:
    assert all(parse(text, "page").reviewer for text in blocks("toml"))
    assert [*tomllib.loads(blocks("toml")[0])] == ["supervisor"]
    (hooks,) = blocks("json")
    assert set(json.loads(hooks)["hooks"]) == {"Stop", "PreToolUse"}


@pytest.mark.parametrize("name", _TABLES["supervisor"])
def test_the_page_names_every_setting(name: str) -> None:
    assert f"`[supervisor] {name}`" in TEXT


def test_the_page_names_all_that_a_review_has() -> None:
    section = TEXT.split("| a review has | |")[1].split("\n\n")[0]
    cells = re.findall(r"^\| (`.*?`) \|", section, re.MULTILINE)
    told = {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}
    assert told == set(json.loads(Review(read(b"{}"), Occasion.STOP, "s", 1, 20).as_json()))
