"""Of the hooks that may change a call after the operator, those that run for it are named."""

import json
from pathlib import Path

import pytest

from crabhook.cli.serve.other_hooks import NAMED, OtherHooks
from crabhook.model.card import Stance
from crabhook.model.event import Event, ToolCall
from crabhook.platforms.claude.settings import groups
from crabhook.platforms.installation import Installation

SAYS = "another hook may change this call after you: "


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home" / ".claude").mkdir(parents=True)
    return tmp_path / "home"


def calling(tool: str = "Bash", platform: str = "claude") -> Event:
    name = {"gemini": "BeforeTool"}.get(platform, "PreToolUse")
    return Event(platform, name, session="s", tool=ToolCall(tool, {}))


def put(path: Path, *hooks: tuple[str, str, str | None]) -> Path:
    """Write settings with hooks: an event, a command, a matcher."""
    there: dict[str, list[object]] = {}
    for event, command, matcher in hooks:
        group: dict[str, object] = {"hooks": [{"type": "command", "command": command}]}
        there.setdefault(event, []).append(group | ({"matcher": matcher} if matcher else {}))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"hooks": there}))
    return path


def known(home: Path) -> OtherHooks:
    others = OtherHooks({"HOME": str(home)})
    others.begin()
    return others


def test_a_card_is_warned_of_another_hook_that_runs_for_its_call(
    home: Path, tmp_path: Path
) -> None:
    path = put(home / ".claude" / "settings.json", ("PreToolUse", "/opt/rewriter", "Edit|Bash"))
    warn = known(home).at(tmp_path / "app")
    assert warn(calling()) == (f"{SAYS}/opt/rewriter ({path})",)
    assert warn(calling("Read")) == ()
    assert warn(calling(platform="gemini")) == ()
    assert warn(Event("claude", "Stop", session="s")) == ()


def test_a_projects_hooks_count_in_that_project_alone(home: Path, tmp_path: Path) -> None:
    put(tmp_path / "app" / ".claude" / "settings.json", ("PreToolUse", "/opt/rewriter", None))
    others = known(home)
    assert others.at(tmp_path / "app")(calling())
    assert others.at(tmp_path / "other")(calling()) == ()


def test_several_are_one_line_with_their_number(home: Path, tmp_path: Path) -> None:
    long = "/opt/" + "x" * 500
    path = put(home / ".claude" / "settings.json", *[("PreToolUse", long, None)] * 3)
    (line,) = known(home).at(tmp_path)(calling())
    assert line == f"{SAYS}{long[:NAMED]} ({path}) and 2 more"


def test_our_own_hooks_and_those_that_decide_nothing_are_not_named(
    home: Path, tmp_path: Path
) -> None:
    ours = groups(Installation("/usr/bin/python3", "/x/crabhook/hook/run.py", Stance.GATE))
    watching = {"hooks": [{"type": "command", "command": "/opt/logger"}]}
    settings = {"hooks": {name: [group] for name, group in ours.items()}}
    settings["hooks"].setdefault("PostToolUse", []).append(watching)  # type: ignore[arg-type]
    (home / ".claude" / "settings.json").write_text(json.dumps(settings))
    assert known(home).at(tmp_path)(calling()) == ()


def test_a_change_of_the_settings_counts_from_the_next_look_on(home: Path, tmp_path: Path) -> None:
    others, path = known(home), home / ".claude" / "settings.json"
    assert others.at(tmp_path)(calling()) == ()
    put(path, ("PreToolUse", "/opt/rewriter", None))
    assert others.at(tmp_path)(calling())
    path.write_text("{}")
    assert others.at(tmp_path)(calling()) == ()
    path.unlink()
    assert others.at(tmp_path)(calling()) == ()


@pytest.mark.parametrize("content", ["nonsense", "[]", '{"hooks": 3}'])
def test_settings_that_cannot_be_read_warn_of_nothing(
    home: Path, tmp_path: Path, content: str
) -> None:
    (home / ".claude" / "settings.json").write_text(content)
    assert known(home).at(tmp_path)(calling()) == ()


@pytest.mark.parametrize(
    ("matcher", "warned"),
    [("B.*", True), ("Read.*", False), ("(((x*)*)*)*", True), ("(", False), ("*", True)],
    ids=["regex", "another", "too slow to try", "broken", "all"],
)
def test_a_matcher_is_read_as_the_agent_reads_it(
    home: Path, tmp_path: Path, matcher: str, *, warned: bool
) -> None:
    put(home / ".claude" / "settings.json", ("PreToolUse", "/opt/rewriter", matcher))
    assert bool(known(home).at(tmp_path)(calling())) is warned


def test_before_the_server_listens_nothing_is_read(home: Path, tmp_path: Path) -> None:
    put(home / ".claude" / "settings.json", ("PreToolUse", "/opt/rewriter", None))
    assert OtherHooks({"HOME": str(home)}).at(tmp_path)(calling()) == ()
