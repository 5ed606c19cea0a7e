"""Wrappers and assignments that an allow may skip."""

import pytest

from crabhook.policy.shell.read import read_script
from crabhook.policy.shell.script import Assignment, ShellWord
from crabhook.policy.shell.wrappers import is_plain, is_safe, runs_the_unknown, unwrapped
from tests.support.rows import every_row


def innermost(text: str) -> str:
    return " ".join(word.text for word in unwrapped(read_script(text, {}).commands[-1])[-1])


@every_row(
    "wrapper",
    [
        "timeout 5",
        "timeout -k 1 5s",
        "timeout -s KILL 1.5m",
        "timeout --foreground -v 5",
        "time -p",
        "nice -n 5",
        "nice -10",
        "nohup",
        "stdbuf -oL -e0",
        "command",
        "builtin",
        "noglob",
        "xargs",
        "nohup nice timeout 5",
    ],
)
def test_a_known_wrapper_is_looked_through(wrapper: str) -> None:
    assert innermost(f"{wrapper} ls -l") == "ls -l"


@every_row(
    "text",
    [
        "timeout ls",
        "timeout -x 5 ls",
        "timeout 5 -x",
        "nice -x ls",
        "command -v ls",
        "xargs -n1 ls",
        "time -o a ls",
        "sudo ls",
        "env ls",
        "timeout $n ls",
        "timeout 5 $x",
        "nohup",
        "stdbuf -x ls",
    ],
)
def test_a_wrapper_in_a_form_nobody_knows_is_not(text: str) -> None:
    assert innermost(text).split()[0] == text.split(maxsplit=1)[0]


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("LANG", True),
        ("LC_ALL", True),
        ("NODE_ENV", True),
        ("PATH", False),
        ("LD_PRELOAD", False),
        ("NODE_OPTIONS", False),
        ("lang", False),
        ("LANGX", False),
    ],
)
def test_only_variables_that_change_no_program_are_skipped(name: str, safe: bool) -> None:
    assert is_safe(Assignment(name, ShellWord("a", ("a",)))) is safe
    assert not is_safe(Assignment(name, ShellWord("$a", ("",), fixed=False)))


@every_row(
    "name, plain",
    [
        ("x", True),
        ("my_file", True),
        ("LANG", True),
        ("path", False),
        ("X", True),
        ("BASE_BRANCH", True),
        ("GIT_DIR", False),
        ("EDITOR", False),
        ("http_proxy", False),
        ("npm_x", False),
        ("status", False),
        ("_x", False),
    ],
)
def test_a_lines_own_variable_has_a_name_that_means_nothing_else(name: str, plain: bool) -> None:
    assert is_plain(name) is plain


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("$x", True),
        ("sudo $x", True),
        ("timeout 5 $x", True),
        ("sh -c $x", True),
        ("ls $x", False),
        ("timeout 5 ls $x", False),
        ("eval $x", True),
        ("~/a b", False),
    ],
)
def test_what_runs_must_be_known_before_it_runs(text: str, unknown: bool) -> None:
    assert runs_the_unknown(read_script(text, {}).commands[-1]) is unknown
