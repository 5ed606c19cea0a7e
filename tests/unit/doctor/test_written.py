"""What entries tell of how they were installed is what was asked of the installer."""

import json
from dataclasses import replace

import pytest

from crabhook.doctor.entry import differences, installation
from crabhook.doctor.facts import InspectedSettings, read
from crabhook.install import program
from crabhook.install.entries import with_hooks
from crabhook.model.card import Stance
from crabhook.platforms import HOOKED
from crabhook.platforms.installation import Installation, SettingsScope, StrictHooks
from crabhook.platforms.sending import USUAL_URL, endpoint
from crabhook.server.address import default_address
from tests.unit.doctor.home import Home

REMOTE = {"server": "desk.example:7443", "token_file": "/home/me/a token", "tls_ca": "/ca.pem"}


def made(**how: object) -> Installation:
    return Installation(program.interpreter(), program.stub(), **how)  # type: ignore[arg-type]


STRICT = StrictHooks("/etc/crab hook/team", "ab" * 65, 7, 2, "deny", ("@leads", "ann"))

HOWS = {
    "gate": made(stance=Stance.GATE, server="unix:/a/socket"),
    "companion": made(stance=Stance.COMPANION, server="unix:/a/socket"),
    "fail-closed": made(stance=Stance.GATE, server="unix:/s", fail_closed=True, wait=60),
    "odd path": made(stance=Stance.GATE, server="unix:/a folder/it's;a\"socket"),
    "remote": made(stance=Stance.GATE, **REMOTE),
    "strict": made(stance=Stance.GATE, server="unix:/s", fail_closed=True, strict=STRICT),
    "strict, asking": made(
        stance=Stance.COMPANION, server="unix:/s", strict=replace(STRICT, when_unsigned="ask")
    ),
}


def as_installed(agent: str, how: Installation | None = None) -> str:
    """The text of settings with this installation in it."""
    settings = HOOKED[agent].settings
    return with_hooks("", settings.groups(how or made(stance=Stance.GATE)), settings.own)


def sent(agent: str, how: Installation) -> Installation:
    """The same of an agent whose hooks are a file that is all ours, and are sent."""
    if HOOKED[agent].settings.own is None:
        return how
    url, closed = endpoint(USUAL_URL, agent), how.fail_closed or how.stance is Stance.GATE
    elsewhere = {"server": str(default_address()), "tls_ca": None, "strict": None}
    token = how.token_file or "/home/me/token"
    return replace(how, url=url, fail_closed=closed, token_file=token, **elsewhere)  # type: ignore[arg-type]


def found_in(home: Home, text: str) -> InspectedSettings:
    return read(home.write(home.settings, text), SettingsScope.USER)


@pytest.mark.parametrize(
    ("agent", "how"),
    [
        pytest.param(agent, how, id=f"{agent}, {name}")
        for name, how in HOWS.items()
        for agent, row in HOOKED.items()
        if how.stance in row.settings.stances
    ],
)
def test_what_was_installed_is_read_back_and_nothing_differs(
    home: Home, agent: str, how: Installation
) -> None:
    how = sent(agent, how)
    text = as_installed(agent, how)
    settings = found_in(home, text)
    assert installation(HOOKED[agent], settings.ours) == how
    assert differences(text, settings.ours, HOOKED[agent].settings.groups(how)) == {}


def test_each_difference_is_told_by_its_event(home: Home) -> None:
    document = json.loads(as_installed("claude"))
    hooks = document["hooks"]
    del hooks["Stop"]
    hooks["PreToolUse"][0]["matcher"] = "Bash"
    hooks["WorktreeCreate"] = [{"hooks": hooks["Notification"][0]["hooks"]}]
    hooks["Notification"] *= 2
    text = json.dumps(document)
    ours = found_in(home, text).ours
    wanted = HOOKED["claude"].settings.groups(made(stance=Stance.GATE))
    assert differences(text, ours, wanted) == {
        "Stop": "is missing",
        "WorktreeCreate": "is not hooked any more",
        "PreToolUse": "is written otherwise",
        "Notification": "is written otherwise",
    }


def test_what_others_have_there_is_no_difference(home: Home) -> None:
    document = json.loads(as_installed("claude"))
    document["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "notify-send"}]})
    text = json.dumps({"model": "opus", **document})
    wanted = HOOKED["claude"].settings.groups(made(stance=Stance.GATE))
    assert differences(text, found_in(home, text).ours, wanted) == {}


@pytest.mark.parametrize(("wait", "becomes"), [("3630", 86_400), ("90", 60)])
def test_entries_of_before_get_a_server_and_a_day_where_nobody_chose(
    home: Home, wait: str, becomes: int
) -> None:
    handler = {"type": "command", "command": f"crabhook --companion --wait {wait}"}
    ours = found_in(home, json.dumps({"hooks": {"Stop": [{"hooks": [handler]}]}})).ours
    how = installation(HOOKED["claude"], ours)
    assert (how.server, how.wait) == (str(default_address()), becomes)


def test_entries_by_the_command_are_as_its_defaults_say(home: Home) -> None:
    handler = {"type": "command", "command": "crabhook --companion"}
    ours = found_in(home, json.dumps({"hooks": {"Stop": [{"hooks": [handler]}]}})).ours
    assert installation(HOOKED["claude"], ours) == made(
        stance=Stance.COMPANION, server=str(default_address())
    )
