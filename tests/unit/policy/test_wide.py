"""What a rule that allows gives away."""

import pytest

from crabhook.policy.protected import misread, never_made, options_given
from tests.support.rows import every_row
from tests.unit.policy.law import rule


@every_row(
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


@every_row(
    "text",
    [
        "Bash(timeout 5 rm *)", "Bash(timeout *)", "Bash(command rm *)", "Bash(nice rm -rf *)", "Bash(nice *)", "Bash(time rm -rf *)", "Bash(FOO=1 rm *)", "Bash(FOO=1 *)",
        "Bash(git -C sub push *)", "Bash(git --no-pager push *)", "Bash(stdbuf -o0 python3 -c *)", "Bash(nice timeout 5 /bin/rm -rf x)", "Bash(time git -C a push)", "Monitor",
    ],
)  # fmt: skip
def test_a_rule_is_seen_as_the_command_that_it_lets_run_behind_what_an_allow_looks_through(
    text: str,
) -> None:
    assert never_made(rule("allow", text)) == (text,)


@pytest.mark.parametrize("text", ["Bash(timeout 5 ls *)", "Bash(nice make)", "Bash(git -C a log *)", "Bash(NO_COLOR=1 npm test *)", "Bash(flock x *)"])  # fmt: skip
def test_a_harmless_command_behind_a_wrapper_is_written_without_a_word(text: str) -> None:
    assert never_made(rule("allow", text)) == ()


@pytest.mark.parametrize("text", ["Bash(git push:* --force)", "Bash(npm run test:* -- --ci)"])
def test_a_colon_and_star_that_is_not_at_the_end_is_told_of(text: str) -> None:
    for verdict in ("allow", "deny"):
        (said,) = misread(rule(verdict, text))
        assert text in said
    assert misread(rule("deny", "Bash(git push:*)", "Bash(ls *)", "Read(a:*b)")) == ()


@every_row(
    "text",
    [
        "Bash(ls *)", "Bash(ls*)", "Bash(git log *)", "Bash(npm run *)", "Bash(pytest -q)", "Bash(make)", "Bash(find *)", "Read(~/**)", "Edit(./**)", "WebFetch", "mcp__a", "Bash(git status)",
    ],
)  # fmt: skip
def test_what_takes_in_none_is_written_without_a_word(text: str) -> None:
    assert never_made(rule("allow", text)) == ()


@every_row(
    "text, option",
    [
        ("Bash(npm run *)", "--script-shell"), ("Bash(npm run build *)", "--prefix"), ("Bash(npm test:*)", "--script-shell"), ("Bash(make *)", "-C"), ("Bash(cargo test *)", "--config"),
        ("Bash(pytest *)", "--rootdir"), ("Bash(/usr/bin/npm run *)", "--script-shell"), ("Bash(timeout 5 npm run *)", "--prefix"), ("Bash(kubectl get *)", "--kubeconfig"), ("Bash(sqlite3 *)", ".shell"), ("Bash(yarn *)", "--cwd"),
    ],
)  # fmt: skip
def test_options_that_run_something_else_are_told_of(text: str, option: str) -> None:
    (said,) = options_given(rule("allow", text))
    assert option in said
    assert options_given(rule("deny", text)) == ()


@pytest.mark.parametrize(
    "text", ["Bash(npm run build)", "Bash(ls *)", "Bash(git log *)", "Bash(jq *)", "Bash"]
)
def test_nothing_is_said_of_a_rule_that_leaves_no_such_option_open(text: str) -> None:
    assert options_given(rule("allow", text)) == ()
