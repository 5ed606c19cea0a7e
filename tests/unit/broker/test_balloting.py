"""A card that needs certain people, or several: a yes is a vote, and one denial ends it."""

from dataclasses import replace

import pytest

from crabhook.broker.cards import StaleError, TooLateError
from crabhook.broker.messages import (
    Answered,
    ElectoratesChanged,
    LookedAt,
    Reconsidered,
    Restored,
    RestoredRequest,
)
from crabhook.model.actor import Operator, OrderKind
from crabhook.model.ballot import Electorate, LadderStep, Terms, Voter
from crabhook.model.decision import Beside, Decision, Verdict
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event
from crabhook.model.order import Order
from crabhook.policy.rule import Rule, RuleVerdict, Ruling
from tests.support.playbook import ALLOW, ASK, DENY, PASS, Playbook, bash, prompt
from tests.support.ruled import Judge

ANN, BOB, CAT = (Operator(f"o-{name}", name, f"{name}'s") for name in ("ann", "bob", "cat"))
TEAM = Electorate(
    (Voter("o-ann", "ann", ("@leads",)), Voter("o-bob", "bob", ("@leads",)), Voter("o-cat", "cat")),
    owner_known=True,
)
TWO = Terms(need=2, rule="rules.toml, line 1")


def judge(*terms: Terms) -> Judge:
    asks = Rule(RuleVerdict.ASK_OPERATOR, ("Bash",), (), terms=terms[0] if terms else None)

    def judged(_: Event) -> Ruling:
        return Ruling(RuleVerdict.ASK_OPERATOR, asks, "the rule", terms=terms)

    return judged


def playbook(*terms: Terms) -> Playbook:
    book = Playbook(judge(*terms))
    book.electorate = TEAM
    return book


def test_the_first_yes_waits_and_the_second_is_the_decision() -> None:
    book = playbook(TWO).asks(bash("a", "ls"))
    book.answers(1, ALLOW, ANN).sees(
        "#1 vote of ann",
        "#1 waiting: a",
        "feed: #1 PreToolUse 1 of 2 said yes: ann. It waits for bob and cat.",
    )
    told = 'a hears PreToolUse allow {"systemMessage": "Allowed by ann and bob."}, confirms'
    book.answers(1, ALLOW, BOB).sees(told, "#1 decided ALLOWED: a")


def test_nobody_says_yes_twice() -> None:
    book = playbook(TWO).asks(bash("a", "ls")).answers(1, ALLOW, ANN)
    with pytest.raises(DecisionError, match="counts already"):
        book.answers(1, ALLOW, replace(ANN, desk="ann's phone"))
    assert book.broker.card(1).state == "waiting"  # type: ignore[union-attr]


def test_one_denial_ends_it_whoever_said_yes() -> None:
    book = playbook(TWO).asks(bash("a", "ls")).answers(1, ALLOW, ANN)
    book.answers(1, DENY, CAT)
    assert book.broker.card(1).outcome == "DENIED"  # type: ignore[union-attr]
    with pytest.raises(TooLateError):
        book.answers(1, ALLOW, BOB)


@pytest.mark.parametrize("decision", [PASS, ASK], ids=["pass", "hand back"])
def test_nothing_leaves_the_call_to_the_agent(decision: Decision) -> None:
    book = playbook(TWO).asks(bash("a", "ls"))
    card = book.broker.card(1)
    assert card is not None
    assert decision.verdict not in card.choices.verdicts
    assert not card.choices.beside & (Beside.RULE | Beside.PERMISSIONS)
    with pytest.raises(DecisionError, match="must be allowed by the people"):
        book.answers(1, decision, ANN)


MORE_THAN_SHOWN = {
    "a mode": Decision(Verdict.ALLOW, permissions=({"type": "setMode", "mode": "acceptEdits"},)),
    "a message": Decision(Verdict.ALLOW, user_message="All is well."),
    "an end of the turn": Decision(Verdict.ALLOW, halt="enough"),
    "silence": Decision(Verdict.ALLOW, suppress_output=True),
}


@pytest.mark.parametrize("decision", MORE_THAN_SHOWN.values(), ids=MORE_THAN_SHOWN)
def test_a_yes_brings_nothing_that_the_next_person_is_not_shown(decision: Decision) -> None:
    asks = prompt if decision.permissions else bash
    book = playbook(TWO).asks(asks("a", "ls"))
    with pytest.raises(DecisionError, match="no more"):
        book.answers(1, decision, ANN)
    book.answers(1, replace(ALLOW, note="mind the cache"), ANN)
    assert book.broker.card(1).ballot.votes[-1].note == "mind the cache"  # type: ignore[union-attr]


def test_an_edit_voids_the_votes_and_who_has_not_seen_it_cannot_agree() -> None:
    book = playbook(TWO).asks(bash("a", "ls")).answers(1, ALLOW, ANN)
    seen = book.broker.card(1).revision  # type: ignore[union-attr]
    book.judge = lambda _: None
    edit = Decision(Verdict.ALLOW, updated_input={"command": "ls -l"})
    book.answers(1, edit, BOB).sees(
        "#1 vote of bob, void: ann",
        "feed: #1 PreToolUse the yes of ann is void: the call was changed",
        "#1 waiting: a",
        "feed: #1 PreToolUse 1 of 2 said yes: bob. It waits for ann and cat.",
    )
    card, broker = book.broker.card(1), book.broker
    assert card is not None
    with pytest.raises(StaleError):
        broker.handle(Answered(1, ALLOW, CAT, book.now, seen=seen, electorate=TEAM))
    rulings = dict.fromkeys(broker.changed(1, ALLOW))
    assert rulings, "the rules are asked of the call as it is proposed"
    with pytest.raises(DecisionError, match="were not asked"):
        broker.handle(Answered(1, ALLOW, CAT, book.now, seen=card.revision, electorate=TEAM))
    book.answers(1, ALLOW, CAT).sees(
        'a hears PreToolUse allow {"systemMessage": "Allowed by bob and cat.", '
        '"updatedInput": {"command": "ls -l"}}, confirms',
        "#1 decided ALLOWED: a",
    )


