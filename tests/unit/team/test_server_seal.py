"""What a team's servers seal for each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crabhook.team.folder import Folder, TeamError
from crabhook.team.server_seal import ServerSeal, seal_of
from crabhook.team.team_file import authority_of, share_seals
from tests.support.team import PASSPHRASE, founded

if TYPE_CHECKING:
    from pathlib import Path

SEAL, OTHER = ServerSeal(bytes(32)), ServerSeal(bytes(31) + b"\1")


def test_what_a_server_seals_another_with_the_key_opens() -> None:
    text = SEAL.sealed("phones", b"secret")
    assert text.isascii()
    assert "secret" not in text
    assert ServerSeal(bytes(32)).opened("phones", text) == b"secret"
    assert SEAL.sealed("phones", b"secret") != text


@pytest.mark.parametrize(
    ("seal", "name", "change"),
    [
        (OTHER, "phones", lambda text: text),
        (SEAL, "rules", lambda text: text),
        (SEAL, "phones", lambda text: text[:-8] + "AAAAAA" + text[-2:]),
        (SEAL, "phones", lambda text: text[:30]),
        (SEAL, "phones", lambda _: ""),
        (SEAL, "phones", lambda _: "crabhook-sealed-v1 é"),
        (SEAL, "phones", lambda _: '{"subscriptions": []}'),
    ],
    ids=range(7),
)
def test_what_no_server_sealed_under_this_name_is_not_opened(
    seal: ServerSeal, name: str, change: object
) -> None:
    text = SEAL.sealed("phones", b"content")
    assert callable(change)
    with pytest.raises(TeamError, match="no server of this team"):
        seal.opened(name, change(text))


def test_each_server_gets_the_same_key_with_the_passphrase_and_no_other_team_has_it(
    tmp_path: Path,
) -> None:
    first, other = (founded(tmp_path / name, 0).folder for name in ("one", "two"))
    key = first.sealing_key.read_bytes()
    assert first.sealing_key.stat().st_mode & 0o777 == 0o600
    first.sealing_key.unlink()
    assert seal_of(first) is None
    share_seals(first, authority_of(first, PASSPHRASE))
    assert first.sealing_key.read_bytes() == key != other.sealing_key.read_bytes()
    mine, theirs = seal_of(first), seal_of(other)
    assert mine
    assert theirs
    with pytest.raises(TeamError):
        theirs.opened("phones", mine.sealed("phones", b"x"))


@pytest.mark.parametrize("content", [b"", b"00", b"zz" * 32, b"\xff", b"0" * 66])
def test_a_file_without_a_key_is_told_of(tmp_path: Path, content: bytes) -> None:
    folder = Folder(tmp_path)
    folder.sealing_key.write_bytes(content)
    folder.sealing_key.chmod(0o600)
    with pytest.raises(TeamError, match="team pull"):
        seal_of(folder)
