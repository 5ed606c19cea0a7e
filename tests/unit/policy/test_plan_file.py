"""Plan mode: the plan is the card, and the file that the agent keeps it in is none."""

from dataclasses import replace

import pytest

from crabhook.model.event import Event
from tests.support.rows import every_row
from tests.unit.policy.law import HOME, OPEN, bash, call, context, policy, rule, verdict

PLAN = f"{HOME}/.claude/plans/make-uploads-retry-sharded-scone.md"
ALL = rule("allow", "Bash", "Read(//**)", "Edit(//**)")


def writing(path: str = PLAN, tool: str = "Write", mode: str = "plan") -> Event:
    return replace(call(tool, file_path=path, content="# Plan"), permission_mode=mode)


@pytest.mark.parametrize("tool", ["Write", "Edit", "MultiEdit"])
@pytest.mark.parametrize("rules", [(), (ALL,)], ids=["no rules", "all allowed"])
def test_one_plan_is_one_card_so_its_file_is_left_to_the_agent_and_never_allowed(
    tool: str, rules: tuple[object, ...]
) -> None:
    assert verdict(policy(*rules), writing(tool=tool)) == "pass"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "mode", ["default", "acceptEdits", "auto", "bypassPermissions", "dontAsk", ""]
)
def test_in_any_other_mode_the_plan_file_is_a_protected_place(mode: str) -> None:
    assert verdict(policy(ALL), writing(mode=mode)) == "ask-operator"


def test_what_the_agent_itself_asks_about_is_not_its_own_plan_file() -> None:
    asked = replace(writing(), name="PermissionRequest")
    assert verdict(policy(ALL), asked) == "ask-operator"


@pytest.mark.parametrize("platform", ["codex", "gemini", "nobody"])
def test_another_agents_mode_of_that_name_opens_nothing(platform: str) -> None:
    assert verdict(policy(ALL), replace(writing(), platform=platform)) == "ask-operator"


@every_row(
    "path",
    [
        f"{HOME}/.claude/settings.json",
        f"{HOME}/.claude/plans",
        f"{HOME}/.claude/plans/.md",
        f"{HOME}/.claude/plans/CLAUDE.md",
        f"{HOME}/.claude/plans/claude.md",
        f"{HOME}/.claude/plans/a-b.md/x",
        f"{HOME}/.claude/plans/a-b.sh",
        f"{HOME}/.claude/plans/a-b.md\n",
        f"{HOME}/.claude/plans/deeper/a-b.md",
        f"{HOME}/.claude/plans/../skills/a-b.md",
        f"{HOME}/.claude/skills/a-b.md",
        f"{HOME}/.claude/commands/a-b.md",
        f"{HOME}/.claude/plans/*-b.md",
        "/work/app/.claude/plans/a-b.md",
        "/home/other/.claude/plans/a-b.md",
        f"{HOME}/.ssh/a-b.md",
    ],
)
def test_only_a_file_directly_in_the_folder_of_plans_is_one(path: str) -> None:
    assert verdict(policy(ALL), writing(path)) == "ask-operator"


@pytest.mark.parametrize(
    "links",
    [
        {PLAN: f"{HOME}/.bashrc"},
        {PLAN: "/work/app/notes.md"},
        {f"{HOME}/.claude/plans": "/work/app/plans"},
        {f"{HOME}/.claude/plans": f"{HOME}/.claude/skills"},
    ],
    ids=["a protected file", "any file", "the folder", "the folder, to skills"],
)
def test_a_link_is_no_plan_file(links: dict[str, str]) -> None:
    assert verdict(policy(ALL), writing(), links) == "ask-operator"


def test_the_agents_whole_folder_may_be_a_link_as_dotfiles_are() -> None:
    links = {f"{HOME}/.claude": f"{HOME}/dotfiles/claude"}
    assert verdict(policy(), writing(), links) == "pass"


def test_a_shell_line_writes_no_plan_file() -> None:
    line = replace(bash(f"echo x > {PLAN}"), permission_mode="plan")
    assert verdict(policy(ALL), line) == "ask-operator"


@pytest.mark.parametrize("against", ["deny", "ask-operator"])
def test_a_rule_of_the_owners_against_it_comes_first(against: str) -> None:
    assert verdict(policy(rule(against, "Edit(~/.claude/plans/**)")), writing()) == against


def test_any_other_write_in_plan_mode_is_as_ever() -> None:
    assert verdict(policy(), writing("/work/app/a-b.md")) == OPEN
    assert verdict(policy(ALL), writing("/work/app/a-b.md")) == "allow"


def test_the_ruling_says_why() -> None:
    ruling = policy(ALL).judge(writing(), context())
    assert ruling is not None
    assert "plan" in ruling.why
    assert "plan file" in ruling.by.ref
