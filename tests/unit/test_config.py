"""Settings: what is written is what counts, and what is wrong is named with its line."""

import os
from pathlib import Path
from typing import Any

import pytest

from crabhook import config
from crabhook.config import NEVER, Settings, SettingsError, load, override, parse
from crabhook.platforms.installation import MAX_WAIT
from tests.support.rows import every_row

FULL = """
# everything
[server]
listen = ["unix:/run/x", "127.0.0.1:7777"]
ndjson = "unix:/run/n"
wait = 60
token_file = "/t"
tls_cert = "/c"
tls_key = "/k"
headless = true
otherwise = "deny"
log_format = "json"
log_level = "debug"

[desk]
plain = true
ascii = false
arming_ms = 0
take_back_ms = 60000

[attention]
bell = []
notify = ["question", "plan"]
title = ["call"]
command = ["stop"]
sequence = "osc99"
program = ["notify-send", "crabhook"]

[supervisor]
reviewer = ["judge", ""]
limit = 3
timeout = 9

[push]
after = 30
services = ["push.example.org", "*.push.example.org", "127.0.0.1:8030", "[::1]:8030"]
"""


@pytest.fixture(autouse=True)
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing of the machine's own user is read."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_a_wait_that_never_ends_is_longer_than_any_hooks() -> None:
    assert parse('[server]\nwait = "never"\n', "f").wait == NEVER > 10 * MAX_WAIT
    assert override(Settings(), {"wait": "never"}).wait == NEVER


def test_every_setting_is_read() -> None:
    read = parse(FULL, "f")
    assert read.listen == ("unix:/run/x", "127.0.0.1:7777")
    assert read.ndjson == "unix:/run/n"
    assert (read.wait, read.token_file) == (60.0, Path("/t"))
    assert (read.tls_cert, read.tls_key) == (Path("/c"), Path("/k"))
    assert (read.headless, read.otherwise) == (True, "deny")
    assert (read.log_format, read.log_level) == ("json", "debug")
    assert (read.plain, read.ascii, read.arming_ms, read.take_back_ms) == (True, False, 0, 60000)
    assert (read.bell, read.notify, read.title) == ((), ("question", "plan"), ("call",))
    assert (read.command, read.sequence) == (("stop",), "osc99")
    assert read.program == ("notify-send", "crabhook")
    assert (read.reviewer, read.review_limit, read.review_timeout) == (("judge", ""), 3, 9.0)
    assert parse('supervisor.reviewer = "operator"', "f").reviewer == ()
    services = ("push.example.org", "*.push.example.org", "127.0.0.1:8030", "[::1]:8030")
    assert (read.push_after, read.push_services) == (30.0, services)


@pytest.mark.parametrize("text", ["", "# nothing\n", "[server]\n", "[desk]\n[server]\n"])
def test_what_is_not_written_stays_as_it_is(text: str) -> None:
    assert parse(text, "f") == Settings()


def test_a_home_is_found() -> None:
    assert parse('[server]\ntoken_file = "~/t"', "f").token_file == Path.home() / "t"


# What is wrong.

