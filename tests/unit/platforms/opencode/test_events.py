"""What our plugin's recorded inputs are read as, what waits, and what they can be told."""

from pathlib import Path
from typing import Any

import pytest

from crabhook.install.entries import count, own_file, with_hooks, without_hooks
from crabhook.model.card import Stance
from crabhook.model.decision import Beside, Decision, Verdict
from crabhook.model.errors import DecisionError, InstallError
from crabhook.model.event import Event
from crabhook.model.question import Answer, merge_answers
from crabhook.platforms import PLATFORMS
from crabhook.platforms.event_table import Held
from crabhook.platforms.installation import Around, Installation, SettingsScope
from crabhook.platforms.opencode.settings import (
    brought,
    exposed,
    groups,
    plugin,
    settings_path,
    troubles,
)
from tests.support.client import sample

OPENCODE = PLATFORMS["opencode"]
SAMPLES = sorted(
    path.stem for path in (Path(__file__).parents[3] / "samples" / "opencode").glob("*.json")
)
REQUESTS = [name for name in SAMPLES if name.startswith("permission.asked")]


def read(name: str, **changes: Any) -> Event:
    return OPENCODE.read(sample(name, agent="opencode", **changes))


@pytest.mark.parametrize(
    ("name", "companion", "gate"),
    [
        ("tool.execute.before-bash", Held.BY_RULE, Held.ALWAYS),
        ("tool.execute.before-question", Held.BY_RULE, Held.BY_RULE),
        ("permission.asked-bash", Held.ALWAYS, Held.ALWAYS),
        ("question.asked-question", Held.ALWAYS, Held.ALWAYS),
        ("tool.execute.after-bash", Held.ON_REQUEST, Held.ON_REQUEST),
        ("session.idle", Held.NEVER, Held.NEVER),
    ],
)
def test_what_waits(name: str, companion: Held, gate: Held) -> None:
    event = read(name)
    assert OPENCODE.held(event, Stance.COMPANION) is companion
    assert OPENCODE.held(event, Stance.GATE) is gate


def test_all_events_of_a_call_have_its_id_and_input() -> None:
    legs = [
        read(f"{name}-bash")
        for name in ("tool.execute.before", "permission.asked", "tool.execute.after")
    ]
    assert legs[0].tool == legs[1].tool == legs[2].tool


def test_a_subagents_prompt_is_no_persons() -> None:
    assert OPENCODE.by_person(read("chat.message"))
    assert not OPENCODE.by_person(read("chat.message", agent_id="ses_2"))


@pytest.mark.parametrize(
    ("reply", "words"),
    [("once", "once"), ("always", "for good"), ("reject", "rejected"), ("new", "answered")],
)
def test_an_answer_at_the_agent_says_which_it_was(reply: str, words: str) -> None:
    assert words in OPENCODE.outcome(read("permission.replied-reject", reply=reply))


@pytest.mark.parametrize(
    ("name", "verdicts", "beside"),
    [
        (
            "tool.execute.before-bash",
            {Verdict.ALLOW, Verdict.DENY, Verdict.PASS},
            Beside.NOTE | Beside.INPUT | Beside.RULE,
        ),
        (
            "permission.asked-bash",
            {Verdict.ALLOW, Verdict.DENY, Verdict.ASK, Verdict.PASS},
            Beside.NOTE | Beside.RULE,
        ),
        (
            "question.asked-question",
            {Verdict.ALLOW, Verdict.DENY, Verdict.ASK, Verdict.PASS},
            Beside.INPUT,
        ),
        ("tool.execute.after-bash", {Verdict.ALLOW, Verdict.PASS}, Beside.NOTE),
    ],
)
def test_only_what_works_is_offered(name: str, verdicts: set[Verdict], beside: Beside) -> None:
    offered = OPENCODE.choices(read(name))
    assert offered.verdicts == verdicts
    assert offered.beside == beside


def test_after_no_opinion_a_call_may_run_and_a_request_has_its_dialog() -> None:
    assert Verdict.PASS in OPENCODE.choices(read("tool.execute.before-bash")).runs
    assert not OPENCODE.choices(read("permission.asked-bash")).runs


