"""A settings file is replaced whole or not at all, and never lost."""

import json
import os
import stat
from pathlib import Path

import pytest

from crabhook.install.entries import with_hooks
from crabhook.install.settings_file import backups_of, has_hooks, plan, read, removal, write
from crabhook.model.errors import InstallError
from crabhook.platforms import HOOKED
from crabhook.platforms.installation import Installation

OLD, NEW = b'{"a": 1.0}\n', b'{"b": 2}\n'
OURS = Installation("/venv/bin/python", "/venv/crabhook/hook/run.py")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "settings.json"
    file.write_bytes(OLD)
    return file


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_the_content_is_replaced_and_the_old_one_kept(path: Path) -> None:
    backup = write(read(path), NEW)
    assert path.read_bytes() == NEW
    assert backup == path.with_name("settings.json.crabhook-backup")
    assert backup.read_bytes() == OLD
    assert names(path.parent) == ["settings.json", "settings.json.crabhook-backup"]


def test_no_backup_ever_takes_an_older_ones_place(path: Path) -> None:
    contents = [OLD, b'{"n": 1}', b'{"n": 2}', b'{"n": 3}']
    for content in contents[1:]:
        write(read(path), content)
    kept = [p.read_bytes() for p in sorted(path.parent.glob("*.crabhook-backup*"))]
    assert kept == contents[:-1]


def test_the_same_content_is_kept_once(path: Path) -> None:
    first = write(read(path), NEW)
    write(read(path), OLD)
    assert write(read(path), NEW) == first
    assert names(path.parent) == [
        "settings.json",
        "settings.json.crabhook-backup",
        "settings.json.crabhook-backup.2",
    ]


def test_a_backup_goes_through_no_link_that_lies_in_its_way(path: Path, tmp_path: Path) -> None:
    path.with_name("settings.json.crabhook-backup").symlink_to(tmp_path / "elsewhere")
    assert write(read(path), NEW) == path.with_name("settings.json.crabhook-backup.2")
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o640])
def test_file_and_backup_have_the_old_mode(path: Path, mode: int) -> None:
    path.chmod(mode)
    backup = write(read(path), NEW)
    assert backup is not None
    assert [stat.S_IMODE(p.stat().st_mode) for p in (path, backup)] == [mode, mode]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file away")
def test_file_and_backup_have_the_old_owner(path: Path) -> None:
    os.chown(path, 1234, 4321)
    backup = write(read(path), NEW)
    assert backup is not None
    assert [(p.stat().st_uid, p.stat().st_gid) for p in (path, backup)] == [(1234, 4321)] * 2


def test_a_missing_file_is_made_with_its_folder_and_has_no_backup(tmp_path: Path) -> None:
    path = tmp_path / "new" / ".claude" / "settings.json"
    assert read(path).text == ""
    assert write(read(path), NEW) is None
    assert path.read_bytes() == NEW
    assert names(path.parent) == ["settings.json"]


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o277])
def test_a_new_file_is_its_owners_alone_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    path = tmp_path / "settings.json"
    before = os.umask(umask)
    try:
        write(read(path), NEW)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("nothing", [b"", b"{}", b" {}\n"])
def test_a_file_that_said_nothing_is_still_there_when_our_hooks_are_gone(
    path: Path, nothing: bytes
) -> None:
    path.write_bytes(nothing)
    settings = HOOKED["claude"].settings
    for _ in ("once", "and again"):
        plan(path, lambda text: with_hooks(text, settings.groups(OURS), settings.own)).carry_out()
    removal(path).carry_out()
    assert json.loads(path.read_bytes()) == {}
    assert [backup.read_bytes() for backup in backups_of(path)] == [nothing]


def test_a_link_stays_a_link_and_its_target_is_written(tmp_path: Path) -> None:
    target = tmp_path / "dotfiles" / "claude.json"
    target.parent.mkdir()
    target.write_bytes(OLD)
    (tmp_path / "home").mkdir()
    path = tmp_path / "home" / "settings.json"
    path.symlink_to(Path("../dotfiles/claude.json"))
    backup = write(read(path), NEW)
    assert path.is_symlink()
    assert target.read_bytes() == NEW
    assert backup == tmp_path / "home" / "settings.json.crabhook-backup"
    assert names(target.parent) == ["claude.json"]


