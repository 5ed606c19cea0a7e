"""What a rule that allows gives away."""

import pytest

from crabhook.policy.wide import never_made, options_given
from tests.unit.policy.law import rule


@pytest.mark.parametrize(
    "text",
    [
        "Bash(rm -rf *)", "Bash(rm -rf build)", "Bash(/bin/rm -rf build)", "Bash(sudo *)", "Bash(git push *)", "Bash(git push)", "Bash(git *)", "Bash(python3 *)", "Bash(python3 -c x)",
        "Bash", "Bash(*)", "Bash(* x)", "Bash(ba*)", "Bash(r*)", "Bash(curl *)", "Bash(npm *)", "Bash(crabhook *)", "Bash(rm:*)", "Bash('rm' -rf x)",
    ],
)  # fmt: skip
def test_what_takes_in_a_command_that_no_rule_is_made_of_is_known(text: str) -> None:
    for verdict in ("allow", "pass"):
        assert never_made(rule(verdict, "Bash(ls)", text)) == (text,)
    for verdict in ("deny", "ask-operator", "ask-agent's-user"):
        assert never_made(rule(verdict, text)) == ()


@pytest.mark.parametrize(
    "text",
    [
        "Bash(ls *)", "Bash(ls*)", "Bash(git log *)", "Bash(npm run *)", "Bash(pytest -q)", "Bash(make)", "Bash(find *)", "Read(~/**)", "Edit(./**)", "WebFetch", "mcp__a", "Bash(git status)",
    ],
)  # fmt: skip
def test_what_takes_in_none_is_written_without_a_word(text: str) -> None:
    assert never_made(rule("allow", text)) == ()


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("Bash(npm run *)", "--script-shell"), ("Bash(npm run build *)", "--prefix"), ("Bash(npm test:*)", "--script-shell"), ("Bash(make *)", "-C"), ("Bash(cargo test *)", "--config"),
        ("Bash(pytest *)", "--rootdir"), ("Bash(git grep *)", "--open-files-in-pager"), ("Bash(yarn *)", "--cwd"),
    ],
)  # fmt: skip
def test_options_that_run_something_else_are_told_of(text: str, option: str) -> None:
    (said,) = options_given(rule("allow", text))
    assert option in said
    assert options_given(rule("deny", text)) == ()


@pytest.mark.parametrize(
    "text", ["Bash(npm run build)", "Bash(ls *)", "Bash(git log *)", "Bash(makepkg *)", "Bash"]
)
def test_nothing_is_said_of_a_rule_that_leaves_no_such_option_open(text: str) -> None:
    assert options_given(rule("allow", text)) == ()
