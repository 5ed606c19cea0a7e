"""Whether our hooks take effect: no switch, no other hook, and themselves but once."""

import json
from dataclasses import replace
from typing import Any

import pytest

from crabhook.doctor.checks.installed import alone, environment, switched_on
from crabhook.doctor.facts import read
from crabhook.doctor.finding import Status
from tests.unit.doctor.home import Home, is_well, typist

GROUP = {"hooks": [{"type": "command", "command": "/usr/bin/rewriter --all"}]}


def test_where_nothing_is_hooked_there_is_nothing_to_say(home: Home) -> None:
    assert [*switched_on(home.case()), *alone(home.case())] == []


@pytest.mark.process
@pytest.mark.parametrize("scope", ["settings.json", "../project/.claude/settings.local.json"])
def test_a_switch_in_any_file_is_a_fault_that_editing_mends(home: Home, scope: str) -> None:
    home.install("--gate")
    path = home.settings.parent / scope
    before = path.read_text() if path.exists() else "{}"
    home.write(path, {**json.loads(before), "disableAllHooks": True})
    finding = home.look(switched_on)
    assert (finding.status, "disableAllHooks" in finding.what) == (Status.FAULT, True)
    home.mend(finding, editor=typist(home.folder, before))
    assert is_well(home.look(switched_on))


@pytest.mark.process
@pytest.mark.parametrize("scope", ["settings.json", "../project/.claude/settings.json"])
@pytest.mark.parametrize("name", ["CRABHOOK_SERVER", "XDG_RUNTIME_DIR", "LD_PRELOAD"])
def test_what_any_settings_put_into_the_hooks_environment_is_told(
    home: Home, scope: str, name: str
) -> None:
    home.install("--gate")
    assert is_well(home.look(environment))
    path = home.settings.parent / scope
    before = path.read_text() if path.exists() else "{}"
    home.write(path, {**json.loads(before), "env": {"NODE_ENV": "test", name: "/x"}})
    finding = home.look(environment)
    assert finding.status is Status.WARNING
    assert finding.what.startswith(f"{path.resolve()}: env sets {name}: ")
    home.mend(finding, editor=typist(home.folder, before))
    assert is_well(home.look(environment))


@pytest.mark.parametrize("name", ["PATH", "PYTHONPATH", "PYTHONHOME", "BASH_ENV", "ENV"])
def test_a_variable_that_has_no_say_in_an_installed_hook_is_named_and_no_trouble(
    home: Home, name: str
) -> None:
    home.install("--gate")
    home.change(lambda it: it.update(env={name: "/x"}))
    finding = home.look(environment)
    assert is_well(finding)
    assert f"{name} there has no say" in finding.what


@pytest.mark.parametrize(
    ("handler", "names"),
    [
        ({"command": "crabhook --companion"}, ["PATH", "PYTHONPATH", "BASH_ENV", "ENV"]),
        ({"command": "crabhook", "args": ["--companion"]}, ["PATH", "PYTHONPATH"]),
        ({"command": "/opt/bin/crabhook", "args": []}, ["PYTHONPATH"]),
        ({"command": "/usr/bin/python3 -I /x/crabhook/hook/run.py"}, ["BASH_ENV", "ENV"]),
        ({"command": "/usr/bin/python3", "args": ["/x/crabhook/hook/run.py"]}, ["PYTHONPATH"]),
    ],
)
def test_a_hook_that_starts_otherwise_is_moved_by_what_reaches_it(
    home: Home, handler: dict[str, Any], names: list[str]
) -> None:
    groups = [{"hooks": [{"type": "command", **handler}]}]
    variables = dict.fromkeys(("PATH", "PYTHONPATH", "BASH_ENV", "ENV", "NODE_ENV"), "/x")
    home.write(home.settings, {"hooks": {"PreToolUse": groups}, "env": variables})
    found = list(environment(home.case()))
    assert [finding.what.partition("env sets ")[2].partition(":")[0] for finding in found] == names
    assert all(finding.status is Status.WARNING for finding in found)


def test_a_switch_of_the_machine_s_own_settings_counts(home: Home) -> None:
    home.install("--gate")
    above = home.write(home.folder / "managed.json", {"allowManagedHooksOnly": True})
    case = home.case()
    (finding,) = switched_on(replace(case, settings=(*case.settings, read(above, None))))
    assert (finding.status, str(above) in finding.what) == (Status.FAULT, True)


@pytest.mark.process
@pytest.mark.parametrize(
    ("agent", "file", "text"),
    [
        ("gemini", ".gemini/settings.json", '"hooksConfig": {"enabled": false}'),
        ("gemini", ".gemini/settings.json", '"hooksConfig": {"disabled": ["crabhook"]}'),
    ],
)
def test_other_agents_switches_are_known(home: Home, agent: str, file: str, text: str) -> None:
    home.install(agent=agent)
    path = home.folder / file
    before = path.read_text()
    path.write_text(before.replace("{", "{" + text + ",", 1))
    (finding,) = switched_on(home.case(agent))
    assert finding.status is Status.FAULT
    home.mend(finding, editor=typist(home.folder, before))
    assert is_well(next(switched_on(home.case(agent))))


