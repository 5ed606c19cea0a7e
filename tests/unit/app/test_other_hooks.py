"""Of the hooks that may change a call after the operator, those that run for it are named."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from crabhook.app.other_hooks import NAMED, OtherHooks
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


HOOKS = {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "/opt/p"}]}]}
HERE, ELSEWHERE = "app", "other"


def lay(folder: Path, files: Mapping[str, object]) -> None:
    """Write JSON files; `@` in a text is the folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content).replace("@", str(folder)).replace("#", "@"))


_ON = {"enabledPlugins": {"tidy#shop": True}}
_OFF = {"enabledPlugins": {"tidy#shop": False}}
_LIST = "home/.claude/plugins/installed_plugins.json"
_INSTALLED = {_LIST: {"plugins": {"tidy#shop": [{"installPath": "@/cache/tidy"}]}}}
_SHOPS = "home/.claude/plugins/known_marketplaces.json"
_SHOP = {
    _SHOPS: {"shop": {"source": {"source": "directory"}, "installLocation": "@/shop"}},
    "shop/.claude-plugin/marketplace.json": {"plugins": [{"name": "tidy", "source": "./tidy"}]},
}
_USUAL = {"cache/tidy/hooks/hooks.json": {"hooks": HOOKS}}
_MANIFEST = "cache/tidy/.claude-plugin/plugin.json"
_USER, _PROJECT = "home/.claude/settings.json", "app/.claude/settings.json"
_LOCAL = "app/.claude/settings.local.json"
_SKILL = {"x/.claude-plugin/plugin.json": {"name": "us"}, "x/hooks/hooks.json": {"hooks": HOOKS}}
_GEMINI = {"BeforeTool": [{"matcher": "", "hooks": [{"type": "command", "command": "/opt/g"}]}]}
_X = "home/.gemini/extensions/x/"
_EXTENSION = {f"{_X}gemini-extension.json": {"name": "ext"}, f"{_X}hooks/hooks.json": {}}
_EXTENSION[f"{_X}hooks/hooks.json"] = {"hooks": _GEMINI}
_ENABLED = "home/.gemini/extensions/extension-enablement.json"


def _below(folder: str, files: Mapping[str, object]) -> dict[str, object]:
    return {f"{folder}/{name}": content for name, content in files.items()}


@pytest.mark.parametrize(
    ("files", "projects"),
    [
        (_INSTALLED | _USUAL | {_USER: _ON}, (HERE, ELSEWHERE)),
        (_INSTALLED | _USUAL | {_PROJECT: _ON}, (HERE,)),
        (_INSTALLED | _USUAL | {_USER: _ON, _LOCAL: _OFF}, (ELSEWHERE,)),
        (_INSTALLED | _USUAL | {_USER: {"enabledPlugins": {"tidy#shop": ["1"]}}}, ()),
        (_INSTALLED | _USUAL, ()),
        (_USUAL | {_USER: _ON}, ()),
        (_SHOP | {"shop/tidy/hooks/hooks.json": {"hooks": HOOKS}, _USER: _ON}, (HERE, ELSEWHERE)),
        (_SHOP | _INSTALLED | _USUAL | {_USER: _ON}, ()),  # the folder is what runs
        (_INSTALLED | {_MANIFEST: {"hooks": HOOKS}, _USER: _ON}, (HERE, ELSEWHERE)),
        (
            _INSTALLED
            | {_MANIFEST: {"hooks": ["./m.json"]}, "cache/tidy/m.json": {"hooks": HOOKS}}
            | {_USER: _ON},
            (HERE, ELSEWHERE),
        ),
        (_below("home/.claude/skills", _SKILL), (HERE, ELSEWHERE)),
        (_below("app/.claude/skills", _SKILL), (HERE,)),
        (
            _below("app/.claude/skills", _SKILL)
            | {_LOCAL: {"enabledPlugins": {"us#skills-dir": False}}},
            (),
        ),
        ({_LIST: {"plugins": {"tidy#shop": [{"installPath": "a\0"}, 3]}}, _USER: _ON}, ()),
        (_EXTENSION, (HERE, ELSEWHERE)),
        (_EXTENSION | {_ENABLED: {"ext": {"overrides": ["!@/app/*"]}}}, (ELSEWHERE,)),
        (_EXTENSION | {_ENABLED: {"ext": {"overrides": ["!@/*", "@/app/"]}}}, (HERE,)),
        (
            {
                f"{_X}.gemini-extension-install.json": {"type": "link", "source": "@/mine"},
                "mine/gemini-extension.json": {"name": "ext"},
                "mine/hooks/hooks.json": {"hooks": _GEMINI},
            },
            (HERE, ELSEWHERE),
        ),
    ],
    ids=lambda value: "-".join(value)[:200].replace("/", ".") if value else "none",
)
def test_a_card_is_warned_of_the_hooks_that_plugins_and_extensions_bring(
    home: Path, tmp_path: Path, files: Mapping[str, object], projects: Sequence[str]
) -> None:
    lay(tmp_path, files)
    others, asked = known(home), [calling(), calling("run_shell_command", "gemini")]
    found = [one for one in (HERE, ELSEWHERE) if any(map(others.at(tmp_path / one), asked))]
    assert found == list(projects)


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


@pytest.mark.parametrize(
    "file", [{"modules": ["hooks/guard.tsx"]}, {"modules": ["hooks/guard.tsx"], "hooks": HOOKS}]
)
@pytest.mark.parametrize("path", ["cache/tidy/hooks/hooks.json", _MANIFEST])
def test_a_card_is_warned_of_the_code_that_a_plugin_has_its_agent_load(
    home: Path, tmp_path: Path, file: Mapping[str, object], path: str
) -> None:
    """Such a module changes a call with no hook at all, whatever the tool."""
    content = {"hooks": file} if path == _MANIFEST else file
    lay(tmp_path, _INSTALLED | {path: content, _USER: _ON})
    (told,) = known(home).at(tmp_path / HERE)(calling("Read"))
    assert "the module hooks/guard.tsx" in told


@pytest.mark.parametrize("by", ["environment", "settings"])
def test_a_card_is_warned_of_plugins_that_a_variable_names(
    home: Path, tmp_path: Path, by: str
) -> None:
    folder = tmp_path / "brought"
    lay(tmp_path, {"brought/hooks/hooks.json": {"modules": ["guard.tsx"]}})
    named = {"CLAUDE_CODE_PLUGIN_DIRS": f"/nowhere{os.pathsep}{folder}"}
    if by == "settings":
        project = tmp_path / HERE / ".claude" / "settings.json"
        project.parent.mkdir(parents=True)
        project.write_text(json.dumps({"env": named}), encoding="utf-8")
    others = OtherHooks({"HOME": str(home)} | (named if by == "environment" else {}))
    others.begin()
    (told,) = others.at(tmp_path / HERE)(calling("Read"))
    assert "the module guard.tsx" in told


def test_no_hook_changes_a_line_of_a_skill(home: Path, tmp_path: Path) -> None:
    """With any changed input Claude Code does not run it."""
    put(
        home / ".claude" / "settings.json",
        ("PreToolUse", "/opt/x", None),
        ("PreSkillShellCommand", "/opt/y", None),
    )
    warn = known(home).at(tmp_path)
    assert warn(Event("claude", "PreSkillShellCommand", tool=ToolCall("Bash", {}))) == ()
    (told,) = warn(calling())
    assert "/opt/y" not in told
