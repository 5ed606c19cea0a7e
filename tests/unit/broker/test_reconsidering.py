"""A rule was added on a card: what waits and is allowed by it goes its way, by the law alone."""

import pytest

from crabhook.broker.messages import Reconsidered, RuleAdded
from crabhook.model.actor import OWNER
from crabhook.model.decision import Decision, Verdict
from crabhook.model.event import Event
from crabhook.model.order import Order, OrderKind
from crabhook.model.wording import who
from crabhook.policy.rule import Rule, RuleVerdict, Ruling
from tests.support.playbook import ALLOW, Playbook, bash, calling, prompt

RULE = Rule(RuleVerdict.ALLOW, ("Bash(ls)",), (), origin="rules.toml", line=4)
BY = "rule allow Bash(ls) (rules.toml, line 4)"


class Law:
    """Says of `ls` what it is told to say, once a rule was added."""

    def __init__(self) -> None:
        self.verdict: RuleVerdict | None = None
        self.events: list[str] = []

    def __call__(self, event: Event) -> Ruling | None:
        tool_input = event.tool.input if event.tool else None
        if self.verdict is None or tool_input != {"command": "ls"}:
            return None
        return Ruling(self.verdict, RULE, "the rule")


@pytest.fixture
def law() -> Law:
    return Law()


@pytest.fixture
def book(law: Law) -> Playbook:
    return Playbook(law)


def added(book: Playbook, number: int = 1, *, denies: bool = False) -> Playbook:
    book._told("a rule is added", RuleAdded(f"#{number}", "allow Bash(ls)", OWNER, book.now))
    told = list(book.effects)
    for card in book.broker.alike(number):
        rulings = {leg.id: book.judge(leg.event) for leg in card.requests}
        book._told(f"#{card.number} is judged anew", Reconsidered(rulings, book.now, denies))
        told += book.effects
    book.effects = told
    return book


def test_what_waits_for_the_same_is_decided_by_the_rule(book: Playbook, law: Law) -> None:
    book.asks(bash("a", "ls", "t1")).asks(bash("b", "ls", "t2")).asks(bash("c", "ls -l", "t3"))
    book.answers(1, ALLOW)
    law.verdict = RuleVerdict.ALLOW
    added(book).sees(
        "feed: Desk from now on: allow Bash(ls)",
        "b hears PreToolUse allow",
        "#2 decided ALLOWED: b",
        f"feed: #2 PreToolUse ALLOWED: {BY}",
    )
    assert [card.number for card in book.broker.waiting()] == [3]
    assert who(book.broker.card(2).decided.by) == BY  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "verdict",
    [RuleVerdict.DENY, RuleVerdict.ASK_OPERATOR, RuleVerdict.PASS, RuleVerdict.ASK_AGENTS_USER],
)
def test_only_what_the_rules_allow_is_decided(
    book: Playbook, law: Law, verdict: RuleVerdict
) -> None:
    book.asks(bash("a", "ls", "t1")).asks(bash("b", "ls", "t2")).answers(1, ALLOW)
    law.verdict = verdict
    added(book).sees("feed: Desk from now on: allow Bash(ls)")
    assert len(book.broker.waiting()) == 1


def test_a_session_that_is_held_as_a_whole_is_asked_about_on(book: Playbook, law: Law) -> None:
    book.orders(Order(OrderKind.HOLD_ALL, session="held"))
    book.asks(bash("a", "ls", "t1")).asks(bash("b", "ls", "t2", session="held"))
    book.answers(1, ALLOW)
    law.verdict = RuleVerdict.ALLOW
    added(book)
    assert [card.number for card in book.broker.waiting()] == [2]


def test_every_leg_of_a_card_gets_its_own_words(book: Playbook, law: Law) -> None:
    book.asks(bash("a", "ls", "t1")).asks(bash("b", "ls", "t2", session="s2"))
    book.asks(prompt("c", "ls", session="s2")).answers(1, ALLOW)
    law.verdict = RuleVerdict.ALLOW
    added(book).sees(
        "feed: Desk from now on: allow Bash(ls)",
        "b hears PreToolUse allow",
        "c hears PermissionRequest allow",
        "#2 decided ALLOWED: b c",
        f"feed: #2 PreToolUse ALLOWED: {BY}",
    )


def test_another_tool_and_a_result_that_is_held_wait_on(book: Playbook, law: Law) -> None:
    book.orders(Order(OrderKind.HOLD, "PostToolUse"))
    book.asks(bash("a", "ls", "t1"))
    book.asks(calling("b", {"command": "ls"}, "t2", tool="Other"))
    book.asks(bash("c", "ls", "t3", event="PostToolUse", tool_response="x"))
    book.answers(1, ALLOW)
    law.verdict = RuleVerdict.ALLOW
    added(book)
    assert [card.event.name for card in book.broker.waiting()] == ["PreToolUse", "PostToolUse"]


def test_what_a_new_denial_denies_is_denied(book: Playbook, law: Law) -> None:
    book.orders(Order(OrderKind.HOLD_ALL, session="held"))
    book.asks(bash("a", "ls", "t1")).asks(bash("b", "ls", "t2", session="held"))
    book.asks(bash("c", "ls -l", "t3")).answers(1, Decision(Verdict.DENY, "no"))
    law.verdict = RuleVerdict.DENY
    added(book, denies=True).sees(
        "feed: Desk from now on: allow Bash(ls)",
        'b hears PreToolUse deny {"permissionDecisionReason": '
        '"the operator\'s rules deny this: the rule"}',
        "#2 decided DENIED: b",
        f"feed: #2 PreToolUse DENIED: {BY}",
    )
    assert [card.number for card in book.broker.waiting()] == [3]


@pytest.mark.parametrize("verdict", [RuleVerdict.ALLOW, RuleVerdict.ASK_OPERATOR, RuleVerdict.PASS])
def test_a_new_denial_lets_nothing_happen(book: Playbook, law: Law, verdict: RuleVerdict) -> None:
    book.asks(bash("a", "ls", "t1")).asks(bash("b", "ls", "t2"))
    law.verdict = verdict
    added(book, denies=True)
    assert len(book.broker.waiting()) == 2