@pytest.mark.process
@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("[features]\nhooks = false\n", Status.FAULT),
        ('approval_policy = "never"\n', Status.WARNING),
        ("[[hooks.Stop]]\n", Status.WARNING),
        ("not toml", Status.WARNING),
    ],
)
def test_what_codex_keeps_beside_its_hooks_is_looked_at(
    home: Home, text: str, status: Status
) -> None:
    home.install("--gate", agent="codex")
    home.write(home.folder / ".codex" / "config.toml", text)
    (finding,) = switched_on(home.case("codex"))
    assert finding.status is status
    home.mend(finding, editor=typist(home.folder, ""))
    assert is_well(next(switched_on(home.case("codex"))))


@pytest.mark.process
def test_a_hook_that_could_change_the_same_input_is_warned_of(home: Home) -> None:
    home.install("--gate")
    before = home.settings.read_text()
    home.change(lambda it: it["hooks"]["PreToolUse"].append(GROUP))
    finding = home.look(alone)
    assert (finding.status, finding.what.count("rewriter")) == (Status.WARNING, 1)
    assert "undo what the operator changed" in finding.means
    home.mend(finding, editor=typist(home.folder, before))
    assert is_well(home.look(alone))


@pytest.mark.parametrize(
    ("agent", "folder", "manifest", "mend"),
    [
        (
            "claude",
            "project/.claude/skills/x",
            ".claude-plugin/plugin.json",
            "claude plugin disable us@skills-dir",
        ),
        (
            "gemini",
            ".gemini/extensions/x",
            "gemini-extension.json",
            "gemini extensions disable us",
        ),
    ],
)
def test_a_plugins_hook_that_could_change_the_same_input_is_warned_of(
    home: Home, agent: str, folder: str, manifest: str, mend: str
) -> None:
    event = {"claude": "PreToolUse", "gemini": "BeforeTool"}[agent]
    home.install("--gate", agent=agent)
    root = home.folder / folder
    home.write(root / manifest, {"name": "us"})
    path = home.write(root / "hooks" / "hooks.json", {"hooks": {event: [GROUP]}})
    (finding,) = alone(home.case(agent))
    assert finding.status is Status.WARNING
    assert (str(path) in finding.what, "rewriter" in finding.what) == (True, True)
    assert finding.mend == mend


def test_what_a_plugins_files_say_beside_hooks_is_no_setting(home: Home) -> None:
    home.install("--gate")
    root = home.project / ".claude" / "skills" / "x"
    home.write(root / ".claude-plugin" / "plugin.json", {"name": "us"})
    others = {"disableAllHooks": True, "env": {"CRABHOOK_SERVER": "unix:/x"}}
    home.write(root / "hooks" / "hooks.json", {"hooks": {}} | others)
    home.write(root / "settings.json", others)
    assert [is_well(home.look(look)) for look in (switched_on, environment, alone)] == [True] * 3


@pytest.mark.parametrize("event", ["Stop", "PostToolUse"])
def test_a_hook_where_nothing_is_decided_is_no_matter(home: Home, event: str) -> None:
    home.install("--gate")
    home.change(lambda it: it["hooks"][event].append(GROUP))
    assert is_well(home.look(alone))


def test_our_own_supervisor_is_no_foreigner(home: Home) -> None:
    home.install("--gate")
    handler = {"type": "command", "command": "crabhook supervisor-hook"}
    home.change(lambda it: it["hooks"]["PreToolUse"].append({"hooks": [handler]}))
    assert is_well(home.look(alone))


@pytest.mark.process
def test_hooks_that_differ_in_two_files_both_run_and_uninstalling_mends(home: Home) -> None:
    home.install("--gate")
    home.install("--companion", "--scope", "project")
    finding = home.look(alone)
    assert (finding.status, "both hooks run" in finding.means) == (Status.WARNING, True)
    home.mend(finding)
    assert is_well(home.look(alone))
    assert home.settings.exists()


def test_the_same_hooks_in_two_files_run_once_where_the_agent_sees_to_it(home: Home) -> None:
    for agent, once in (("claude", True), ("gemini", False)):
        home.install(agent=agent)
        home.install("--scope", "project", agent=agent)
        (finding,) = alone(home.case(agent))
        assert is_well(finding) is once


def test_many_foreign_hooks_are_counted(home: Home) -> None:
    home.install("--gate")

    def add(settings: dict[str, Any]) -> None:
        settings["hooks"]["PreToolUse"] += [GROUP] * 9

    home.change(add)
    assert "and 5 more" in home.look(alone).what


def test_a_plugin_in_a_configuration_with_comments_is_found(home: Home) -> None:
    home.install("--gate", agent="opencode")
    home.write(home.project / "opencode.jsonc", '{"plugin": ["theirs",], // mine\n}')
    (finding,) = alone(home.case("opencode"))
    assert (finding.status, "loads into itself: theirs" in finding.what) == (Status.WARNING, True)


def test_a_plugins_module_is_said_to_do_more_than_a_hook_can(home: Home) -> None:
    home.install("--gate")
    root = home.project / ".claude" / "skills" / "x"
    home.write(root / ".claude-plugin" / "plugin.json", {"name": "us"})
    home.write(root / "hooks" / "hooks.json", {"modules": ["hooks/guard.tsx"]})
    (finding,) = alone(home.case("claude"))
    assert (finding.status, "hooks/guard.tsx" in finding.what) == (Status.WARNING, True)
    assert "loads into itself" in finding.what
    assert "allow, refuse or change any call" in finding.means