@pytest.mark.parametrize(
    ("name", "decision", "written"),
    [
        ("tool.execute.before-bash", Decision(Verdict.ALLOW), {"decision": "allow"}),
        (
            "tool.execute.before-bash",
            Decision(Verdict.ALLOW, updated_input={"command": "ls"}),
            {"decision": "allow", "input": {"command": "ls"}},
        ),
        (
            "tool.execute.before-bash",
            Decision(Verdict.DENY, "no"),
            {"decision": "deny", "reason": "no"},
        ),
        ("permission.asked-bash", Decision(Verdict.ALLOW), {"reply": "once"}),
        (
            "permission.asked-bash",
            Decision(Verdict.DENY, "no"),
            {"reply": "reject", "message": "no"},
        ),
        ("tool.execute.after-bash", Decision(Verdict.ALLOW, note="look"), {"note": "look"}),
    ],
)
def test_a_decision_in_the_plugins_words(name: str, decision: Decision, written: object) -> None:
    event = read(name)
    OPENCODE.check(event, decision)
    assert OPENCODE.write(event, decision).output == written


# "always" would allow what nobody has seen, and a rejection without words ends the turn.


@pytest.mark.parametrize("reason", ["no", "", " \n"])
@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_is_told_once_or_a_rejection_with_words(name: str, reason: str) -> None:
    event = read(name)
    for verdict in Verdict:
        output = OPENCODE.write(event, Decision(verdict, reason)).output or {}
        assert output.get("reply") in (None, "once", "reject")
        assert output.get("reply") != "reject" or str(output["message"]).strip()
        assert (output.get("reply") == "once") == (verdict is Verdict.ALLOW)


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_is_not_allowed_with_another_input(name: str) -> None:
    event, decision = read(name), Decision(Verdict.ALLOW, updated_input={"command": "rm -rf /"})
    with pytest.raises(DecisionError):
        OPENCODE.check(event, decision)
    assert OPENCODE.write(event, decision).output is None


# Questions.

ASKED = [
    {"question": "Which?", "options": [{"label": "Red"}, {"label": "Blue"}]},
    {
        "question": "Steps?",
        "multiple": True,
        "options": [{"label": "Lint"}, {"label": "Test, all"}],
    },
]


def answered(*answers: Answer) -> Decision:
    event = read("question.asked-question", tool_input={"questions": ASKED})
    assert event.tool is not None
    updated = merge_answers(event.tool.input, dict(enumerate(answers)))
    decision = Decision(Verdict.ALLOW, updated_input=updated)
    OPENCODE.check(event, decision)
    return decision


@pytest.mark.parametrize(
    ("answers", "written"),
    [
        ((Answer((1,)), Answer((0, 1))), [["Blue"], ["Lint", "Test, all"]]),
        (
            (Answer(words="mine"), Answer((0,), words="and, more")),
            [["mine"], ["Lint", "and, more"]],
        ),
        ((Answer((0,)),), [["Red"], []]),
    ],
)
def test_answers_are_a_list_for_each_question(answers: tuple[Answer, ...], written: object) -> None:
    event = read("question.asked-question", tool_input={"questions": ASKED})
    assert OPENCODE.write(event, answered(*answers)).output == {"answers": written}


def test_a_refusal_of_questions_is_their_answer() -> None:
    event = read("question.asked-question")
    output = OPENCODE.write(event, Decision(Verdict.DENY, "ask Eve")).output
    assert output == {
        "answers": [["(The person refuses to answer, and says: ask Eve)"]],
        "refused": True,
    }


def test_questions_without_answers_are_not_allowed_away() -> None:
    event = read("question.asked-question")
    with pytest.raises(DecisionError):
        OPENCODE.check(event, Decision(Verdict.ALLOW))
    assert OPENCODE.write(event, Decision(Verdict.ALLOW)).output is None


def test_the_card_says_where_the_editors_dialog_stays() -> None:
    said = [
        " ".join(OPENCODE.limits(read("permission.asked-bash", started_as=way)))
        for way in ("acp", "serve")
    ]
    assert ["editor" in text for text in said] == [True, False]


# The plugin's file.


def entries(**more: Any) -> dict[str, Any]:
    return dict(groups(Installation("/python", "/run.py", token_file="/a/token", **more)))


def installed(text: str = "", **more: Any) -> str:
    return with_hooks(text, entries(**more), OPENCODE.settings.own)


