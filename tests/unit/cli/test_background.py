"""Where `up`, `down` and `status` look for the server of this machine."""

from __future__ import annotations

import os

import pytest

from crabhook.app.running import BackgroundError, socket_of
from crabhook.cli import main
from crabhook.cli.background import known_port
from crabhook.cli.commands import NO_SERVER
from crabhook.server.address import default_address
from crabhook.server.unix_socket import claim_of, claimed
from tests.support.port import short_folder


def test_no_server_is_looked_for_over_tcp() -> None:
    with pytest.raises(BackgroundError, match="unix:PATH"):
        socket_of("127.0.0.1:1")


def test_a_socket_where_others_could_have_put_theirs_is_not_looked_at() -> None:
    with short_folder() as folder:
        assert socket_of(f"unix:{folder}/s").path == folder / "s"
        assert socket_of(f"b.example:7443,unix:{folder}/s").path == folder / "s"
        for mode in (0o770, 0o707, 0o1777):
            folder.chmod(mode)
            with pytest.raises(BackgroundError, match="this user alone"):
                socket_of(f"unix:{folder}/s")


def test_the_server_is_looked_for_where_a_hook_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    with short_folder() as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
        monkeypatch.delenv("CRABHOOK_SERVER", raising=False)
        assert socket_of(None) == default_address()
        monkeypatch.setenv("CRABHOOK_SERVER", f"unix:{folder}/named")
        assert socket_of(None).path == folder / "named"
        assert socket_of(f"unix:{folder}/given").path == folder / "given"


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]"])
def test_desks_are_told_of_a_port_that_is_one(host: str) -> None:
    chosen = known_port(f"{host}:0")
    assert chosen.startswith(f"{host}:")
    assert int(chosen.rpartition(":")[2]) > 0
    assert known_port(chosen) == chosen
    with pytest.raises(BackgroundError, match="cannot be listened on"):
        known_port("203.0.113.7:0")


def test_a_server_whose_socket_is_gone_for_a_moment_is_not_called_none(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with short_folder() as folder:
        status = ["status", "--server", f"unix:{folder}/s"]
        with claimed(folder / "s"):
            assert main(status) == NO_SERVER
        assert capsys.readouterr().out.startswith("HOOKS CANNOT CONNECT: ")
        claim_of(folder / "s").write_text(f"{os.getpid()}\n")  # of a dead server, and used again
        assert main(status) == NO_SERVER
        assert capsys.readouterr().out.startswith("No server runs.")


def test_a_server_whose_socket_is_gone_for_a_second_is_not_taken_for_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with short_folder() as folder, claimed(folder / "s"):
        assert main(["down", "--server", f"unix:{folder}/s"]) == 1
        assert f"(process {os.getpid()}) does not listen" in capsys.readouterr().err