def test_the_servers_own_terminal_names_nobody_and_may_deny() -> None:
    book = playbook(TWO).asks(bash("a", "ls"))
    with pytest.raises(DecisionError, match="none of them"):
        book.answers(1, ALLOW)
    book.answers(1, DENY)
    assert book.broker.card(1).outcome == "DENIED"  # type: ignore[union-attr]


def test_both_legs_of_a_call_bring_their_terms() -> None:
    book = playbook(Terms(of=("@leads",), rule="one rule")).asks(bash("a", "ls"))
    book.judge = judge(Terms(of=("cat",), rule="another"))
    book.asks(prompt("b", "ls")).answers(1, ALLOW, ANN)
    assert book.broker.card(1).state == "waiting"  # type: ignore[union-attr]
    book.answers(1, ALLOW, CAT)
    assert book.broker.card(1).outcome == "ALLOWED"  # type: ignore[union-attr]


def test_a_rule_that_allows_later_does_not_lower_the_need() -> None:
    book = playbook(TWO).asks(bash("a", "ls"))
    allow = Rule(RuleVerdict.ALLOW, ("Bash(ls)",), ())
    rulings = {"a": Ruling(RuleVerdict.ALLOW, allow, "the new rule")}
    book._told("the rules change", Reconsidered(rulings, book.now)).sees()


def test_away_lets_go_of_no_card_that_others_can_decide() -> None:
    book = playbook(TWO).asks(bash("a", "ls", "t1"))
    book.judge = judge()
    book.asks(bash("b", "ls -l", "t2"))
    book.orders(Order(OrderKind.AWAY))
    assert [card.number for card in book.broker.waiting()] == [1]
    book.judge = judge(TWO)
    book.asks(bash("c", "ls -a", "t3"))
    assert [card.number for card in book.broker.waiting()] == [1, 3]


def test_the_ladder_is_told_once_and_a_first_look_puts_it_off() -> None:
    terms = Terms(of=("@leads",), after=(LadderStep(120, "cat"),))
    book = playbook(terms).asks(bash("a", "ls"))
    book.now += 100
    look = LookedAt(1, ANN, book.now)
    book._told("ann looks", look).sees("#1 first look of ann", "#1 waiting: a")
    book._told("ann looks", look).sees()
    book.waits(30).sees()
    book.waits(40).sees(
        "#1 widened: cat",
        "feed: #1 PreToolUse nobody decided so far: cat may too",
        "#1 waiting: a",
    )
    book.waits(100).sees()
    book.answers(1, ALLOW, CAT)
    assert book.broker.card(1).outcome == "ALLOWED"  # type: ignore[union-attr]


def test_the_next_step_wakes_the_broker() -> None:
    book = playbook(Terms(of=("@leads",), after=(LadderStep(120, "cat"),))).asks(bash("a", "ls"))
    assert book.alarm == book.now + 120


def test_who_leaves_the_team_in_mid_vote_loses_the_vote() -> None:
    book = playbook(TWO).asks(bash("a", "ls")).answers(1, ALLOW, ANN)
    book.electorate = Electorate(TEAM.voters[1:], owner_known=True)
    book._told("ann leaves", ElectoratesChanged({1: book.electorate}, book.now)).sees(
        "#1 void: ann",
        "feed: #1 PreToolUse the yes of ann counts no more: not in the team any more",
        "#1 waiting: a",
    )
    book.answers(1, ALLOW, BOB)
    assert book.broker.card(1).state == "waiting"  # type: ignore[union-attr]


def test_the_team_counts_as_it_is_at_the_vote_not_as_it_was_told() -> None:
    book = playbook(TWO).asks(bash("a", "ls")).answers(1, ALLOW, ANN)
    book.electorate = Electorate(TEAM.voters[1:], owner_known=True)
    book.answers(1, ALLOW, BOB)
    assert book.broker.card(1).state == "waiting"  # type: ignore[union-attr]


def test_a_restart_loses_no_vote() -> None:
    book = playbook(TWO).asks(bash("a", "ls")).answers(1, ALLOW, ANN)
    ballots = {1: book.broker.ballots()[1]}
    after = playbook(TWO)
    waiting = (RestoredRequest(1, replace(bash("a", "ls"), wait_until=after.now + 600)),)
    after.broker.handle(Restored(waiting, (), (), 1, after.now, ballots=ballots))
    after.asks(bash("a", "ls"))
    told = 'a hears PreToolUse allow {"systemMessage": "Allowed by ann and bob."}, confirms'
    after.answers(1, ALLOW, BOB).sees(told, "#1 decided ALLOWED: a")


def test_the_end_of_the_wait_is_what_the_hook_was_installed_with() -> None:
    book = playbook(TWO).asks(bash("a", "ls", wait=60)).answers(1, ALLOW, ANN)
    book.waits(61)
    assert "a refused UNDECIDED" in repr(book)
    assert not book.broker.ballots()
