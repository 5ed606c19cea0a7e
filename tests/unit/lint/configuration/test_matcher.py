"""What a matcher hits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.lint.configuration import protocols
from crabhook.lint.configuration.command import (
    BrokenMatcherError,
    Matcher,
    misses,
    names,
    near_name,
    overlap,
    read_matcher,
)

CLAUDE, GEMINI, CODEX = (protocols()[name] for name in ("claude", "gemini", "codex"))


def test_plain_names_are_exact_for_claude_code_and_codex_and_a_pattern_for_gemini() -> None:
    assert read_matcher("Edit|Write, Bash", CLAUDE) == Matcher(frozenset({"Edit", "Write", "Bash"}))
    assert read_matcher("Bash|Edit", CODEX) == Matcher(frozenset({"Bash", "Edit"}))
    gemini = read_matcher("write", GEMINI)
    assert gemini is not None
    assert gemini.hits("write_todos")


@pytest.mark.parametrize("text", [None, "", "*"])
def test_nothing_and_a_star_hit_all(text: str | None) -> None:
    matcher = read_matcher(text, CLAUDE)
    assert matcher is not None
    assert matcher.hits("Anything")


@pytest.mark.parametrize("text", ["*Bash", "(Bash", "[Bash", "Bash)", "a\\"])
def test_what_python_and_javascript_both_refuse_is_broken(text: str) -> None:
    with pytest.raises(BrokenMatcherError):
        read_matcher(text, CLAUDE)


@pytest.mark.parametrize("text", ["[^]x", "(?<a>Bash)(?<a>Edit)", "[]a]", "(?i:a)", "\\p{L}"])
def test_what_javascript_may_read_is_not_called_broken(text: str) -> None:
    read_matcher(text, CLAUDE)


@pytest.mark.parametrize("text", ["(.+)+!", "(a|b)*c", ".*.*.*.*.*x", "^" + "a" * 5000])
def test_a_pattern_that_may_take_for_ever_is_not_tried(text: str) -> None:
    assert read_matcher(text, CLAUDE) is None


@given(st.text(alphabet="ab|.*+?()[]{}\\^$<>=!:-, 1", max_size=20))
def test_no_matcher_is_too_strange(text: str) -> None:
    try:
        matcher = read_matcher(text, CLAUDE)
    except BrokenMatcherError:
        return
    assert matcher is None or isinstance(matcher.hits("Bash"), bool)


def test_a_server_alone_hits_no_tool() -> None:
    told = misses("mcp__github", CLAUDE)
    assert told is not None
    assert "mcp__github__.*" in told
    assert misses("mcp__github__get_issue", CLAUDE) is None
    assert misses("mcp_github_get_issue", GEMINI) is None


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("bash", "Bash"),
        ("Wirte", "Write"),
        ("run_shell_command", "Bash"),
        ("multiedit", "MultiEdit"),
    ],
)
def test_a_name_that_is_nearly_a_tools_is_told_which(name: str, meant: str) -> None:
    told = misses(name, CLAUDE)
    assert told is not None
    assert meant in told


@pytest.mark.parametrize("name", ["Bash", "Task", "Brief", "SomethingNew", "Lookup"])
def test_tools_known_old_and_new_are_left_alone(name: str) -> None:
    assert misses(name, CLAUDE) is None


def test_names_are_told_apart() -> None:
    assert names("Edit| Write,Bash||") == ["Edit", "Write", "Bash"]
    assert near_name("sessionstart", frozenset({"SessionStart", "SessionEnd"})) == "SessionStart"
    assert near_name("Zebra", frozenset({"SessionStart"})) is None


@pytest.mark.parametrize(
    ("one", "other", "meet"),
    [
        ("Bash", "Edit", False),
        ("Bash|Edit", "Edit|Write", True),
        ("*", "Edit", True),
        ("mcp__.*", "mcp__github__.*", False),
        ("mcp__github__get", "mcp__.*", True),
        ("^(Edit|Write)$", "NotebookEdit", False),
        ("Edit", "Ed.t", True),
        ("mcp__a__.*", "mcp__a__.*", True),
    ],
)
def test_matchers_meet_where_they_surely_hit_the_same_tool(
    one: str, other: str, meet: bool
) -> None:
    first, second = read_matcher(one, CLAUDE), read_matcher(other, CLAUDE)
    assert first is not None
    assert second is not None
    assert overlap(first, second, CLAUDE) is meet
