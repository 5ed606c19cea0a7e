"""Entries that the agent sends itself: how they are written, known again, and switched off."""

import json
from typing import Any, cast

import pytest

from crabhook.install.entries import is_ours, with_hooks, without_hooks
from crabhook.model.card import Stance
from crabhook.model.errors import InstallError
from crabhook.model.json_source import Json, as_json
from crabhook.platforms.claude.settings import NOT_SENT, groups, switches
from crabhook.platforms.installation import Group, Installation, Transport
from crabhook.platforms.sending import USUAL_URL, endpoint
from crabhook.server.http.listener import hook_headers
from tests.support.rows import every_row

PYTHON, STUB = "/opt/venv/bin/python", "/opt/venv/lib/crabhook/hook/run.py"
SENT = "http://127.0.0.1:7780/hooks/claude"


def entries(**options: object) -> dict[str, Group]:
    return groups(Installation(PYTHON, STUB, url=USUAL_URL, **options))  # type: ignore[arg-type]


def handler(group: Group) -> dict[str, Any]:
    (only,) = cast("list[dict[str, Any]]", group["hooks"])
    return only


def test_there_are_two_ways_and_the_command_is_the_usual_one() -> None:
    assert list(Transport) == ["command", "http"]


def test_an_entry_holds_the_name_of_the_token_and_never_the_token() -> None:
    assert handler(entries(stance=Stance.GATE)["PreToolUse"]) == {
        "type": "http",
        "url": SENT,
        "headers": {
            "Authorization": "Bearer $CRABHOOK_TOKEN",
            "X-Crabhook-Stance": "gate",
            "X-Crabhook-Wait": "86430",
        },
        "allowedEnvVars": ["CRABHOOK_TOKEN"],
        "timeout": 86_460,
        "statusMessage": "waiting for the crabhook operator",
    }


@pytest.mark.parametrize("stance", [Stance.COMPANION, Stance.GATE])
def test_what_is_sent_is_what_the_server_understands(stance: Stance) -> None:
    for event, group in entries(stance=stance).items():
        entry = handler(group)
        if event in NOT_SENT:
            assert (entry["type"], entry["command"]) == ("command", PYTHON)
            continue
        said, wait = hook_headers(entry["headers"])
        assert said is stance
        assert 0 < wait < entry["timeout"]


def test_the_same_events_are_hooked_by_the_same_matchers_as_with_commands() -> None:
    by_command = groups(Installation(PYTHON, STUB))
    sent = entries()
    assert list(sent) == list(by_command)
    assert [one.get("matcher") for one in sent.values()] == [
        one.get("matcher") for one in by_command.values()
    ]


def test_failing_closed_is_the_agents_own_doing_on_the_events_that_decide() -> None:
    closed = [
        event
        for event, group in entries(fail_closed=True).items()
        if handler(group).get("onFailure") == "block"
    ]
    assert closed == ["PreToolUse", "PermissionRequest", "PreSkillShellCommand"]
    assert not any("onFailure" in handler(group) for group in entries().values())


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        (USUAL_URL, SENT),
        (f"{USUAL_URL}/", SENT),
        (SENT, SENT),
        ("http://localhost:9", "http://localhost:9/hooks/claude"),
        ("http://[::1]:9", "http://[::1]:9/hooks/claude"),
        ("https://desk.example", "https://desk.example/hooks/claude"),
    ],
)
def test_a_servers_url_becomes_its_hooks(text: str, sent: str) -> None:
    assert endpoint(text, "claude") == endpoint(sent, "claude") == sent


@every_row(
    "text",
    [
        "",
        "127.0.0.1:7780",
        "ftp://127.0.0.1",
        "http://",
        "http://127.0.0.1:99999",
        "http://127.0.0.1:x",
        "http://[::1",
        "http://127.0.0.1/elsewhere",
        "http://127.0.0.1/?a=b",
        "http://127.0.0.1/#a",
        "http://user:password@127.0.0.1",
        "http://127.0.0.1:80/${HOME}",
        "http://d\u00e9sk.example",
    ],
)
def test_what_is_no_servers_url_is_refused(text: str) -> None:
    with pytest.raises(InstallError, match="no server's URL"):
        endpoint(text, "claude")


