"""The file with the operator's token: what is read from it, and what is no token."""

import os
from pathlib import Path

import pytest

from crabhook.hook import read_options


def own(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    path.chmod(0o600)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o660, 0o666])
def test_a_token_that_others_can_read_or_write_is_refused(tmp_path: Path, mode: int) -> None:
    own(tmp_path / "token", b"abc\n")
    (tmp_path / "token").chmod(mode)
    options = read_options([f"--token-file={tmp_path}/token"], {})
    assert (options.token, f"(mode {mode:o}): chmod 600" in options.problem) == ("", True)


def test_what_is_no_file_is_no_token_and_holds_nobody_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "token", 0o600)
    assert "is not a file" in read_options([f"--token-file={tmp_path}/token"], {}).problem


def test_a_token_comes_from_its_file(tmp_path: Path) -> None:
    own(tmp_path / "token", b"  abc\n")
    options = read_options(["--token-file", str(tmp_path / "token")], {b"CRABHOOK_TOKEN": b"x"})
    assert (options.token, options.problem) == ("abc", "")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "empty or too large"),
        (b" \n", "empty or too large"),
        (b"x" * 9000, "empty or too large"),
        (b"a b", "characters"),
        (b"a\nb", "characters"),
        ("é".encode(), "characters"),
        (b"\xff", "characters"),
        (None, "No such file"),
    ],
)
def test_a_token_no_header_can_carry_is_refused(
    tmp_path: Path, content: bytes | None, problem: str
) -> None:
    if content is not None:
        own(tmp_path / "token", content)
    assert problem in read_options([f"--token-file={tmp_path}/token"], {}).problem
