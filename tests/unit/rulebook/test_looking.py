"""A look at what a folder holds."""

from pathlib import Path

import pytest

from crabhook.policy.context import wanted_by
from crabhook.rulebook import context
from crabhook.rulebook.context import MOST_FOUND, RECALLED, REMEMBERED, DirectoryLookups, look

WANTED = wanted_by([".env", ".aws", "*.pem"])


def made(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    return root


def test_it_finds_the_files_that_are_wanted_and_all_that_is_below_a_wanted_folder(
    tmp_path: Path,
) -> None:
    made(tmp_path, "a.py", "x/y/.env", ".aws/deep/config", "key.PEM", "x/env")
    below = look(str(tmp_path), WANTED)
    names = {str(Path(one).relative_to(tmp_path)) for one in below.files}
    assert names == {"x/y/.env", ".aws/deep/config", "key.PEM"}
    assert below.whole
    assert not below.leads_out


def test_a_link_to_what_is_wanted_is_found_by_any_name(tmp_path: Path) -> None:
    made(tmp_path, "secret/.env", "p/a.py", "p/x/y.py")
    (tmp_path / "p" / "notes.py").symlink_to(tmp_path / "secret" / ".env")
    (tmp_path / "p" / "inner").symlink_to(tmp_path / "p" / "x")
    below = look(str(tmp_path / "p"), WANTED)
    assert below.files == (str(tmp_path / "p" / "notes.py"),)
    assert not below.leads_out
    (tmp_path / "p" / "out").symlink_to(tmp_path / "secret")
    assert look(str(tmp_path / "p"), WANTED).leads_out


def test_a_folder_is_looked_into_by_its_own_name_and_by_where_it_leads(tmp_path: Path) -> None:
    made(tmp_path, "etc/ssh/key", "etc/other/ssh")
    (tmp_path / "link").symlink_to(tmp_path / "etc")
    wanted = wanted_by([], [f"{tmp_path}/etc/ssh"])
    assert look(str(tmp_path / "link"), wanted).files == (str(tmp_path / "link/ssh/key"),)


def test_what_is_no_folder_holds_nothing(tmp_path: Path) -> None:
    made(tmp_path, "a")
    for name in ("a", "none", "a/b"):
        assert look(str(tmp_path / name), WANTED) == context.Below()


@pytest.mark.parametrize("name", ["/\0", "/" + "a" * 300, "/a" * 3000])
def test_a_folder_that_cannot_be_read_is_not_known(name: str) -> None:
    assert not look(name, WANTED).whole


def test_a_look_ends_at_its_bounds_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path, *(f"{number}.pem" for number in range(MOST_FOUND + 10)))
    below = look(str(tmp_path), WANTED)
    assert not below.whole
    assert len(below.files) == MOST_FOUND
    monkeypatch.setattr(context, "MOST_NAMES", 5)
    assert not look(str(tmp_path), wanted_by(["x"])).whole


def test_a_look_ends_in_time(tmp_path: Path) -> None:
    made(tmp_path, *(f"{number}" for number in range(1100)))
    assert look(str(tmp_path), WANTED, until=1.0, clock=lambda: 0.0).whole
    assert not look(str(tmp_path), WANTED, until=1.0, clock=lambda: 2.0).whole


def test_a_look_is_remembered_for_a_moment_and_recalled_for_a_while(tmp_path: Path) -> None:
    time = [0.0]
    looks, folder = DirectoryLookups(lambda: time[0]), str(tmp_path)
    assert not looks.recalled(folder, WANTED).whole
    assert looks.below(folder, WANTED).files == ()
    made(tmp_path, ".env")
    assert looks.below(folder, WANTED).files == ()
    time[0] = REMEMBERED
    assert looks.recalled(folder, WANTED).files == ()
    assert looks.below(folder, WANTED).files == (str(tmp_path / ".env"),)
    assert looks.recalled(folder, WANTED).files == (str(tmp_path / ".env"),)
    time[0] += RECALLED
    assert not looks.recalled(folder, WANTED).whole


def test_only_so_many_looks_are_remembered(tmp_path: Path) -> None:
    looks = DirectoryLookups()
    for number in range(context.KEPT + 5):
        looks.below(str(tmp_path / str(number)), WANTED)
    assert repr(looks) == f"<DirectoryLookups {context.KEPT}>"
