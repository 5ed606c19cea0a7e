"""Only a regular file of our own user is opened."""

import os
from pathlib import Path

import pytest

from crabhook.server.ownfile import open_own


def test_a_file_of_ours_is_opened_with_its_size(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"abc")
    with open_own(str(tmp_path / "file")) as (file, size):
        assert (file.read(), size) == (b"abc", 3)


@pytest.mark.parametrize("kind", ["fifo", "link", "folder", "nothing", "relative"])
def test_anything_else_is_refused_and_nothing_waits_for_it(tmp_path: Path, kind: str) -> None:
    path = tmp_path / kind
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "link":
            (tmp_path / "target").write_bytes(b"")
            path.symlink_to(tmp_path / "target")
        case "folder":
            path.mkdir()
        case "relative":
            path = Path("relative")
    with pytest.raises(OSError, match=r"no file of ours|No such file"), open_own(str(path)):
        pass
