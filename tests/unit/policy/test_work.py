"""What judging a hostile line costs: calls of functions, at most in proportion to its length."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest

from crabhook.policy.calls.made_names import MAX_MAKERS
from crabhook.policy.calls.read import LONG_LINE, may_take_long
from crabhook.policy.shell.unfold import MAX_DEPTH
from tests.support.examples import at_night, share
from tests.unit.policy import law

LAW = law.policy(
    law.rule("deny", "Bash(rm *)", "Bash(git push *)", "Read(./.env)"),
    law.rule("ask-operator", "Bash(curl *)"),
    *(
        law.rule("allow", f"Bash({name} *)")
        for name in ["ls", "cat", "git", "echo", "npm", "make", "sh"]
    ),
    law.rule("allow", "Edit(./**)", "Read(//**)"),
)
SHAPES = [
    "sh -c '", "sh -c ", "$(", "`", 'eval "', "eval ", "(", "{ ", "cat <<A\nx\nA\n", "a=b ", "a=$a$b;b=$a;", "cat|", "echo a|sh|", "ls&&", "$(ls) ", "'", '"', "\\", "${x:-", "case a in a) ", "f(){ :;};",
    "alias a=b;", "cat * ", "/*", "{a,b}", "{1..9} ", "$((", "[[ ", "if ", "for a in b;do ls $a;done;", "a ", ">a ", "xargs ", "env ", "timeout 5 ", "find . -exec rm {} ; ", "git apply k&&cat n&&",
    "mv a b&&cp c d&&", "tar xf a;cat b;", 'sh -c "rm $x";', "é ",
]  # fmt: skip
# A line is read by the shell's grammar up to 8 KiB; of a longer one, words are found. Counting is
# slow, so that by day lines are shorter and fewer.
SHORT, LONG, *LONGER = (1_000, 8_000, 16_000) if at_night() else (500, 3_000)
# The first is paid for any line. The worst of each letter is braces: each spelling is looked at.
EACH_LINE, EACH_LETTER = 100_000, 550
GROWTH = 1.5


class _Count:
    calls = 0


@contextmanager
def counted() -> Iterator[_Count]:
    """Count the calls of Python's functions in here; milliseconds would tell of the machine."""
    count = _Count()

    def see(_frame: FrameType, what: str, _value: Any) -> None:
        count.calls += what == "call"

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        yield count
    finally:
        sys.setprofile(before)


def work(shape: str, length: int) -> int:
    event = law.bash((shape * (length // len(shape) + 1))[:length])
    with counted() as count:
        LAW.judge(event, law.context())
    return count.calls


@pytest.mark.parametrize("shape", share(SHAPES, 1, of=2))
def test_a_hostile_line_costs_no_more_than_in_proportion_to_its_length(shape: str) -> None:
    work(shape, 100)  # compiles patterns
    calls = {length: work(shape, length) for length in (SHORT, LONG, *LONGER)}
    assert calls[LONG] <= EACH_LINE + GROWTH * calls[SHORT] * LONG / SHORT
    for length, count in calls.items():
        assert count <= EACH_LINE + EACH_LETTER * length


def test_a_line_of_more_commands_that_make_names_than_are_compared_is_never_allowed() -> None:
    wide = law.allowing("Bash")
    assert law.verdict(wide, law.bash("make;" * MAX_MAKERS)) == "allow"
    assert law.verdict(wide, law.bash("make;" * (MAX_MAKERS + 1))) == law.OPEN


def test_wrappers_in_one_another_are_allowed_up_to_a_depth_alone() -> None:
    narrow = law.allowing("Bash(ls *)")
    assert law.verdict(narrow, law.bash("timeout 5 " * MAX_DEPTH + "ls")) == "allow"
    assert law.verdict(narrow, law.bash("timeout 5 " * (MAX_DEPTH + 1) + "ls")) == law.OPEN


def test_a_denied_command_behind_more_than_is_looked_at_is_never_allowed() -> None:
    wide = law.denying("Bash(rm *)")
    for behind in (
        "xargs " * 9 + "rm x",
        "sh -c '" + "a " * 5_000 + "; rm x'",
        "eval " * 9 + "rm x",
    ):
        assert law.verdict(wide, law.bash(behind)) != "allow", behind


def test_a_long_line_is_for_a_thread() -> None:
    assert not may_take_long(law.bash("a" * LONG_LINE))
    assert may_take_long(law.bash("a" * (LONG_LINE + 1)))
