"""Every dialect offers the same doors, and none is found under another's name."""

import inspect
from dataclasses import fields

import pytest

from crabhook.model.card import Stance
from crabhook.model.decision import Decision, Verdict
from crabhook.model.event import EndScope
from crabhook.platforms import PLATFORMS
from crabhook.platforms.event_table import Held
from crabhook.platforms.interface import Platform
from tests.support.rows import every_row

DOORS: dict[str, int] = {
    **dict.fromkeys(
        ("read", "asks", "by_person", "choices", "outcome", "limits", "compared", "part_of"), 1
    ),
    **dict.fromkeys(("held", "check", "write", "remark"), 2),
}
"""What every agent's folder has to bring along: a function, and how much it is given."""


def test_the_doors_are_all_the_functions_of_a_platform() -> None:
    given = {one.name for one in fields(Platform) if "Callable" in str(one.type)}
    assert given | {"remark"} == set(DOORS)


@pytest.mark.parametrize("name", PLATFORMS)
def test_a_dialect_is_found_under_its_own_name(name: str) -> None:
    assert PLATFORMS[name].name == name


@every_row("door", DOORS)
@every_row("name", PLATFORMS)
def test_a_dialect_has_every_door(name: str, door: str) -> None:
    assert len(inspect.signature(getattr(PLATFORMS[name], door)).parameters) == DOORS[door]


@pytest.mark.parametrize("name", PLATFORMS)
def test_a_dialect_watches_what_it_has_never_heard_of_and_says_nothing(name: str) -> None:
    platform = PLATFORMS[name]
    event = platform.read(b'{"hook_event_name": "Brand-New", "x": 1}')
    assert (event.platform, event.name, event.fields["x"]) == (name, "Brand-New", 1)
    assert all(platform.held(event, stance) is Held.NEVER for stance in Stance)
    assert platform.closes(event) is EndScope.NOTHING
    assert platform.remark(event, "n") is None
    silence = platform.write(event, Decision(Verdict.PASS))
    assert (silence.output, silence.stderr, silence.exit_code) in ((None, "", 0), ({}, "", 0))
    for verdict in Verdict:
        assert platform.write(event, Decision(verdict, reason="r")).stdout == silence.stdout
    platform.check(event, Decision(Verdict.PASS))
