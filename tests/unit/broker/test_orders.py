"""Standing orders: what they do to events still to come, and how each ends by itself."""

import pytest

from crabhook.broker.orders import MAX_ORDERS
from crabhook.model.card import Stance
from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import DecisionError
from crabhook.model.order import UNHEARD_DAYS, Order, OrderKind
from crabhook.model.wording import AWAY
from crabhook.policy.rule import PLAN_FILE, RuleVerdict, Ruling
from tests.support.playbook import Playbook, asking, bash, calling, prompt

WEEK = UNHEARD_DAYS * 86_400.0


def standing(book: Playbook) -> list[OrderKind]:
    return [order.kind for order in book.broker.orders()]


def test_an_event_waits_once_its_holding_was_asked_for_and_not_before(book: Playbook) -> None:
    book.asks(asking("a", "Stop")).sees("a hears nothing", "feed: Stop")
    book.orders(Order(OrderKind.HOLD, name="Stop"))
    book.asks(asking("b", "Stop")).sees("#1 waiting: b")
    book.asks(asking("c", "SubagentStop", agent="x")).sees("c hears nothing", "feed: SubagentStop")


def test_a_hold_with_a_count_ends_after_that_many(book: Playbook) -> None:
    book.orders(Order(OrderKind.HOLD, name="Stop", times=2))
    for ticket in "ab":
        book.asks(asking(ticket, "Stop", agent=ticket))
    assert len(book.broker.waiting()) == 2
    assert standing(book) == []
    book.asks(asking("c", "Stop", agent="c"))
    assert len(book.broker.waiting()) == 2


@pytest.mark.parametrize(
    ("order", "waits"),
    [
        (Order(OrderKind.HOLD, name="Stop", session="s"), True),
        (Order(OrderKind.HOLD, name="Stop", session="other"), False),
        (Order(OrderKind.HOLD, name="Stop", project="p"), True),
        (Order(OrderKind.HOLD, name="Stop", project="/p"), True),
        (Order(OrderKind.HOLD, name="Stop", project="q"), False),
    ],
    ids=str,
)
def test_an_order_speaks_of_its_session_and_project_alone(
    order: Order, waits: bool, book: Playbook
) -> None:
    book.orders(order).asks(asking("a", "Stop"))
    assert bool(book.broker.waiting()) == waits


def test_everything_of_a_session_is_allowed_but_what_asks_a_person(book: Playbook) -> None:
    book.orders(Order(OrderKind.ALLOW_ALL, session="s", until=book.now + 60))
    book.asks(bash("a", "ls"))
    assert '"allow"' in repr(book.effects[0].reply.stdout)  # type: ignore[union-attr]
    book.asks(bash("b", "ls", session="t")).sees("#1 waiting: b")
    book.asks(calling("c", {"questions": []}, "t9", tool="AskUserQuestion")).sees("#2 waiting: c")
    book.waits(60)
    assert standing(book) == []
    book.asks(bash("d", "rm", "t3")).sees("#3 waiting: d")


def test_an_allow_of_everything_needs_a_session_and_an_end(book: Playbook) -> None:
    with pytest.raises(DecisionError, match="which session"):
        book.orders(Order(OrderKind.ALLOW_ALL, until=book.now + 1))
    with pytest.raises(DecisionError, match="how long"):
        book.orders(Order(OrderKind.ALLOW_ALL, session="s"))


def test_holding_everything_of_a_session_holds_what_is_otherwise_watched(book: Playbook) -> None:
    book.orders(Order(OrderKind.HOLD_ALL, session="s", until=book.now + 60))
    book.asks(asking("a", "UserPromptSubmit", prompt="x")).sees("#1 waiting: a")
    book.asks(asking("b", "Notification")).sees("b hears nothing", "feed: Notification")


def test_away_lets_everything_pass_with_no_opinion_and_ends_by_itself(book: Playbook) -> None:
    book.orders(Order(OrderKind.AWAY, until=book.now + 60))
    book.asks(bash("a", "ls"))
    reply = book.effects[0].reply  # type: ignore[union-attr]
    assert (reply.stdout, reply.exit_code) == (b"", 0)
    assert AWAY in reply.stderr
    book.waits(60)
    book.asks(bash("b", "rm", "t2")).sees("#1 waiting: b")


def test_keeping_going_by_itself_says_the_words_so_many_times(book: Playbook) -> None:
    book.orders(Order(OrderKind.KEEP_GOING, name="Stop", session="s", times=2, words="go on"))
    for ticket in "ab":
        book.asks(asking(ticket, "Stop", agent=ticket))
        assert b'"go on"' in book.effects[0].reply.stdout  # type: ignore[union-attr]
    book.asks(asking("c", "Stop", agent="c")).sees("c hears nothing", "feed: Stop")


@pytest.mark.parametrize("times", [0, 9, -1])
def test_keeping_going_by_itself_has_a_hard_limit(times: int, book: Playbook) -> None:
    with pytest.raises(DecisionError, match="1 to 8"):
        book.orders(Order(OrderKind.KEEP_GOING, name="Stop", times=times, words="x"))


def test_the_end_of_a_session_ends_its_orders(book: Playbook) -> None:
    book.orders(Order(OrderKind.HOLD, name="Stop", session="s")).orders(
        Order(OrderKind.HOLD, name="Stop")
    )
    book.asks(asking("a", "SessionEnd"))
    assert [order.session for order in book.broker.orders()] == [""]