BAD_VALUES = [
    ("server", "listen", '"127.0.0.1:1"', "must be a list of texts"),
    ("server", "listen", "[]", "must be a list of texts"),
    ("record", "store", '"postgresql:/ann@db/x"', "is neither a folder nor postgresql://"),
    ("record", "store", '"mysql://db/x"', "is neither a folder nor postgresql://"),
    ("server", "ndjson", '["unix:/run/n"]', "must be a text"),
    ("server", "listen", "[1]", "must be a text"),
    ("server", "listen", '[""]', "must be a text"),
    ("server", "wait", '"60"', "must be a number of seconds above 0"),
    ("server", "wait", "true", "must be a number of seconds above 0"),
    ("server", "wait", "0", "must be a number of seconds above 0"),
    ("server", "wait", "-1", "must be a number of seconds above 0"),
    ("server", "wait", "nan", "must be a number of seconds above 0"),
    ("server", "wait", "inf", 'must be a number of seconds above 0, or "never"'),
    ("server", "wait", '"Never"', 'must be a number of seconds above 0, or "never"'),
    ("server", "token_file", "1", "must be a text"),
    ("server", "tls_cert", '""', "must be a text"),
    ("server", "tls_key", "[]", "must be a text"),
    ("server", "token_file", '"~nobody-of-that-name/t"', "is no path"),
    ("server", "headless", "1", "must be true or false"),
    ("server", "otherwise", '"allow"', "must be one of: pass, ask, deny"),
    ("server", "log_format", '"xml"', "must be one of: text, json"),
    ("server", "log_level", "3", "must be one of: debug, info, warning, error"),
    ("desk", "plain", "1", "must be true or false"),
    ("desk", "ascii", '"yes"', "must be true or false"),
    ("desk", "arming_ms", "-1", "must be a whole number of milliseconds"),
    ("desk", "arming_ms", "60001", "must be a whole number of milliseconds"),
    ("desk", "arming_ms", "0.5", "must be a whole number of milliseconds"),
    ("desk", "take_back_ms", "true", "must be a whole number of milliseconds"),
    ("attention", "bell", "true", "must be a list of some of: call, question"),
    ("attention", "notify", '["calls"]', "must be a list of some of: call, question"),
    ("attention", "title", "[1]", "must be a list of some of: call, question"),
    ("attention", "command", "[[]]", "must be a list of some of: call, question"),
    ("attention", "sequence", '"osc8"', "must be one of: osc9, osc777, osc99"),
    ("attention", "sequence", "9", "must be one of: osc9, osc777, osc99"),
    ("attention", "program", '"notify-send"', "must be a list of texts"),
    ("attention", "program", "[]", "must be a list of texts"),
    ("attention", "program", "[1]", "must be a list of texts"),
    ("supervisor", "reviewer", '"judge"', 'must be "operator", or a list of texts'),
    ("supervisor", "reviewer", "[]", 'must be "operator", or a list of texts'),
    ("supervisor", "reviewer", '["judge", 1]', 'must be "operator", or a list of texts'),
    ("supervisor", "reviewer", '[""]', "must be a text"),
    ("supervisor", "limit", "0", "must be a whole number above 0"),
    ("supervisor", "timeout", "0", "must be a number of seconds above 0"),
    ("push", "after", "0", "must be a number of seconds above 0"),
    ("push", "services", '"push.example.org"', "must be a list of hosts"),
    *(
        ("push", "services", f'["{wrong}"]', "must be a list of hosts")
        for wrong in (
            *("", "org", "*", "*.org", "x.*.org", "https://push.example.org", "push.example.org/x"),
            *("push.example.org:443", "Push.example.org", "push.example.org.", "a@b.example"),
            *("127.0.0.1", "10.0.0.1", "127.0.0.1:0", "127.0.0.2:8030", "[::1]", "0.0.0.0:8030"),
        )
    ),
]
# The ways to write one setting, and the line it then stands on.
WAYS = [
    ("[{table}]\n{key} = {value}\n", 2),
    ("# {key} = 1\n[ {table} ]\n\n  {key}={value}\n", 4),
    ('[{table}]\n"{key}" = {value}\n', 2),
    ("{table}.{key} = {value}\n", 1),
    ("\n{table} = {{ {key} = {value} }}\n", 2),
]


@every_row("way, line", WAYS)
@every_row("bad", BAD_VALUES)
def test_a_wrong_value_is_named_with_its_line(
    bad: tuple[str, str, str, str], way: str, line: int
) -> None:
    table, key, value, words = bad
    text = way.format(table=table, key=key, value=value)
    with pytest.raises(SettingsError, match=rf"^f\.toml, line {line}: {key} {words}"):
        parse(text, "f.toml")


