"""The table of acts: each act once, with a role and a guard that the server agrees with."""

from __future__ import annotations

import pytest

from crabhook import policy
from crabhook.data_files import tables
from crabhook.desk.acts import ACTS, OFFERED, Act, Asked, Field, Kind, offered
from crabhook.desk.commands import Decide, DecideWithRule, TakenOffer
from crabhook.model.actor import Role
from crabhook.model.decision import Beside, Choices, Decision, Verdict, set_mode
from crabhook.server.operators.rights import permission_of
from crabhook.team.membership import NEEDS
from tests.support.rows import every_row

EVERYTHING = Choices(frozenset(Verdict), ~Beside.NOTHING)
SUGGESTED = {"type": "addRules", "destination": "session", "behavior": "allow", "rules": []}
VALUES: dict[Field, object] = {
    Field.NOTHING: None,
    Field.INPUT: {"command": "ls"},
    Field.ANSWERS: {"answers": {}},
    Field.CONTENT: {},
    Field.SUGGESTION: SUGGESTED,
    Field.MODE: set_mode("acceptEdits"),
}


def decided(act: Act) -> Decide | DecideWithRule:
    decision = act.decision(VALUES.get(act.field, "words"))
    if act.field is Field.RULE:
        return DecideWithRule(1, 1, TakenOffer("1", None), decision)
    return Decide(1, 1, decision)


def test_names_ids_and_older_words_are_each_of_one_act() -> None:
    words = [word for act in ACTS.values() for word in (act.name, act.pipes) if word]
    assert len(set(words)) == len(words)


@every_row("act", OFFERED)
def test_the_role_of_an_act_is_what_the_server_asks_for(act: Act) -> None:
    assert NEEDS[permission_of(decided(act), ())] is act.role
    assert act.is_for("")
    assert [role for role in Role if act.is_for(role)] == [
        role for role in Role if role.includes(act.role)
    ]


def test_an_act_of_an_admin_is_not_offered_to_a_decider() -> None:
    call = Asked(EVERYTHING, Kind.CALL, suggests=True)
    lacking = {act.id for act in offered(call)} - {act.id for act in offered(call, Role.DECIDER)}
    assert lacking == {"suggestion", "always-allow", "always-deny"}
    assert offered(call, Role.VIEWER) == []


@every_row("act", OFFERED)
def test_an_act_fits_where_the_card_can_be_told_its_decision(act: Act) -> None:
    fits = [kind for kind in Kind if act.fits(Asked(EVERYTHING, kind, suggests=True))]
    assert set(fits) == act.kinds
    kind = fits[0]
    assert not act.fits(Asked(Choices(frozenset(), ~Beside.NOTHING), kind, suggests=True))
    bare = Asked(Choices(frozenset(Verdict)), kind, suggests=True)
    assert act.fits(bare) is (act.beside is Beside.NOTHING)
    assert act.fits(Asked(EVERYTHING, kind)) is not act.suggests


def test_a_card_waits_longer_only_for_an_agent_that_waits() -> None:
    longer = ACTS["wait-longer"]
    assert longer.fits(Asked(EVERYTHING))
    assert not longer.fits(Asked(EVERYTHING, agent_waits=False))
    assert ACTS["snooze"].fits(Asked(EVERYTHING, agent_waits=False))


def test_halting_denies_what_can_still_be_denied() -> None:
    halt = ACTS["halt"]
    assert halt.decision("late") == Decision(Verdict.PASS, halt="late")
    before = halt.decision("wrong", Choices(beside=Beside.INPUT))
    assert before == Decision(Verdict.DENY, reason="wrong", halt="wrong")


def test_an_act_that_decides_no_card_has_no_decision() -> None:
    with pytest.raises(ValueError, match="snooze decides no card"):
        ACTS["snooze"].decision()


def test_a_verb_that_may_let_something_happen_is_one_that_no_agent_may_run() -> None:
    entries = tables(policy.__file__, "protected")["entry"]
    commands = [command for entry in entries for command in entry.get("commands", ())]
    for act in ACTS.values():
        if act.verb:
            words = act.verb.split()[1:3]
            assert act.id in words
            closes = act.gives is None or act.closes
            assert closes or f"crabhook {act.id} *" in commands