def test_an_order_takes_the_place_of_one_about_the_same(book: Playbook) -> None:
    book.orders(Order(OrderKind.AWAY)).orders(Order(OrderKind.AWAY, until=book.now + 9))
    assert [order.until for order in book.broker.orders()] == [book.now + 9]


def test_orders_are_bounded(book: Playbook) -> None:
    for number in range(MAX_ORDERS):
        book.orders(Order(OrderKind.HOLD, name="Stop", session=str(number)))
    with pytest.raises(DecisionError, match="end one first"):
        book.orders(Order(OrderKind.HOLD, name="Stop", session="one more"))


def test_a_companion_holds_a_form_only_when_asked_to(book: Playbook) -> None:
    book.asks(asking("a", "Elicitation", stance=Stance.COMPANION))
    book.orders(Order(OrderKind.HOLD, name="Elicitation"))
    book.asks(asking("b", "Elicitation", stance=Stance.COMPANION)).sees("#1 waiting: b")
    book.asks(prompt("c", "ls", stance=Stance.COMPANION)).sees("#2 waiting: c")


# A halt.

HALT = Decision(Verdict.DENY, reason="look at this", halt="look at this")
HALTED_SAYS = (
    "the operator halted this session: look at this. "
    "Make no more calls: wait for what its user says next."
)


def halted(book: Playbook) -> Playbook:
    return book.asks(bash("a", "ls")).answers(1, HALT)


def test_a_halt_denies_every_other_call_until_the_next_prompt_by_rules_as_well() -> None:
    book = Playbook(lambda _: Ruling(RuleVerdict.ALLOW, None, "allowed"))
    book.asks(bash("b", "touch a", "t2")).sees(
        "b hears PreToolUse allow", "feed: PreToolUse ALLOWED: the rules"
    )
    book.orders(Order(OrderKind.HOLD, "Stop", session="s")).asks(asking("s", "Stop"))
    book.answers(1, Decision(Verdict.PASS, halt="look at this"))
    book.asks(bash("c", "touch b", "t3"))
    assert HALTED_SAYS in repr(book)
    book.asks(asking("p", "UserPromptSubmit"))
    assert not book.broker.orders() or all(
        o.kind is not OrderKind.HALT for o in book.broker.orders()
    )
    book.asks(bash("d", "touch b", "t4")).sees(
        "d hears PreToolUse allow", "feed: PreToolUse ALLOWED: the rules"
    )


@pytest.mark.parametrize("stance", [Stance.GATE, Stance.COMPANION])
def test_a_halt_holds_for_subagents_and_for_companions(stance: Stance, book: Playbook) -> None:
    halted(book).asks(bash("b", "make", "t2", agent="sub", stance=stance))
    assert f'"permissionDecisionReason": "{HALTED_SAYS}"' in repr(book)
    book.asks(prompt("c", "make", agent="sub", stance=stance))
    assert (
        f'c hears PermissionRequest deny {{"message": "{HALTED_SAYS}", "interrupt": true}}'
        in repr(book)
    )
    book.asks(bash("d", "make", "t3", session="else")).sees("#2 waiting: d")


def test_a_halt_denies_what_waits_already(book: Playbook) -> None:
    book.asks(bash("a", "ls")).asks(bash("b", "touch b", "t2")).answers(1, HALT)
    assert not book.broker.waiting()
    assert book.broker.card(2).decision.reason == HALTED_SAYS  # type: ignore[union-attr]


def test_a_subagents_prompt_and_news_that_is_not_believed_end_no_halt(book: Playbook) -> None:
    halted(book).asks(asking("z", "UserPromptSubmit", agent="sub")).asks(asking("y", "Stop"))
    assert [order.kind for order in book.broker.orders()] == [OrderKind.HALT]
    book.asks(asking("x", "SessionEnd"))
    assert not book.broker.orders()


def test_a_halt_is_an_order_that_can_be_ended_and_is_never_one_too_many(book: Playbook) -> None:
    for number in range(MAX_ORDERS):
        book.orders(Order(OrderKind.HOLD, "Stop", session=f"s{number}"))
    halted(book)
    assert len(book.broker.orders()) == MAX_ORDERS + 1


def test_a_halt_of_no_session_halts_none(book: Playbook) -> None:
    book.asks(bash("a", "ls", session="")).answers(1, HALT)
    assert not book.broker.orders()


def test_no_order_allows_the_plan_file_whose_session_only_the_agent_knows(book: Playbook) -> None:
    book.orders(Order(OrderKind.ALLOW_ALL, session="s", until=book.now + 60))
    book.judge = lambda _: Ruling(RuleVerdict.PASS, PLAN_FILE, "its plan file")
    book.asks(calling("a", {"file_path": "/h/.claude/plans/a-b.md"}, tool="Write"))
    assert book.effects[0].reply.stdout == b""  # type: ignore[union-attr]
    assert "PASSED: rule pass the plan file" in str(book)


def test_an_order_of_a_session_that_is_not_heard_of_for_a_week_ends_by_itself(
    book: Playbook,
) -> None:
    book.asks(bash("a", "ls"))
    book.orders(Order(OrderKind.HOLD_ALL, session="s"))
    book.orders(Order(OrderKind.HOLD, name="Stop"))
    book.waits(WEEK - 60)
    book.asks(asking("b", "SubagentStop", agent="x"))
    book.waits(WEEK - 60)
    assert standing(book) == [OrderKind.HOLD_ALL, OrderKind.HOLD]
    assert book.alarm == book.now + 60
    book.waits(60)
    assert standing(book) == [OrderKind.HOLD]
    assert "not heard of for 7 days" in book.broker.feed()[-1].text