def test_the_line_is_that_of_the_right_table() -> None:
    text = '[server]\nwait = 1\n[desk]\nplain = true\narming_ms = "x"\n'
    with pytest.raises(SettingsError, match=r"line 5: arming_ms"):
        parse(text, "f")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "\n[servers]\n",
            r"line 2: there is no table 'servers'. Known are: server, desk, attention",
        ),
        ("wait = 60\n", r"line 1: there is no table 'wait'. Known are:"),
        (
            "[server]\n\nwaits = 60\n",
            r"line 3: there is no setting 'waits' in \[server\]. .*listen",
        ),
        ("[desk]\nwait = 60\n", r"line 2: there is no setting 'wait' in \[desk\]"),
        ("[server.more]\nx = 1\n", r"there is no setting 'more' in \[server\]"),
        ("server = 1\n", r"line 1: server must be a table"),
        ("[[desk]]\nplain = true\n", r"desk must be a table"),
    ],
)
def test_what_nobody_knows_is_named_with_its_line_and_what_is_known(text: str, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        parse(text, "f")


def test_what_is_nested_without_end_is_refused_in_words() -> None:
    with pytest.raises(SettingsError, match="f: it is nested too deeply"):
        parse("a = " + "[" * 5000, "f")


@pytest.mark.parametrize("text", ["[server", "wait 60", '[server]\nwait = "', "[server]\n[server]\n", "a = 1\na = 2\n"])  # fmt: skip
def test_what_is_not_toml_says_where(text: str) -> None:
    with pytest.raises(SettingsError, match=r"f: not TOML: .*(line|end of)"):
        parse(text, "f")


# Where settings are read from.


def test_no_file_in_the_usual_place_is_no_fault_but_one_that_was_named_is(at_home: Path) -> None:
    assert load() == Settings()
    with pytest.raises(SettingsError, match="there is no settings file"):
        load(at_home / "mine.toml")


@pytest.mark.parametrize("moved", [False, True])
def test_the_usual_place_is_read(
    moved: bool,
    at_home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = at_home / ("moved" if moved else ".config")
    if moved:
        monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    (folder / "crabhook").mkdir(parents=True)
    (folder / "crabhook" / "settings.toml").write_text("[server]\nwait = 5\n")
    assert load().wait == 5


def test_a_relative_base_folder_is_not_believed(
    at_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "state")
    monkeypatch.setenv("XDG_CONFIG_HOME", "")
    assert config.state_folder() == at_home / ".local" / "state" / "crabhook"
    assert config.config_folder() == at_home / ".config" / "crabhook"


def test_a_file_that_cannot_be_read_is_no_empty_one(at_home: Path) -> None:
    (at_home / "latin").write_bytes(b"# \xe9\n")
    for path in (at_home, at_home / "latin"):
        with pytest.raises(SettingsError, match="cannot be read"):
            load(path)


# Flags.


@pytest.mark.parametrize(
    ("flags", "changed"),
    [
        ({}, {}),
        ({"wait": None, "plain": None}, {}),
        ({"wait": 5.0}, {"wait": 5.0}),
        ({"plain": True, "command": "serve", "settings": None}, {"plain": True}),
        ({"arming_ms": 0}, {"arming_ms": 0}),
    ],
)
def test_flags_that_were_given_win(flags: dict[str, Any], changed: dict[str, Any]) -> None:
    written = parse(FULL, "f")
    found = override(written, flags)
    assert {key: getattr(found, key) for key in changed} == changed
    assert override(found, {key: getattr(written, key) for key in changed}) == written


@pytest.mark.parametrize("kind", ["fifo", "zero", "sparse"])
def test_settings_that_are_no_plain_file_are_refused_at_once(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "settings.toml"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "zero":
        path.symlink_to("/dev/zero")
    else:
        with path.open("wb") as file:
            file.truncate(8 << 30)
    with pytest.raises(SettingsError, match="cannot be read: it is"):
        load(path)


def test_settings_may_be_a_link_as_dotfiles_are(tmp_path: Path) -> None:
    (tmp_path / "kept.toml").write_text("")
    (tmp_path / "settings.toml").symlink_to(tmp_path / "kept.toml")
    assert load(tmp_path / "settings.toml") == Settings()
