"""The file with the operator's token: what is read from it, and what is no token."""

from pathlib import Path

import pytest

from crabhook.hook.client import read_options


def test_a_token_comes_from_its_file(tmp_path: Path) -> None:
    (tmp_path / "token").write_bytes(b"  abc\n")
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
        (tmp_path / "token").write_bytes(content)
    assert problem in read_options([f"--token-file={tmp_path}/token"], {}).problem
