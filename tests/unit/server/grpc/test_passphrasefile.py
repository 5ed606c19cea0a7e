"""The file the passphrase's hash is kept in."""

import os
from pathlib import Path

import pytest

from crabhook.server.grpc.presence import Passphrase, PassphraseError, keep, load, remove

KEPT = Passphrase(b"s" * 16, b"h" * 32)
OTHER = Passphrase(b"t" * 16, b"h" * 32)


def test_what_is_kept_is_found_by_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "crabhook" / "passphrase"
    assert load(path) is None
    before = os.umask(0)
    try:
        keep(path, KEPT)
    finally:
        os.umask(before)
    assert load(path) == KEPT
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_another_one_takes_its_place_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "passphrase"
    keep(path, KEPT)
    keep(path, OTHER)
    assert load(path) == OTHER
    assert list(tmp_path.iterdir()) == [path]
    remove(path)
    assert load(path) is None
    remove(path)


def test_a_link_in_its_place_is_replaced_and_never_followed(tmp_path: Path) -> None:
    path, elsewhere = tmp_path / "passphrase", tmp_path / "elsewhere"
    keep(elsewhere, OTHER)
    path.symlink_to(elsewhere)
    with pytest.raises(PassphraseError, match="cannot be read"):
        load(path)
    keep(path, KEPT)
    assert not path.is_symlink()
    assert load(elsewhere) == OTHER


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o666])
def test_a_file_others_can_reach_is_refused(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "passphrase"
    keep(path, KEPT)
    path.chmod(mode)
    with pytest.raises(PassphraseError, match="chmod 600"):
        load(path)


@pytest.mark.parametrize(
    "data", [b"", b"\xff" * 100, b"x" * 5000, f"{KEPT}".encode() * 2, b"\0" * 115]
)
def test_a_file_we_did_not_write_is_refused(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "passphrase"
    path.write_bytes(data)
    path.chmod(0o600)
    with pytest.raises(PassphraseError, match=f"{path} cannot be used"):
        load(path)


@pytest.mark.timeout(10)
def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(PassphraseError, match="not a regular file"):
            load(tmp_path / name)


def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(PassphraseError, match="cannot be written"):
        keep(tmp_path / "file" / "passphrase", KEPT)
    (tmp_path / "taken").mkdir()
    with pytest.raises(PassphraseError, match="cannot be written"):
        keep(tmp_path / "taken", KEPT)
    assert {path.name for path in tmp_path.iterdir()} == {"file", "taken"}
    with pytest.raises(PassphraseError, match="cannot be removed"):
        remove(tmp_path / "taken")
