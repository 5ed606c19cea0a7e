"""`crabhook install --transport http`, as a person runs it."""

import json
import socket
from pathlib import Path

import pytest

from crabhook.cli import main
from crabhook.cli.install import next_steps
from crabhook.platforms import PLATFORMS
from crabhook.platforms.installation import Installation


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CLAUDE_CONFIG_DIR", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_says_what_is_left_to_do_and_writes_no_token(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = home / ".local" / "state" / "crabhook"
    state.mkdir(parents=True)
    (state / "token").write_text("a-secret\n", "ascii")
    assert main(["install", "claude", "--transport", "http"]) == 0
    said = capsys.readouterr().out
    assert f'export CRABHOOK_TOKEN="$(cat {state}/token)"' in said
    assert "crabhook serve --http 127.0.0.1:7780" in said
    text = (home / ".claude" / "settings.json").read_text("utf-8")
    assert "a-secret" not in text + said
    (entry,) = json.loads(text)["hooks"]["Stop"][0]["hooks"]
    assert (entry["type"], entry["url"]) == ("http", "http://127.0.0.1:7780/hooks/claude")


def test_beyond_this_machine_it_says_that_the_server_takes_tls() -> None:
    how = Installation("python", "stub", url="https://desk.example:7443/hooks/claude")
    said = "\n".join(next_steps(PLATFORMS["claude"], how))
    served = "--http 0.0.0.0:7443 --http-name desk.example --tls-cert FILE --tls-key FILE"
    assert f"`crabhook serve {served}`" in said


@pytest.mark.parametrize(
    ("url", "server", "words"),
    [
        ("https://127.0.0.1:7443/hooks/claude", None, "--http 127.0.0.1:7443 --tls-cert FILE"),
        ("https://192.0.2.1/hooks/claude", None, "--http 0.0.0.0:443 --tls-cert FILE"),
        ("http://localhost/hooks/claude", None, "--http localhost:80`"),
        ("http://127.0.0.1:7780/hooks/claude", "unix:/run/s", "--listen unix:/run/s --http 127"),
        (None, "unix:/run/s", "--listen unix:/run/s`"),
        (None, "127.0.0.1:7443", "crabhook serve --listen 127.0.0.1:7443` in"),
        (
            None,
            "desk.example:7443",
            "`crabhook serve --listen 0.0.0.0:7443 --tls-cert FILE --tls-key FILE` in",
        ),
    ],
)
def test_the_server_it_names_listens_where_the_hooks_ask(
    url: str | None, server: str | None, words: str
) -> None:
    how = Installation("python", "stub", url=url, server=server)
    assert words in "\n".join(next_steps(PLATFORMS["claude"], how))


def test_a_server_elsewhere_is_started_elsewhere_and_hooks_are_seen_to_reach_it_here() -> None:
    how = Installation("python", "stub", server="desk.example:7443")
    first, second = next_steps(PLATFORMS["claude"], how)
    assert first.startswith("Next: on desk.example, where you sit, run `crabhook serve ")
    assert first.endswith("in a terminal of its own, unless it runs already.")
    assert "run `crabhook doctor claude` here to see that hooks reach it" in second


@pytest.mark.parametrize("by_tcp", [False, True])
def test_where_a_server_listens_already_none_is_to_be_started(
    tmp_path: Path, *, by_tcp: bool
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as port, socket.socket(socket.AF_UNIX) as local:
        local.bind(str(tmp_path / "s"))
        server = f"127.0.0.1:{port.getsockname()[1]}" if by_tcp else f"unix:{tmp_path}/s"
        local.listen()
        how = Installation("python", "stub", server=server)
        (said,) = next_steps(PLATFORMS["claude"], how)
        assert "Next: run `crabhook doctor claude` to see that hooks reach the server" in said
        assert f"that listens at {server}, and start `claude`." in said
        assert "crabhook serve" not in said
    (said,) = next_steps(PLATFORMS["claude"], how)  # the socket's file is still there
    assert said.startswith("Next: run `crabhook serve ")


def test_of_a_list_of_servers_no_one_is_started_here() -> None:
    how = Installation("python", "stub", server="a.example:7443,b.example:7443")
    first, second = next_steps(PLATFORMS["claude"], how)
    assert "run at a.example:7443 and b.example:7443" in first
    assert "`crabhook doctor claude`" in second


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("claude", "--url", "http://127.0.0.1:1"), "--transport http"),
        (("claude", "--transport", "http", "--url", "http://desk.example"), "in the clear"),
        (("claude", "--transport", "http", "--url", "nonsense"), "no server's URL"),
        (("gemini", "--transport", "http"), "Gemini CLI sends no hooks by HTTP"),
        (("codex", "--transport", "http"), "Codex sends no hooks by HTTP"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(
    home: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], why: str
) -> None:
    assert main(["install", *words]) == 1
    assert why in capsys.readouterr().err
    assert not list(home.iterdir())
