"""What a file is, and whether it is read at all."""

from pathlib import Path

import pytest

from crabhook.lint.discover import MAX_BYTES, FileKind, kind_of, read_file, shebang
from crabhook.lint.script import CannotReadError
from tests.support.rows import every_row


@every_row(
    "name, text, kind",
    [
        ("hook", "#!/usr/bin/env python3\n", FileKind.PYTHON),
        ("hook", "#!/usr/bin/env -S uv run --script\n", FileKind.PYTHON),
        ("hook.sh", "#!/usr/bin/env python3\n", FileKind.PYTHON),
        ("hook", "#!/bin/sh\n", FileKind.SHELL),
        ("hook.bash", "x", FileKind.SHELL),
        ("hook.py", "#!/usr/bin/node\n", FileKind.PYTHON),
        ("settings.json", "{}", FileKind.JSON),
        ("config.toml", "", FileKind.TOML),
        ("hook.js", "", FileKind.OTHER),
        ("hook", "", FileKind.OTHER),
    ],
)
def test_a_file_is_what_its_first_line_says_or_else_its_name(
    name: str, text: str, kind: FileKind
) -> None:
    assert kind_of(name, text) is kind


def test_the_text_comes_without_its_byte_order_mark_and_with_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "hook.py"
    path.write_bytes(b"\xef\xbb\xbf#!/usr/bin/env python3\n")
    assert not read_file(path).executable
    path.chmod(0o755)
    file = read_file(path)
    assert file.executable
    assert shebang(file.text) == "#!/usr/bin/env python3"


def test_a_file_past_the_bound_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "hook.py"
    path.write_bytes(b"#" * MAX_BYTES)
    assert read_file(path).kind is FileKind.PYTHON
    path.write_bytes(b"#" * (MAX_BYTES + 1))
    with pytest.raises(CannotReadError, match="larger"):
        read_file(path)


def test_a_path_that_no_file_can_have_is_an_error_in_words() -> None:
    with pytest.raises(CannotReadError, match="null"):
        read_file(Path("a\0b"))