def test_a_link_to_nothing_yet_gets_its_target(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.symlink_to(tmp_path / "dotfiles" / "claude.json")
    write(read(path), NEW)
    assert path.is_symlink()
    assert (tmp_path / "dotfiles" / "claude.json").read_bytes() == NEW


@pytest.mark.parametrize("name", HOOKED)
def test_a_link_that_its_owner_set_up_leads_somewhere_when_our_hooks_are_gone(
    tmp_path: Path, name: str
) -> None:
    settings = HOOKED[name].settings
    target, path = tmp_path / "dotfiles", tmp_path / "link"
    target.write_text(with_hooks("", settings.groups(OURS), settings.own), "utf-8")
    path.symlink_to(target)
    assert has_hooks(path)
    removal(path).carry_out()
    assert path.is_symlink()
    assert path.exists()
    assert not has_hooks(path)


@pytest.mark.parametrize("name", HOOKED)
def test_a_file_that_we_made_goes_with_our_hooks(tmp_path: Path, name: str) -> None:
    settings, path = HOOKED[name].settings, tmp_path / "settings"
    for _ in ("once", "and again"):
        plan(path, lambda text: with_hooks(text, settings.groups(OURS), settings.own)).carry_out()
    assert names(tmp_path) == ["settings"]
    removal(path).carry_out()
    assert names(tmp_path) == []


def test_a_file_that_we_made_stays_with_what_others_wrote_there(tmp_path: Path) -> None:
    settings, path = HOOKED["claude"].settings, tmp_path / "settings.json"
    plan(path, lambda text: with_hooks(text, settings.groups(OURS), settings.own)).carry_out()
    theirs = json.loads(path.read_bytes()) | {"model": "opus"}
    path.write_text(json.dumps(theirs))
    removal(path).carry_out()
    assert json.loads(path.read_bytes()) == {"model": "opus"}


@pytest.mark.parametrize("other", [b'{"theirs": 1}', b"", None])
def test_a_file_that_changed_meanwhile_is_left_alone(path: Path, other: bytes | None) -> None:
    settings = read(path)
    path.unlink() if other is None else path.write_bytes(other)
    with pytest.raises(InstallError, match="changed by another program"):
        write(settings, NEW)
    assert (path.read_bytes() if path.exists() else None) == other
    assert [name for name in names(path.parent) if name != "settings.json"] == []


def test_a_file_that_appeared_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    settings = read(path)
    path.write_bytes(OLD)
    with pytest.raises(InstallError, match="changed by another program"):
        write(settings, NEW)
    assert path.read_bytes() == OLD


def test_what_is_not_a_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(InstallError, match="not a regular file"):
            read(path)


def test_links_in_a_ring_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(InstallError, match="cannot be read"):
        read(tmp_path / "a")


def test_a_file_in_the_place_of_the_folder_is_refused(path: Path) -> None:
    with pytest.raises(InstallError, match="cannot be read"):
        read(path / "settings.json")


def test_a_folder_that_cannot_be_made_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "nowhere").symlink_to("/proc/no-such-folder")
    with pytest.raises(InstallError, match="cannot be written"):
        write(read(tmp_path / "nowhere" / "settings.json"), NEW)


def test_what_is_not_utf_8_is_refused(path: Path) -> None:
    path.write_bytes(b'{"a": "\xff"}')
    with pytest.raises(InstallError, match="not UTF-8"):
        _ = read(path).text


def test_the_text_is_the_content_line_ends_included(path: Path) -> None:
    path.write_bytes(b"\xef\xbb\xbf{\r\n}\r")
    assert read(path).text == "\ufeff{\r\n}\r"


def test_no_more_than_settings_can_need_is_read(tmp_path: Path) -> None:
    with (tmp_path / "settings.json").open("wb") as file:
        file.truncate(8 << 30)
    with pytest.raises(InstallError, match="larger than 4 MiB"):
        read(tmp_path / "settings.json")


def test_new_settings_that_are_everybodys_can_be_read_by_everybody_whatever_the_umask(
    tmp_path: Path,
) -> None:
    path = tmp_path / "claude-code" / "managed-settings.json"
    before = os.umask(0o077)
    try:
        write(read(path), b"{}", shared=True)
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(one.stat().st_mode) for one in (path.parent, path)]
    assert modes == [0o755, 0o644]
