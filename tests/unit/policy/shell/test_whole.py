"""The texts by which a rule may allow a command."""

import pytest

from crabhook.policy.shell.read import read_script
from crabhook.policy.shell.unfold import BLANK, readings


def texts(text: str) -> list[str]:
    return [one.text for one in readings(read_script(text, {}).commands[-1])]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ls -la", ["ls -la"]), ("'ls' \"a\"", ["ls a"]), ("ls 'a b'", [f"ls a{BLANK}b"]),
        ("timeout 5 ls", ["timeout 5 ls", "ls"]), ("nice nohup ls", ["nice nohup ls", "nohup ls", "ls"]),
        ("LANG=C ls", ["ls", "LANG=C ls"]), ("FOO=1 ls", ["FOO=1 ls"]), ("ls $x", ["ls $x"]),
        ("xargs ls", ["xargs ls", f"ls {BLANK}"]), ("printf -v 'a[$(b)]'", []), ("ls ''", ["ls ''"]),
        ("sudo ls", ["sudo ls"]), ("timeout 5 $x", ["timeout 5 $x"]),
    ],
)  # fmt: skip
def test_a_command_has_a_text_for_each_way_an_allow_may_read_it(
    text: str, found: list[str]
) -> None:
    assert texts(text) == found


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("find . -name a", False), ("find . -delete", True), ("find . -exec a {} +", True), ("find $a", True),
        ("watch a", True), ("flock a b", True), ("setsid a", True), ("ionice a", True), ("ls", False),
    ],
)  # fmt: skip
def test_what_runs_others_needs_an_exact_rule(text: str, exact: bool) -> None:
    assert [one.exact for one in readings(read_script(text, {}).commands[-1])] == [exact]
