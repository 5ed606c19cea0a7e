"""What was said of a call."""

from dataclasses import replace

import pytest

from crabhook.policy.rule import PartRuling, Ruling
from tests.unit.policy.law import bash, context, denying


def test_what_was_said_twice_is_kept_once() -> None:
    said = [PartRuling("command", "ls", None, None, "no rule speaks of it") for _ in range(2)]
    assert len(dict.fromkeys(said)) == 1
    assert Ruling(None, None, "why") == Ruling(None, None, "why")


@pytest.mark.parametrize("line", ["touch same", "cat src/a.py > out.txt"])
def test_a_call_is_judged_by_one_look_at_where_each_path_leads(line: str) -> None:
    looks: list[str] = []

    def real(path: str) -> str:
        looks.append(path)
        return path

    denying("Read(~/keys/**)").examine(bash(line), replace(context(), real=real))
    assert looks
    assert len(looks) == len(set(looks))
