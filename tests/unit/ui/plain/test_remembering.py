"""`remember`: rules are listed with what they would have done, and the one that was read is taken."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from crabhook.desk.updates import Offering
from tests.support.desk import PlayedDesk
from tests.support.offering import BOTH, NARROW, WIDE, offer, offering
from tests.support.plain_sitting import QUESTIONS, Sitting, bash, said, sample, sitting


def asked(sits: Sitting, found: Offering | None = BOTH) -> str:
    sits.desk.offered[1] = found
    return sits.desk.ask(bash("make"))


async def test_rules_are_listed_from_narrow_to_wide_with_what_they_would_have_done() -> None:
    async with sitting() as sits:
        asked(sits)
        listed = await sits.type("remember")
    assert listed == [
        "#1: rules that would allow it from now on, from narrow to wide",
        "  tried on the last 412 calls of this kind on record",
        "  1  covers 3: exactly `make`, in this project",
        "       Bash(make)",
        "  2  covers 12: `make` with any arguments, in this project",
        "       Bash(make *)",
        "     ! would have let through 3 calls that were DENIED:",
        "       - make deploy  (2 times)",
        "       - make ␛[2J⟨U+202E⟩",
        "  allow it and write rule K, until 2026-12-22: 1 remember K",
        "  for longer or shorter: 1 remember K 7d, or 12h, or forever",
    ]
    assert not sits.desk.decided


async def test_what_a_rule_gives_away_beside_is_said_with_it() -> None:
    async with sitting() as sits:
        asked(sits, offering(offer(gives_away=("with any arguments `make` also takes -C",))))
        listed = await sits.type("remember")
    assert "     ! with any arguments `make` also takes -C" in listed


async def test_a_rule_is_taken_by_its_number_and_the_call_is_allowed() -> None:
    async with sitting() as sits:
        request = asked(sits)
        await sits.type("1 remember")
        printed = await sits.type("1 remember 1")
        assert said(sits.desk, request)["permissionDecision"] == "allow"
    assert sits.desk.rules == [(1, NARROW)]
    assert "#1 ALLOWED" in printed
    assert (
        "· desk: from now on: allow Bash(make) · in project /work/app · until 2026-12-22" in printed
    )


@pytest.mark.parametrize(
    ("life", "end"),
    [("7d", timedelta(days=7)), ("12h", timedelta(hours=12)), ("forever", None)],
)
async def test_a_rule_holds_as_long_as_the_line_says(life: str, end: timedelta | None) -> None:
    async with sitting() as sits:
        asked(sits)
        await sits.type("1 remember")
        await sits.type(f"1 remember 1 {life}")
    ((_, rule),) = sits.desk.rules
    if end is None:
        assert rule.expires is None
    else:
        assert rule.expires is not None
        assert abs(rule.expires - datetime.now(UTC) - end) < timedelta(minutes=1)


async def test_a_rule_that_undoes_denials_is_taken_only_by_the_line_that_says_so() -> None:
    async with sitting() as sits:
        asked(sits)
        await sits.type("1 remember")
        printed = await sits.type("1 remember 2 forever")
        assert not sits.desk.decided
        assert not sits.desk.rules
        assert "       - make deploy  (2 times)" in printed
        assert printed[-1] == (
            "! rule 2 would have let through 3 calls that were DENIED; nothing was decided. "
            "Write: 1 remember 2 forever anyway"
        )
        await sits.type("1 remember 2 forever anyway")
    ((_, rule),) = sits.desk.rules
    assert (rule.texts, rule.expires) == (WIDE.texts, None)
    assert len(sits.desk.decided) == 1


@pytest.mark.parametrize(
    "line", ["0", "3", "x", "1 7", "1 soon", "1 7d 8d", "1 anyway 7d", "-1", "1 0d"]
)
async def test_a_line_that_cannot_be_followed_takes_no_rule(line: str) -> None:
    async with sitting() as sits:
        asked(sits)
        await sits.type("1 remember")
        (printed,) = await sits.type(f"1 remember {line}")
    assert "nothing was decided. Write: " in printed
    assert not sits.desk.rules
    assert not sits.desk.decided


async def test_a_number_means_what_was_printed_with_it() -> None:
    async with sitting() as sits:
        asked(sits)
        (printed,) = await sits.type("1 remember 1")
        assert "no rules were listed for #1" in printed
        await sits.type("1 remember")
        sits.desk.offered[1] = offering(WIDE, NARROW)
        await sits.type("1 remember 1")
    assert sits.desk.rules == [(1, NARROW)]


async def test_rules_are_listed_as_soon_as_they_were_tried() -> None:
    async with sitting() as sits:
        asked(sits, None)
        assert await sits.type("1 remember", "1 remember") == [
            "· #1: trying rules on what was decided before"
        ]
        sits.desk.offered[1] = BOTH
        printed = await sits.look()
        assert printed[2].startswith("  1  covers 3")


async def test_whoever_leaves_while_rules_are_tried_is_told_nothing_more() -> None:
    async with sitting() as sits:
        asked(sits, None)
        await sits.type("1 remember")
    # `sitting` checks that the desk ends; pytest, that no timer is left


async def test_where_no_rule_is_offered_it_is_said_why() -> None:
    async with sitting() as sits:
        asked(sits, Offering(why="no rule is made of \x1b[2J"))
        assert await sits.type("1 remember") == ["#1: no rule is offered. no rule is made of ␛[2J"]
        (printed,) = await sits.type("1 remember 1")
        assert printed.startswith("! no rule is offered for #1; nothing was decided. Write: ")


async def test_many_denials_are_told_by_the_first_and_by_their_number() -> None:
    async with sitting() as sits:
        many = tuple(f"make {number}" for number in range(30))
        asked(sits, offering(offer(denied=many), tried_on=None))
        listed = await sits.type("1 remember")
    assert "  there is no record that they could be tried on" in listed
    assert "       … and 20 more" in listed


async def test_a_rule_is_held_with_its_allow_and_taken_back_with_it() -> None:
    async with sitting(take_back_ms=600) as sits:
        asked(sits)
        await sits.type("1 remember")
        printed = await sits.type("1 remember 1")
        assert "1 undo takes it back" in printed[-1]
        await sits.type("1 undo")
        sits.desk.pass_time(9)
        await sits.look()
        assert not sits.desk.rules
        assert not sits.desk.decided


async def test_a_card_that_has_ended_is_offered_nothing() -> None:
    async with sitting() as sits:
        sits.desk.leave(asked(sits))
        (printed,) = await sits.type("1 remember")
        assert "#1 has ended" in printed


async def test_what_no_rule_decides_does_not_offer_the_word() -> None:
    for payload in (QUESTIONS, sample("Elicitation")):
        desk = PlayedDesk()
        desk.ask(payload)
        async with sitting(desk) as sits:
            assert not any("remember" in line for line in sits.everything)