@pytest.mark.parametrize("host", ["desk.example", "192.0.2.7", "127.0.0.1.desk.example", "[::2]"])
def test_the_token_goes_to_no_other_machine_in_the_clear(host: str) -> None:
    with pytest.raises(InstallError, match="in the clear"):
        endpoint(f"http://{host}:7780", "claude")


def foreign(**changes: object) -> Json:
    """A hook of somebody else's, to some path."""
    entry: dict[str, object] = {"type": "http", "url": SENT, "headers": {"X-Other": "gate"}}
    return as_json(entry | changes)


@pytest.mark.parametrize(
    "entry",
    [
        foreign(),
        foreign(headers={}),
        foreign(headers=["X-Crabhook-Stance"]),
        foreign(url="http://127.0.0.1:7780/hooks", headers={"X-Crabhook-Stance": "gate"}),
        foreign(url=7, headers={"X-Crabhook-Stance": "gate"}),
        foreign(type="prompt", headers={"X-Crabhook-Stance": "gate"}),
        "http",
    ],
)
def test_what_others_send_is_not_ours(entry: Json) -> None:
    assert not is_ours(entry)


def test_ours_is_known_again_wherever_it_leads() -> None:
    assert is_ours(foreign(headers={"x-crabhook-stance": "gate"}))
    assert is_ours(foreign(url="https://x/hooks/claude", headers={"X-Crabhook-Stance": "gone"}))
    for group in entries().values():
        assert is_ours(as_json(handler(group)))


@pytest.mark.parametrize("text", ["{}\n", '{"hooks": {"Stop": [{"hooks": [{"type": "http", "url": "http://127.0.0.1:7780/hooks/claude"}]}]}}\n'])  # fmt: skip
def test_one_way_takes_the_place_of_the_other_and_nothing_else(text: str) -> None:
    sent = with_hooks(text, entries())
    started = with_hooks(sent, groups(Installation(PYTHON, STUB)))
    at_once = with_hooks(text, groups(Installation(PYTHON, STUB)))
    assert json.loads(started) == json.loads(at_once)
    assert with_hooks(sent, entries()) == sent
    assert json.loads(with_hooks(started, entries())) == json.loads(sent)
    assert json.loads(without_hooks(sent)) == json.loads(without_hooks(started)) == json.loads(text)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ('"allowedHttpHookUrls": []', ["allowedHttpHookUrls"]),
        ('"allowedHttpHookUrls": ["https://*"]', ["allowedHttpHookUrls"]),
        ('"allowedHttpHookUrls": ["http://127.0.0.1:7780"]', []),
        ('"allowedHttpHookUrls": ["http://127.0.0.1:7780/"]', []),
        ('"allowedHttpHookUrls": ["http://127.0.0.1:778"]', ["allowedHttpHookUrls"]),
        ('"allowedHttpHookUrls": ["http://127.0.0.1:*/hooks/*"]', []),
        ('"httpHookAllowedEnvVars": ["OTHER"]', ["httpHookAllowedEnvVars"]),
        ('"httpHookAllowedEnvVars": ["CRABHOOK_TOKEN"]', []),
        ('"disableAllHooks": true', ["disableAllHooks"]),
    ],
)
def test_settings_that_keep_hooks_from_being_sent_are_named(setting: str, said: list[str]) -> None:
    text = "{" + setting + "}"
    assert [one.split()[0] for one in switches(with_hooks(text, entries()))] == said
    started = with_hooks(text, groups(Installation(PYTHON, STUB)))
    assert not any("Http" in one for one in switches(started))
