"""Installing and uninstalling as functions from text to text."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.install.entries import count, with_hooks, without_hooks
from crabhook.model.card import Stance
from crabhook.model.errors import InstallError
from crabhook.model.json_source import Json, parse
from crabhook.platforms.claude.settings import groups, overridden, switches
from crabhook.platforms.installation import Group, Installation, SettingsScope
from tests.support.examples import examples

PYTHON, STUB = "/opt/venv/bin/python", "/opt/venv/lib/crabhook/hook/run.py"
COMPANION = groups(Installation(PYTHON, STUB))
GATE = groups(Installation(PYTHON, STUB, stance=Stance.GATE, fail_closed=True, wait=60))
OLDER = groups(Installation("/old/python", "/old/crabhook/hook/run.py", server="old:1"))


def few(entries: dict[str, Group]) -> dict[str, Group]:
    """Enough events for every case, and few enough for many examples."""
    return {
        event: entries[event]
        for event in entries
        if event in {"PreToolUse", "PermissionRequest", "Stop", "SessionEnd"}
    }


# --- settings of any content and look, as text ---

literals = st.sampled_from(
    ["0", "-0", "1.0", "1e400", "12345678901234567890", "0.10", "-3E-7", "true", "false", "null"]
)
blanks = st.sampled_from(["", " ", "\n", "\n  ", "\r\n\t", " \n    "])
words = st.text(max_size=5)


@st.composite
def strings(draw: st.DrawFn) -> str:
    return json.dumps(draw(words), ensure_ascii=draw(st.booleans()))


@st.composite
def lists_of(draw: st.DrawFn, items: st.SearchStrategy[str]) -> str:
    return _container(draw, "[]", draw(st.lists(items, max_size=3)))


@st.composite
def objects_of(
    draw: st.DrawFn, members: dict[str, st.SearchStrategy[str]], others: st.SearchStrategy[str]
) -> str:
    chosen = {k: draw(v) for k, v in members.items() if draw(st.booleans())}
    more = draw(st.dictionaries(words.filter(lambda key: key not in members), others, max_size=3))
    pairs = draw(st.permutations([*chosen.items(), *more.items()]))
    colon = draw(st.sampled_from([":", ": ", " : "]))
    return _container(draw, "{}", [f"{json.dumps(k)}{colon}{v}" for k, v in pairs])


def _container(draw: st.DrawFn, brackets: str, items: list[str]) -> str:
    gap, end = draw(blanks), draw(blanks)
    return brackets[0] + ",".join(gap + item for item in items) + end + brackets[1]


anything = st.recursive(
    literals | strings(), lambda inner: lists_of(inner) | objects_of({}, inner), max_leaves=5
)


@st.composite
def others_groups(draw: st.DrawFn) -> str:
    handler = objects_of(
        {"type": st.just('"command"'), "command": st.just('"/bin/theirs"'), "timeout": literals},
        anything,
    )
    handlers = draw(lists_of(handler))
    rest = draw(
        objects_of({"matcher": strings()}, anything).filter(
            lambda text: "hooks" not in json.loads(text)
        )
    )
    inside = rest[1:-1].strip()
    return f'{{"hooks": {handlers}{"," if inside else ""}{inside}}}'


events = dict.fromkeys(
    ["PreToolUse", "PermissionRequest", "Stop", "SessionEnd", "WorktreeCreate"],
    lists_of(others_groups()),
)
settings = objects_of({"hooks": objects_of(events, lists_of(others_groups()))}, anything)


def meaning(text: str) -> Json:
    return parse(text).value


def as_the_agent_reads_it(text: str) -> Json:
    """The meaning; events without groups, and hooks without events, say nothing."""
    value = meaning(text)
    assert isinstance(value, dict)
    hooks = value.get("hooks")
    if isinstance(hooks, dict):
        value = {**value, "hooks": {event: groups_ for event, groups_ in hooks.items() if groups_}}
    return value if value.get("hooks") else {k: v for k, v in value.items() if k != "hooks"}


@examples(40)
@given(settings, st.sampled_from([few(COMPANION), few(GATE)]))
def test_uninstall_after_install_gives_the_settings_back(text: str, entries: Any) -> None:
    back = without_hooks(with_hooks(text, entries))
    assert as_the_agent_reads_it(back) == as_the_agent_reads_it(text)
    if as_the_agent_reads_it(text) == meaning(text):
        order = [key for key, _ in json.loads(text, object_pairs_hook=list)]
        assert [key for key, _ in json.loads(back, object_pairs_hook=list)] == order
        assert meaning(back) == meaning(text)


@examples(40)
@given(settings, st.sampled_from([few(COMPANION), few(GATE)]))
def test_installing_twice_is_installing_once(text: str, entries: Any) -> None:
    once = with_hooks(text, entries)
    assert with_hooks(once, entries) == once


@examples(40)
@given(settings)
def test_an_older_installation_is_replaced_whatever_its_options(text: str) -> None:
    expected = meaning(with_hooks(text, few(COMPANION)))
    assert meaning(with_hooks(with_hooks(text, few(OLDER)), few(COMPANION))) == expected
    over_the_gate = with_hooks(with_hooks(text, few(GATE)), few(COMPANION))
    assert as_the_agent_reads_it(over_the_gate) == as_the_agent_reads_it(
        with_hooks(text, few(COMPANION))
    )


@examples(40)
@given(settings, st.sampled_from([few(COMPANION), few(GATE)]))
def test_everybody_elses_entries_stay_in_place(text: str, entries: Any) -> None:
    before, after = meaning(text), meaning(with_hooks(text, entries))
    assert isinstance(before, dict)
    assert isinstance(after, dict)
    assert {k: v for k, v in after.items() if k != "hooks"} == {
        k: v for k, v in before.items() if k != "hooks"
    }
    theirs: Any = before.get("hooks", {})
    found: Any = after["hooks"]
    for event in theirs:
        ours = [meaning(json.dumps(entries[event]))] if event in entries else []
        assert found[event] == theirs[event] + ours
    assert set(found) == set(theirs) | set(entries)


# --- the same, by example ---

TYPICAL = """{
    "model": "opus",
    "note": "déjà vu \\u00e9 \\ud83d",
    "limits": [1.0, 1e400, 12345678901234567890],
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
        "PreToolUse": [
            {
                "matcher": "Bash",
                "hooks": [{"type": "command", "command": "/bin/guard"}]
            }
        ]
    },
    "permissions": { "allow": ["Bash(ls *)"] }
}
"""


@pytest.mark.parametrize(
    "text",
    [
        TYPICAL,
        TYPICAL.replace("\n", "\r\n"),
        TYPICAL.replace("    ", "\t"),
        TYPICAL.rstrip("\n"),
        "\ufeff" + TYPICAL,
        json.dumps(json.loads('{"a": 1, "hooks": {"X": [{"hooks": []}]}}')),
        "{}",
        '{\n  "a": 1\n}\n',
    ],
)
def test_uninstall_after_install_gives_the_very_bytes_back(text: str) -> None:
    installed = with_hooks(text, COMPANION)
    assert installed != text
    assert without_hooks(installed) == text


def test_the_text_around_the_hooks_is_untouched() -> None:
    installed = with_hooks(TYPICAL, GATE)
    assert installed.startswith(TYPICAL[: TYPICAL.index('"hooks"')])
    assert installed.endswith(TYPICAL[TYPICAL.index('"permissions"') :])


@pytest.mark.parametrize("text", ["", " \n", "\ufeff", "\ufeff\n"])
def test_a_blank_file_counts_as_no_settings(text: str) -> None:
    assert json.loads(with_hooks(text, GATE)) == {
        "hooks": {event: [group] for event, group in GATE.items()}
    }
    assert without_hooks(text) == text


def test_a_handler_that_shares_a_group_with_ours_stays_in_it() -> None:
    text = json.dumps(
        {
            "hooks": {
                "Stop": [
                    {
                        "matcher": "",
                        "hooks": [
                            {"type": "command", "command": "one"},
                            {"type": "command", "command": "crabhook"},
                            {"type": "command", "command": "two"},
                            {"type": "command", "command": "/x/bin/crabhook --old"},
                        ],
                    },
                    {"hooks": []},
                ]
            }
        }
    )
    kept = [{"type": "command", "command": "one"}, {"type": "command", "command": "two"}]
    assert json.loads(without_hooks(text)) == {
        "hooks": {"Stop": [{"matcher": "", "hooks": kept}, {"hooks": []}]}
    }


def test_what_was_empty_before_and_is_not_ours_stays_empty() -> None:
    text = with_hooks('{"hooks": {"WorktreeCreate": [], "Stop": [{"hooks": []}]}}', GATE)
    assert json.loads(without_hooks(text)) == {
        "hooks": {"WorktreeCreate": [], "Stop": [{"hooks": []}]}
    }


def test_an_entry_added_behind_ours_does_not_move_ours() -> None:
    value = json.loads(with_hooks("{}", GATE))
    value["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "late"}]})
    text = json.dumps(value, indent=2)
    assert with_hooks(text, GATE) == text


def test_a_second_copy_of_our_entry_is_taken_out() -> None:
    value = json.loads(with_hooks("{}", GATE))
    value["hooks"]["Stop"] *= 3
    assert json.loads(with_hooks(json.dumps(value), GATE)) == json.loads(with_hooks("{}", GATE))


def test_hooks_that_were_first_stay_first_when_the_options_change() -> None:
    text = with_hooks("{}\n", COMPANION).replace("\n}\n", ',\n  "z": 1\n}\n')
    assert list(json.loads(with_hooks(text, GATE))) == ["hooks", "z"]


@pytest.mark.parametrize(
    "bad", ["{", '{"a": 1,}', '{"a": 1, "a": 2}', "[]", '{"hooks": 1}', '{"hooks": {"Stop": 1}}']
)
def test_what_cannot_be_understood_is_refused_by_both(bad: str) -> None:
    with pytest.raises(InstallError):
        with_hooks(bad, GATE)
    with pytest.raises(InstallError):
        without_hooks(bad)


@pytest.mark.parametrize("text", ["", "{}", TYPICAL])
def test_count_tells_how_many_events_are_ours(text: str) -> None:
    assert count(text) == 0
    assert count(with_hooks(text, GATE)) == len(GATE)


@pytest.mark.parametrize("key", ["disableAllHooks", "allowManagedHooksOnly"])
def test_a_switch_that_stops_our_hooks_is_named(key: str) -> None:
    assert [key in said for said in switches(f'{{"{key}": true}}')] == [True]
    assert list(switches(f'{{"{key}": false}}')) == []
    assert list(switches("")) == []


@pytest.mark.parametrize(
    ("scope", "switch", "runs"),
    [
        (SettingsScope.USER, "disableAllHooks", True),
        (SettingsScope.PROJECT, "disableAllHooks", True),
        (SettingsScope.MANAGED, "disableAllHooks", False),
        (SettingsScope.MANAGED, "allowManagedHooksOnly", True),
        (SettingsScope.USER, "allowedHttpHookUrls", False),
    ],
)
def test_managed_hooks_run_whatever_others_settings_switch_off(
    scope: SettingsScope, switch: str, runs: bool
) -> None:
    assert overridden(scope, f"{switch} is true in this file: …") is runs
