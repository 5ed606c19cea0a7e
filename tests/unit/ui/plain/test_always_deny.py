"""`always deny`: rules that deny are listed, and the one that was read is taken with a denial."""

from __future__ import annotations

import pytest

from crabhook.desk.replica import Replica
from crabhook.desk.updates import Offering
from crabhook.ui.commands.decide import NO_REASON, fitting
from crabhook.ui.plain.person import DetailLevel
from tests.support.desk import PlayedDesk
from tests.support.offering import BOTH, DENIALS
from tests.support.plain_sitting import Sitting, bash, said, sitting

NARROW, WIDE = DENIALS.offers


def asked(sits: Sitting, found: Offering | None = DENIALS) -> str:
    sits.desk.denials[1], sits.desk.offered[1] = found, BOTH
    return sits.desk.ask(bash("make"))


async def test_rules_are_listed_with_what_each_would_have_denied() -> None:
    async with sitting() as sits:
        asked(sits)
        listed = await sits.type("always deny")
    assert listed == [
        "#1: rules that would deny it from now on, from narrow to wide",
        "  tried on the last 412 calls of this kind on record",
        "  1  would have denied 3: exactly `make`, in this project",
        "       Bash(make)",
        "  2  would have denied 12: `make` with any arguments, in this project",
        "       Bash(make *)",
        "     ! would have denied 3 calls that were ALLOWED:",
        "       - make test  (2 times)",
        "       - make ␛[2J⟨U+202E⟩",
        "  deny it and write rule K, until 2026-12-22: 1 always deny K REASON",
        "  for longer or shorter: 1 always deny K 7d REASON, or 12h, or forever",
    ]
    assert not sits.desk.decided


@pytest.mark.parametrize(
    ("line", "reason", "ends"),
    [
        ("1", NO_REASON, NARROW.expires),
        ("1 not  from here", "not  from here", NARROW.expires),
        ("1 forever not from here", "not from here", None),
        ("1 FOREVER anyway ask me first", "ask me first", None),
        ("1 anyway", NO_REASON, NARROW.expires),
    ],
)
async def test_a_rule_is_taken_by_its_number_and_the_call_is_denied(
    line: str, reason: str, ends: object
) -> None:
    async with sitting() as sits:
        request = asked(sits)
        await sits.type("1 always deny")
        printed = await sits.type(f"1 always deny {line}")
        answer = said(sits.desk, request)
    assert (answer["permissionDecision"], answer["permissionDecisionReason"]) == ("deny", reason)
    ((number, rule),) = sits.desk.rules
    assert (number, rule.texts, rule.expires) == (1, NARROW.texts, ends)
    assert rule.rule.startswith("deny ")
    assert "#1 DENIED" in "\n".join(printed)


async def test_a_rule_that_denies_what_was_allowed_wants_a_line_that_says_so() -> None:
    async with sitting() as sits:
        asked(sits)
        await sits.type("1 always deny")
        printed = await sits.type("1 always deny 2 7d never here")
        assert not sits.desk.decided
        assert not sits.desk.rules
        assert "       - make test  (2 times)" in printed
        assert printed[-1] == (
            "! rule 2 would have denied 3 calls that were ALLOWED; nothing was decided. "
            "Write: 1 always deny 2 7d anyway never here"
        )
        await sits.type("1 always deny 2 7d anyway never here")
    ((_, rule),) = sits.desk.rules
    assert rule.texts == WIDE.texts
    assert sits.desk.read.reasons == ["never here"]


@pytest.mark.parametrize("line", ["0", "3", "x", "1 7", "1 7x no", "1 0d", "-1"])
async def test_a_line_that_cannot_be_followed_takes_no_rule(line: str) -> None:
    async with sitting() as sits:
        asked(sits)
        await sits.type("1 always deny")
        (printed,) = await sits.type(f"1 always deny {line}")
    assert "nothing was decided. Write: " in printed
    assert not sits.desk.rules
    assert not sits.desk.decided


async def test_no_rule_is_taken_that_was_not_listed_as_one_that_denies() -> None:
    async with sitting() as sits:
        asked(sits)
        await sits.type("1 remember")
        (printed,) = await sits.type("1 always deny 1")
    assert "no rules were listed for #1" in printed
    assert "1 always deny, to see them" in printed
    assert not sits.desk.decided


async def test_it_is_offered_to_a_person_with_a_call_that_rules_can_deny() -> None:
    async with sitting(detail=DetailLevel.FULL) as sits:
        asked(sits)
        (words,) = await sits.type("1 words")
    assert "always deny" in words


def test_programs_are_told_the_words_of_before() -> None:
    desk = PlayedDesk()
    desk.ask(bash("make"))
    assert not [line for line in fitting(desk.waiting()[0]) if "always deny" in line]


async def test_a_decider_is_offered_no_rule_and_told_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Replica, "role", lambda _: "decider")
    desk = PlayedDesk()
    desk.ask(bash())
    async with sitting(desk, detail=DetailLevel.FULL) as sits:
        offered = "\n".join(await sits.type("1 words"))
        assert "deny REASON" in offered
        assert "always" not in offered
        (told,) = await sits.type("1 always allow")
        assert told == "! always allow is for an admin, and you are a decider"
