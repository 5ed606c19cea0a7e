"""The plan that an event names is read from the one place where its agent keeps it."""

from pathlib import Path
from typing import Any

import pytest

from crabhook.model.event import Event, ToolCall
from crabhook.platforms import PLATFORMS
from crabhook.transcript import LONGEST_PLAN, plan_file, read_plan

SAMPLES = Path(__file__).parents[1] / "samples" / "gemini"
SESSION = "0000-1"


def asking(tmp_path: Path, name: Any = "plan.md", session: str = SESSION, **fields: Any) -> Event:
    told = {"transcript_path": str(tmp_path / "chats" / "session.jsonl"), **fields}
    tool = ToolCall("exit_plan_mode", {"plan_filename": name})
    return Event("gemini", "BeforeTool", session=session, tool=tool, fields=told)


@pytest.fixture
def plans(tmp_path: Path) -> Path:
    folder = tmp_path / SESSION / "plans"
    folder.mkdir(parents=True)
    return folder


def test_the_plan_lies_in_the_sessions_own_folder(tmp_path: Path, plans: Path) -> None:
    (plans / "plan.md").write_text("\n# The plan\n")
    path = plan_file(asking(tmp_path))
    assert path == str(plans / "plan.md")
    assert read_plan(path) == "# The plan"


def test_the_real_agents_plan_lies_where_it_says_after_the_approval() -> None:
    asked = PLATFORMS["gemini"].read((SAMPLES / "BeforeTool-exit_plan_mode.json").read_bytes())
    approved = (SAMPLES / "AfterTool-exit_plan_mode.json").read_text()
    path = plan_file(asked)
    assert path.endswith("/plans/plan.md")
    assert f"Plan approved: {path}" in approved


@pytest.mark.parametrize(
    "name", ["", "../plan.md", "/etc/passwd", "a/b", ".hidden", "..", "a\0b", "x" * 300, None, 7]
)
def test_a_name_that_is_no_plain_one_leads_nowhere(tmp_path: Path, name: Any) -> None:
    assert plan_file(asking(tmp_path, name)) == ""


@pytest.mark.parametrize("session", ["", "..", "a/b", "a\n"])
def test_a_session_that_is_no_plain_name_leads_nowhere(tmp_path: Path, session: str) -> None:
    assert plan_file(asking(tmp_path, session=session)) == ""


@pytest.mark.parametrize(
    "transcript", ["", "/x/session.jsonl", None, 3, f"/{'x/' * 1_000_000}chats/session.jsonl"]
)
def test_without_its_transcript_a_plan_is_not_looked_for(tmp_path: Path, transcript: Any) -> None:
    assert plan_file(asking(tmp_path, transcript_path=transcript)) == ""


def test_other_events_name_no_plan() -> None:
    assert plan_file(Event("claude", "Stop")) == ""
    assert plan_file(Event("claude", "PreToolUse", tool=ToolCall("Bash", "x"))) == ""


def test_no_link_is_followed_wherever_it_is(tmp_path: Path, plans: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (plans / "link.md").symlink_to(tmp_path / "secret")
    assert read_plan(str(plans / "link.md")) == ""
    (tmp_path / "other").symlink_to(tmp_path)
    assert read_plan(str(tmp_path / "other" / "secret")) == ""
    assert read_plan(str(tmp_path / "secret")) == "secret"


def test_a_long_plan_is_read_to_its_bound_and_broken_letters_do_not_matter(plans: Path) -> None:
    (plans / "plan.md").write_bytes(b"\xff" + b"x" * 2 * LONGEST_PLAN)
    plan = read_plan(str(plans / "plan.md"))
    assert len(plan) == LONGEST_PLAN
    assert plan.startswith("\ufffdx")


@pytest.mark.parametrize("path", ["", "relative", "/nowhere/plan.md", "/dev/null", "/", "/a\0b"])
def test_what_cannot_be_read_is_nothing(path: str) -> None:
    assert read_plan(path) == ""
