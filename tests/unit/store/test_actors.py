"""Who decided and how it ended, in the record: as values, and from the sentences of old records."""

import pytest
from hypothesis import given

from crabhook.model.actor import (
    OWNER,
    UNKNOWN,
    Actor,
    AnsweredAtAgent,
    Ended,
    EndReason,
    Follows,
    Headless,
    Nobody,
    Operator,
    OrderKind,
    RuleActor,
    StandingOrder,
    TimeUp,
)
from crabhook.model.decision import Decided, Decision, Verdict
from crabhook.model.jsontext import compact, parse_object
from crabhook.model.wording import who, why
from crabhook.store.actors import actor_data, actor_in, end_data, end_in
from tests.support.actors import ACTORS, ENDS
from tests.support.rows import every_row


@given(ACTORS)
def test_who_decided_comes_back_from_the_record(actor: Actor) -> None:
    body = parse_object(compact({"by": who(actor), "actor": actor_data(actor)}).encode())
    assert actor_in(body) == actor


@given(ENDS)
def test_how_a_wait_ended_comes_back_from_the_record(end: EndReason) -> None:
    body = parse_object(compact({"why": why(end), "end": end_data(end)}).encode())
    assert end_in(body) == end


@every_row(
    "body, actor",
    [
        ({"by": "operator", "where": "the desk"}, UNKNOWN),
        ({"by": "rule deny Bash (a, line 1)", "rule": "rule deny Bash (a, line 1)"},
         RuleActor("deny Bash (a, line 1)")),
        ({"by": "the rules", "rule": "the rules"}, RuleActor("")),
        ({"by": "headless", "rule": "headless"}, Headless()),
        ({"by": "allow everything of this session"}, StandingOrder(0, OrderKind.ALLOW_ALL)),
        ({"by": "the operator halted this session"}, StandingOrder(0, OrderKind.HALT)),
        ({"by": "keep going, 3 times"}, StandingOrder(0, OrderKind.KEEP_GOING, 3)),
        ({"by": "crabhook", "reason": "the operator is away"}, Nobody(Ended.AWAY)),
        (
            {"by": "crabhook", "reason": "the operator is away, and a person must be asked: x"},
            Nobody(Ended.AWAY),
        ),
        ({}, Nobody(Ended.LEFT_BEFORE)),
    ],
)  # fmt: skip
def test_the_sentences_of_73c5562_are_read(body: dict[str, object], actor: Actor) -> None:
    assert actor_in(body) == actor


@pytest.mark.parametrize(
    ("said", "end"),
    [
        ("answered at the agent", AnsweredAtAgent()),
        ("answered at the agent: it failed: x", AnsweredAtAgent("it failed: x")),
        ("the operator closed the desk", Ended.DESK_CLOSED),
        ("the operator is away", Ended.AWAY),
        ("its hook did not come back after the server's restart", Ended.NEVER_CAME_BACK),
        ("nobody decided in time: the agent's own user decides", TimeUp(Follows.OWN_USER)),
        (
            "nobody decided in time: denied if its hook fails closed, else the agent's own user decides",
            TimeUp(Follows.DENIED_OR_OWN_USER),
        ),
        ("turned away: too much waits", None),
        ("", None),
    ],
)  # fmt: skip
def test_the_ends_of_73c5562_are_read(said: str, end: EndReason | None) -> None:
    assert end_in({"why": said}) == end


@pytest.mark.parametrize("name", ["rule x", "the rules", "headless", "crabhook"])
def test_no_name_of_an_operator_makes_them_a_rule_or_nobody(name: str) -> None:
    ann = Operator("a1", name, "laptop")
    decided = Decided(Decision(Verdict.ALLOW), ann)
    assert who(decided.by) == who(OWNER) == "operator"
    assert actor_in({"by": who(ann), "actor": actor_data(ann)}) == ann


@pytest.mark.parametrize(
    "actor",
    ["x", 7, {}, {"kind": "order", "id": [], "order": "halt"}, {"kind": "nobody", "end": {}}],
)
def test_what_somebody_made_of_the_field_is_no_fault(actor: object) -> None:
    assert actor_in({"by": "operator", "actor": actor}) == UNKNOWN
