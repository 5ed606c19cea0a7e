"""The token clients beyond the socket show."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from crabhook.server.address import TokenError, Tokens, load_or_make


def test_a_token_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "token"
    token = load_or_make(path)
    assert len(token) >= 40
    assert load_or_make(path) == token
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert load_or_make(tmp_path / "other") != token


class Killed(BaseException):
    """The end of the process, in the middle of something."""


@pytest.mark.parametrize("step", ["fsync", "link"])
def test_a_token_that_is_not_whole_is_at_no_moment_there(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "token"

    def killed(*_: object) -> None:
        assert not path.exists()
        raise Killed

    with monkeypatch.context() as broken:
        broken.setattr(f"crabhook.safe_open.os.{step}", killed)
        with pytest.raises(Killed):
            load_or_make(path)
    assert not list(tmp_path.iterdir())
    assert len(load_or_make(path)) >= 40


def test_servers_that_begin_at_once_have_one_token(tmp_path: Path) -> None:
    together = Barrier(8)

    def begin(_: int) -> str:
        together.wait()
        return load_or_make(tmp_path / "token")

    with ThreadPoolExecutor(8) as servers:
        assert len(set(servers.map(begin, range(8)))) == 1
    assert [one.name for one in tmp_path.iterdir()] == ["token"]


def test_an_owners_own_token_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("mine\n")
    path.chmod(0o400)
    assert load_or_make(path) == "mine"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o666])
def test_a_token_others_can_reach_is_refused(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("mine")
    path.chmod(mode)
    with pytest.raises(TokenError, match=f"mode {mode:o}.*chmod 600"):
        load_or_make(path)


@pytest.mark.parametrize(("data", "words"), [(b"", "empty"), (b" \n", "empty"), (b"\xff", "cannot be read")])  # fmt: skip
def test_a_token_file_without_a_token_is_refused(data: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_bytes(data)
    path.chmod(0o600)
    with pytest.raises(TokenError, match=words):
        load_or_make(path)
    assert path.read_bytes() == data


def test_a_place_where_no_token_can_be_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    for path in (
        tmp_path / "file" / "token",
        tmp_path / "file" / "x" / "token",
        tmp_path / "folder",
    ):
        with pytest.raises(TokenError, match=r"the token file .* cannot be"):
            load_or_make(path)


@pytest.mark.parametrize("header", ["", "t0ken", "Bearer ", "bearer t0ken", "Bearer t0ken ", "Bearer é", "Basic t0ken"])  # fmt: skip
def test_only_the_very_token_is_shown(header: str) -> None:
    assert Tokens("t0ken").whose("Bearer t0ken") == ""
    assert Tokens("t0ken").whose(header) is None
    assert Tokens().whose(header) is None


def test_a_machines_own_token_tells_which_machine_asks_until_it_is_revoked() -> None:
    there = {"m1": "build1"}
    tokens = Tokens("t0ken", there.get)
    assert tokens.whose("Bearer m1") == "build1"
    assert tokens.whose("Bearer t0ken") == ""
    assert tokens.whose("bearer m1") is None
    assert tokens.whose("m1") is None
    del there["m1"]
    assert tokens.whose("Bearer m1") is None
    assert "t0ken" not in repr(tokens)
