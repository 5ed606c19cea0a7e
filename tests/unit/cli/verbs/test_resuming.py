"""`crabhook resume` prints a line for a shell, in which an agent's own words can do nothing."""

import shlex
from dataclasses import replace
from typing import Any

import pytest

from crabhook.cli.verbs.resuming import command_line
from crabhook.model.actor import OWNER
from crabhook.model.card import Card, State, TimesAsked
from crabhook.model.decision import Decided, Decision, Verdict
from crabhook.model.errors import CrabhookError
from crabhook.platforms import HOOKED
from tests.support.playbook import asking
from tests.support.rows import every_row

ID = "8f14e45f-ceea-467f-a8e5-0123456789ab"


def card(platform: str = "claude", session: str = ID, **fields: Any) -> Card:
    request = asking("a", "PreToolUse", platform=platform, session=session, **fields)
    return Card(12, (request.leg(""),), 0.0)


def ruled(verdict: Verdict) -> Card:
    made = Decided(Decision(verdict, reason="no"), OWNER)
    return replace(card(), state=State.DECIDED, decided=made, asked=TimesAsked(1, 5.0))


EACH = {
    "claude": ["claude", "--resume", ID],
    "codex": ["codex", "resume", ID],
    "gemini": ["gemini", "--resume", ID, "--prompt-interactive"],
    "qwen": ["qwen", "--resume", ID, "--prompt-interactive"],
    "copilot": ["copilot", f"--resume={ID}", "--interactive"],
    "opencode": ["opencode", "--session", ID, "--prompt"],
}


def test_each_agent_has_its_own_command() -> None:
    assert EACH.keys() == HOOKED.keys()
    for platform, words in EACH.items():
        line = shlex.split(command_line(card(platform)))
        assert line == ["cd", "/p", "&&", *words, "Go on with your work."]


HOSTILE = [
    {"session": "--dangerously-skip-permissions"},
    {"session": "a; rm -rf ~"},
    {"session": "$(id)"},
    {"session": "a\nb"},
    {"session": ""},
    {"session": "a" * 300},
    {"session": "é"},
    {"cwd": "/p\nrm -rf ~"},
    {"cwd": "/p\x1b[2J"},
    {"cwd": "/p\u202e"},
    {"cwd": "-"},
    {"cwd": "p"},
    {"platform": "acp", "session": ID},
]


@every_row("fields", HOSTILE)
def test_what_a_shell_or_the_agent_could_read_otherwise_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(CrabhookError):
        command_line(card(**fields))


@pytest.mark.parametrize("cwd", ["/p'; id; '", "/$(id)", "/a b", '/"`id`"', "/&& id"])
def test_a_folder_is_one_word(cwd: str) -> None:
    assert shlex.split(command_line(card(cwd=cwd)))[:3] == ["cd", cwd, "&&"]


def test_the_agent_reads_first_what_was_decided() -> None:
    assert "allowed #12. Go on: make exactly the same call again" in command_line(
        ruled(Verdict.ALLOW)
    )
    assert "denied #12" in command_line(ruled(Verdict.DENY))
    still_open = replace(card(), asked=TimesAsked(2, 5.0))
    assert "Nobody decided #12 in time" in command_line(still_open)