def test_one_line_of_the_installed_plugin_differs_from_ours() -> None:
    ours, written = plugin().splitlines(), installed().splitlines()
    assert len(ours) == len(written)
    (differing,) = [here for here, there in zip(written, ours, strict=True) if here != there]
    assert differing.startswith("const SETTINGS = {")
    assert "/a/token" in differing


@pytest.mark.parametrize("stance", [Stance.COMPANION, Stance.GATE])
def test_what_is_installed_is_read_back_and_uninstalling_leaves_nothing(stance: Stance) -> None:
    text = installed(stance=stance, wait=60)
    own = own_file(text)
    assert own is not None
    assert own.read(text) == entries(stance=stance, wait=60)
    assert installed(text, stance=stance, wait=60) == text
    assert count(text) == len(OPENCODE.events)
    assert without_hooks(text) == ""


def test_another_programs_file_is_not_written_over() -> None:
    with pytest.raises(InstallError, match="another program's"):
        installed("export const Mine = async () => ({})\n")


@pytest.mark.parametrize("line", ["{}", "[1]", "oops", '{"stance": "none"}'])
def test_a_line_that_somebody_changed_is_told(line: str) -> None:
    own = OPENCODE.settings.own
    assert own is not None
    with pytest.raises(InstallError, match="line of settings"):
        own.read(f"{own.mark}\nconst SETTINGS = {line};\n")


@pytest.mark.parametrize(
    ("how", "closed"),
    [
        ({"stance": Stance.COMPANION}, False),
        ({"stance": Stance.COMPANION, "fail_closed": True}, True),
        ({"stance": Stance.GATE}, True),
    ],
)
def test_a_gate_always_fails_closed(how: dict[str, Any], *, closed: bool) -> None:
    assert ('"closed": true' in installed(**how)) is closed


@pytest.mark.parametrize(
    ("scope", "environment", "expected"),
    [
        (SettingsScope.USER, {"HOME": "/h"}, "/h/.config/opencode/plugins/crabhook.js"),
        (SettingsScope.USER, {"XDG_CONFIG_HOME": "/x"}, "/x/opencode/plugins/crabhook.js"),
        (SettingsScope.PROJECT, {}, "/p/.opencode/plugins/crabhook.js"),
    ],
)
def test_the_plugin_lies_where_opencode_looks(
    scope: SettingsScope, environment: dict[str, str], expected: str
) -> None:
    assert str(settings_path(scope, Path("/p"), environment)) == expected


@pytest.mark.parametrize(
    ("configuration", "weakened"),
    [
        ('{"permission": {"edit": "ask"}}', True),
        (
            '{"permission": {"edit": "ask"}, "agent": {"plan": {"permission": {"edit": "deny"}}}}',
            False,
        ),
        ('{"permission": {"edit": "deny"}}', False),
        ('{// why\n "permission": {"edit": "ask",},}', True),
        ("{}", False),
        ("no JSON", False),
    ],
)
def test_a_plan_agent_that_may_edit_is_told(configuration: str, *, weakened: bool) -> None:
    def read_file(path: Path) -> bytes:
        if path.name != "opencode.json":
            raise FileNotFoundError
        return configuration.encode()

    path = Path("/h/.config/opencode/plugins/crabhook.js")
    assert bool(list(troubles(path, read_file))) is weakened


def test_other_plugins_are_named() -> None:
    folders = {"/h/.config/opencode/plugins": ("crabhook.js", "mine.ts", "notes.md")}
    around = Around(
        Path("/p"),
        {"HOME": "/h"},
        lambda path: (
            {"plugin": ["theirs", ["more", {}]]} if path == Path("/p/opencode.json") else {}
        ),
        lambda folder: folders.get(str(folder), ()),
    )
    assert [plugin.module for plugin in brought(around)] == ["mine.ts", "theirs", "more"]


def test_a_server_without_a_password_is_told() -> None:
    assert list(exposed({}))
    assert not list(exposed({"OPENCODE_SERVER_PASSWORD": "secret"}))


def test_no_entry_waits_as_long_as_it_may_take() -> None:
    for group in entries().values():
        (handler,) = group["hooks"]
        assert int(handler["headers"]["X-Crabhook-Wait"]) < handler["timeout"]
