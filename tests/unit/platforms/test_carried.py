from dataclasses import fields, replace

import pytest

from crabhook.model.decision import Beside, Choices, Decision, Verdict
from crabhook.model.errors import DecisionError
from crabhook.platforms.claude.write import _LIMITS as CLAUDE
from crabhook.platforms.codex.write import _LIMITS as CODEX
from crabhook.platforms.common import ANY, PARTS, check_parts, check_reason, check_verdict
from crabhook.platforms.gemini.write import _LIMITS as GEMINI

EVERYTHING = Choices(ANY, ~Beside.NOTHING)
GOES_ALONG = {field.name for field in fields(Decision)} - {"verdict", "reason", "by", "despite"}
SOME = {
    "halt": "enough",
    "user_message": "look",
    "suppress_output": True,
    "note": "well",
    "interrupt": True,
    "permissions": ({"type": "addRules"},),
    "output": "",  # which is another output than the tool's
    "content": {},
    "updated_input": {},
}


def test_every_part_of_a_decision_is_looked_at() -> None:
    assert set(PARTS) == GOES_ALONG == set(SOME)


@pytest.mark.parametrize("limits", [CLAUDE, GEMINI, CODEX], ids=["claude", "gemini", "codex"])
def test_every_dialect_says_of_every_part_what_carries_it(limits: dict[str, object]) -> None:
    assert set(limits) == set(PARTS)


@pytest.mark.parametrize("part", sorted(PARTS))
def test_a_part_goes_with_its_verdicts_where_the_event_offers_it(part: str) -> None:
    limits = {one: (frozenset({Verdict.ALLOW}), f"takes no {one}") for one in PARTS}
    decision = replace(Decision(Verdict.ALLOW), **{part: SOME[part]})
    check_parts("It", decision, EVERYTHING, limits)
    with pytest.raises(DecisionError, match=f"It, answered with deny, takes no {part}"):
        check_parts("It", replace(decision, verdict=Verdict.DENY), EVERYTHING, limits)
    if PARTS[part] is not Beside.NOTHING:
        with pytest.raises(DecisionError, match=f"takes no {part}"):
            check_parts("It", decision, Choices(ANY), limits)


def test_a_bare_verdict_carries_nothing() -> None:
    check_parts("It", Decision(Verdict.DENY), Choices(), dict.fromkeys(PARTS, ((), "")))


def test_a_verdict_that_is_not_offered_is_refused_with_those_that_are() -> None:
    offered = Choices(frozenset({Verdict.DENY, Verdict.PASS}))
    check_verdict("It", Verdict.DENY, offered, [Verdict.DENY])
    with pytest.raises(DecisionError, match="answered with allow; it can with: deny, pass"):
        check_verdict("It", Verdict.ALLOW, offered, [Verdict.DENY])


@pytest.mark.parametrize("verdict", [Verdict.DENY, Verdict.KEEP_GOING])
def test_what_the_model_is_to_read_may_not_be_blank(verdict: Verdict) -> None:
    check_reason(Decision(verdict, reason="no"))
    for blank in ("", " \n"):
        with pytest.raises(DecisionError, match="the model reads it, and more"):
            check_reason(Decision(verdict, reason=blank), ", and more")


def test_an_allow_needs_no_reason() -> None:
    check_reason(Decision(Verdict.ALLOW))
