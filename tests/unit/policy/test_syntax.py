"""Rules as text."""

import pytest

from crabhook.policy.matcher import (
    CommandMatcher,
    DomainMatcher,
    InputMatcher,
    NameMatcher,
    PathMatcher,
    ToolMatcher,
    parse_matcher,
)
from tests.support.rows import every_row


@every_row(
    "text, kind",
    [
        ("Bash", ToolMatcher), ("Bash(*)", ToolMatcher), ("Bash()", ToolMatcher), ("Bash(npm run *)", CommandMatcher),
        ("Bash(a (b) c)", CommandMatcher), ("Read(~/a/**)", PathMatcher), ("Edit(/src/**)", PathMatcher),
        ("Edit", ToolMatcher), ("WebFetch(domain:example.com)", DomainMatcher), ("WebSearch", ToolMatcher),
        ("mcp__github", ToolMatcher), ("mcp__github__*", ToolMatcher), ("mcp__github__get_issue", ToolMatcher),
        ("mcp__github__get_*", ToolMatcher), ("Agent(Explore)", NameMatcher), ("Task(Explore)", NameMatcher),
        ("Skill(review *)", NameMatcher), ("Skill(review:*)", NameMatcher), ("Bash(git commit:*)", CommandMatcher),
    ],
)  # fmt: skip
def test_every_form_may_allow_and_deny(text: str, kind: type) -> None:
    assert isinstance(parse_matcher(text, restricts=False), kind)
    assert isinstance(parse_matcher(text, restricts=True), kind)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("mcp__*", ToolMatcher),
        ("*", ToolMatcher),
        ("Web*", ToolMatcher),
        ("Agent(model:opus)", InputMatcher),
        ("Read(limit:5)", PathMatcher),
        ("mcp__a__b(c:d)", InputMatcher),
        ("Custom(a:b)", InputMatcher),
    ],
)
def test_some_forms_may_only_deny_and_ask(text: str, kind: type) -> None:
    assert isinstance(parse_matcher(text, restricts=True), kind)
    if kind is not PathMatcher and text != "Agent(model:opus)":
        with pytest.raises(ValueError, match=r"star|input"):
            parse_matcher(text, restricts=False)


@every_row(
    "text, why",
    [
        ("", "not of the form"), ("Bash(", "not of the form"), ("Bash)a(", "not of the form"), ("Ba sh", "not of the form"),
        ("Write(a)", "written Edit"), ("NotebookEdit(a)", "written Edit"), ("Glob(a)", "written Read"), ("Grep(a)", "written Read"),
        ("WebSearch(a)", "as a whole"), ("WebFetch(example.com)", "domain:"), ("WebFetch(domain:)", "no host"),
        ("WebFetch(domain:a b)", "no host"), ("Read(!a)", "gitignore"), ("Read(a/../b)", r"\."), ("Custom(a)", "does not have"),
        ("mcp__*(a)", "star"), ("Bash(a\x00b)", "cannot be seen"), ("Bash(a\u202eb)", "cannot be seen"), ("Read(#a)", "gitignore"),
    ],
)  # fmt: skip
def test_what_would_never_be_consulted_is_refused_with_a_reason(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_matcher(text, restricts=True)


@pytest.mark.parametrize("text", ["*", "mcp__*", "Web*", "mcp__a*", "*__x"])
def test_an_allow_by_a_star_in_the_tools_name_needs_a_server(text: str) -> None:
    with pytest.raises(ValueError, match="star"):
        parse_matcher(text, restricts=False)
