"""`crabhook passphrase`: set, changed and removed by who knows it, at a terminal."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from crabhook.cli import presence
from crabhook.server.grpc.presence import NAME, Passphrase, keep, load
from tests.support.plain_desk import CRABHOOK
from tests.support.presence import RIGHT, WRONG
from tests.support.typist import Typist

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.process

OLD, NEW, AGAIN = "Old passphrase: ", "New passphrase: ", "The same again: "
OTHER = "another passphrase"


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """Where it is kept, with nothing there yet."""
    return tmp_path / "crabhook" / NAME


def dialog(kept: Path, *words: str, answers: dict[str, str]) -> tuple[int, str, str]:
    """Type the answers to the prompts; return the exit code, what was said and complained."""
    environment = {"PATH": os.environ["PATH"], "XDG_STATE_HOME": str(kept.parents[1])}
    command = [CRABHOOK, "passphrase", *words]
    with Typist(command, environment, stdin=f"{OTHER}\n".encode() * 3) as person:
        for prompt, typed in answers.items():
            person.answer(prompt, f"{typed}\n")
        ended = person.finish()
        assert not any(typed in f"{person.shown}{ended}" for typed in answers.values())
    return ended


def test_it_is_asked_for_twice_and_kept_for_its_owner_alone(kept: Path) -> None:
    code, said, _ = dialog(kept, answers={NEW: RIGHT, AGAIN: RIGHT})
    assert code == 0
    assert said.startswith("The passphrase is set.  It counts from the server's next start")
    found = load(kept)
    assert found is not None
    assert found.matches(RIGHT)
    assert kept.stat().st_mode & 0o777 == 0o600
    assert RIGHT.encode() not in kept.read_bytes()


def test_changing_and_removing_it_take_the_old_one(kept: Path) -> None:
    keep(kept, Passphrase.of(RIGHT))
    code, said, _ = dialog(kept, answers={OLD: RIGHT, NEW: OTHER, AGAIN: OTHER})
    assert code == 0
    assert said.startswith("The passphrase is changed.")
    found = load(kept)
    assert found is not None
    assert found.matches(OTHER)
    code, said, _ = dialog(kept, "--remove", answers={OLD: OTHER})
    assert code == 0
    assert said.startswith("The passphrase is removed.")
    assert not kept.exists()


@pytest.mark.parametrize(
    ("words", "answers", "complaint"),
    [
        ((), {OLD: WRONG}, "not the passphrase"),
        (("--remove",), {OLD: WRONG}, "not the passphrase"),
        ((), {OLD: RIGHT, NEW: "x" * 7}, "8 to 1024 characters"),
        ((), {OLD: RIGHT, NEW: OTHER, AGAIN: WRONG}, "the two differ"),
    ],
    ids=["wrong", "wrong to remove", "short", "two"],
)
def test_what_is_refused_leaves_the_old_one(
    kept: Path, words: tuple[str, ...], answers: dict[str, str], complaint: str
) -> None:
    keep(kept, Passphrase.of(RIGHT))
    before = kept.read_bytes()
    code, said, complained = dialog(kept, *words, answers=answers)
    assert (code, said) == (1, "")
    assert complaint in complained
    assert kept.read_bytes() == before


def test_there_may_be_nothing_to_remove(kept: Path) -> None:
    code, said, _ = dialog(kept, "--remove", answers={})
    assert (code, said) == (0, "There is no passphrase; nothing was changed.\n")


def test_a_file_that_cannot_be_used_is_named_and_left(kept: Path) -> None:
    keep(kept, Passphrase.of(RIGHT))
    kept.write_bytes(b"?")
    code, _, complained = dialog(kept, answers={})
    assert code == 1
    assert f"{kept} cannot be used" in complained
    assert kept.read_bytes() == b"?"


def test_without_a_terminal_nothing_is_set(kept: Path) -> None:
    done = subprocess.run(
        [CRABHOOK, "passphrase"],
        input=f"{RIGHT}\n{RIGHT}\n",
        capture_output=True,
        text=True,
        timeout=20,
        env={"PATH": os.environ["PATH"], "XDG_STATE_HOME": str(kept.parents[1])},
        start_new_session=True,
        check=False,
    )
    assert done.returncode == 1
    assert "no terminal to ask on" in done.stderr
    assert not kept.exists()


def test_the_command_says_when_it_counts() -> None:
    assert "server's next start" in presence._NEXT_START
