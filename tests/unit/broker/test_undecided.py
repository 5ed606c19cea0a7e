"""A call that nobody decided in time is not denied for good: its card stays open for a ruling."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from crabhook.broker.broker import Broker
from crabhook.broker.messages import Reconsidered
from crabhook.broker.pending import Limits
from crabhook.broker.undecided import MOST_OPEN
from crabhook.desk.commands import Extend, GiveOrder, StopSession
from crabhook.model.actor import HERE, OWNER, Ended, Headless, Operator, OrderKind, StandingOrder
from crabhook.model.ballot import Electorate, Terms, Voter
from crabhook.model.card import Because, Brought, Card, Request, State
from crabhook.model.decision import Beside, Decision, Verdict
from crabhook.model.errors import DecisionError
from crabhook.model.order import RULED_FOR, Order
from crabhook.model.signing import SignedOnly
from crabhook.platforms import PLATFORMS
from crabhook.policy.rule import Rule, RuleVerdict, Ruling
from tests.support.playbook import (
    ALLOW,
    ASK,
    DENY,
    PASS,
    WAIT,
    Playbook,
    asking,
    bash,
    calling,
    done,
    is_allow,
    of_machine,
    prompt,
)
from tests.support.rows import every_row

OPEN_FOR = 28_800.0
UNDECIDED = "UNDECIDED: its agent went on, and your answer reaches it later"


def gate(ticket: str, command: str = "touch made", use_id: str = "t1", **how: Any) -> Request:
    """A gate's PreToolUse of a command, whose hook fails closed."""
    return replace(bash(ticket, command, use_id, **how), when_lost="deny")


def undecided(book: Playbook, request: Request | None = None) -> Playbook:
    """Have a call asked, and nobody decide it."""
    return book.asks(request or gate("a")).waits(WAIT)


def card(book: Playbook, number: int = 1) -> Card:
    known_card = book.broker.card(number)
    assert known_card is not None
    return known_card


def replies(book: Playbook) -> list[Any]:
    return [effect.reply for effect in book.effects if hasattr(effect, "reply")]


def runs(book: Playbook, request: Request) -> bool:
    """Whether this event is allowed at once."""
    book.asks(request)
    return any(map(is_allow, replies(book)))


def told(book: Playbook, ticket: str = "r") -> str:
    """What the model reads with the result of another call."""
    book.asks(bash(ticket, "ls", f"{ticket}9", event="PostToolUse"))
    return repr([reply.stdout for reply in replies(book)])


def rulings(book: Playbook) -> list[Order]:
    return [order for order in book.broker.orders() if order.law]


def test_the_model_reads_that_nobody_decided_and_the_card_stays_open(book: Playbook) -> None:
    undecided(book)
    (reply,) = replies(book)
    assert not is_allow(reply)
    specific = reply.output["hookSpecificOutput"]
    assert specific["permissionDecision"] == "deny"
    reason = specific["permissionDecisionReason"]
    assert reason.startswith("Not decided: nobody answered in time. The call is open as #1")
    assert "Go on with other work" in reason
    assert "A note will tell you" in reason
    assert card(book).state is State.WAITING
    assert card(book).went_on
    assert card(book).choices.verdicts == {Verdict.ALLOW, Verdict.DENY}
    assert not card(book).choices.beside & ~(Beside.NOTE | Beside.RULE)
    assert card(book).wait_until == book.now + OPEN_FOR


def test_a_later_yes_lets_the_next_such_call_run_once_and_tells_the_model(book: Playbook) -> None:
    undecided(book).waits(3000).answers(1, Decision(Verdict.ALLOW, note="mind the dog"))
    assert card(book).outcome == "ALLOWED"
    assert [str(order) for order in rulings(book)] == ["let run once Bash session=s times=1 #1"]
    note = told(book)
    assert "#1, a call of yours that nobody had decided in time, is allowed now" in note
    assert "touch made" in note
    assert "mind the dog" in note
    assert runs(book, gate("x", use_id="t2"))
    assert rulings(book) == []
    assert "once" not in told(book, "q")
    book.asks(gate("y", use_id="t3")).sees("#2 waiting: y")


def test_a_later_no_denies_the_next_such_call_with_the_same_words(book: Playbook) -> None:
    undecided(book).answers(1, DENY)
    note = told(book)
    assert "is denied now. Do not make it again" in note
    assert "not here" in note
    for ticket in ("x", "y"):
        book.asks(gate(ticket, use_id=ticket))
        (reply,) = replies(book)
        assert "denied this call, as #1: not here" in repr(reply.stdout)
    book.now += RULED_FOR
    book.asks(gate("z", use_id="z")).sees("#2 waiting: z")


def test_the_ended_invocation_hears_the_same_whatever_comes_later(book: Playbook) -> None:
    first = replies(undecided(book))
    assert replies(book.asks(gate("a"))) == first
    book.answers(1, ALLOW)
    assert replies(book.asks(gate("a"))) == first
    assert len(rulings(book)) == 1


OTHER: dict[str, Callable[[], Request]] = {
    "a changed byte": lambda: gate("x", "touch made ", "t2"),
    "another session": lambda: gate("x", session="t"),
    "another agent of the session": lambda: gate("x", agent="sub"),
    "another machine": lambda: of_machine("far", gate("x")),
    "another folder": lambda: gate("x", cwd="/elsewhere"),
    "a call that is served for another session": lambda: gate("x", caller_session_id="far"),
    "another platform": lambda: gate("x", platform="codex"),
    "another event of the call": lambda: replace(prompt("x", "touch made"), when_lost="deny"),
}


@every_row("other", OTHER.values())
def test_nothing_else_runs_by_a_yes(other: Callable[[], Request]) -> None:
    book = undecided(Playbook()).answers(1, ALLOW)
    assert not runs(book, other())
    assert len(rulings(book)) == 1
    assert runs(book, gate("own", use_id="t2"))


@every_row("other", list(OTHER.values())[:-1])
def test_no_other_call_is_denied_by_a_no_or_joins_the_card(other: Callable[[], Request]) -> None:
    book = undecided(Playbook()).answers(1, DENY)
    book.asks(other()).sees("#2 waiting: x")
    book = undecided(Playbook()).asks(other()).sees("#2 waiting: x")


def test_the_same_call_asked_again_joins_the_open_card_and_is_counted(book: Playbook) -> None:
    undecided(book).asks(gate("b", use_id="t2"))
    assert [leg.id for leg in card(book).requests] == ["b"]
    assert (card(book).asked.times, card(book).went_on) == (2, False)
    assert Verdict.PASS in card(book).choices.verdicts
    book.waits(WAIT)
    assert (card(book).asked.times, card(book).went_on) == (2, True)
    book.asks(gate("c", use_id="t3"))
    assert card(book).asked.times == 3
    book.answers(1, ALLOW).sees("c hears PreToolUse allow, confirms", "#1 decided ALLOWED: c")
    assert rulings(book) == []  # the call that waited has it


def test_a_hook_that_leaves_after_it_asked_again_leaves_the_card_open(book: Playbook) -> None:
    undecided(book).asks(gate("b", use_id="t2")).leaves("b")
    book.sees("#1 waiting: b", f"feed: #1 PreToolUse {UNDECIDED}")
    assert card(book).went_on
    book.asks(gate("c", use_id="t3")).leaves("c").answers(1, ALLOW)
    assert len(rulings(book)) == 1


def test_two_such_calls_at_once_are_one_open_card(book: Playbook) -> None:
    book.asks(gate("a")).asks(gate("b", use_id="t2")).waits(WAIT)
    first, other = (repr(reply.stdout) for reply in replies(book))
    assert "open as #1," in first
    assert "open as #1," in other
    assert [each.number for each in book.broker.waiting()] == [1]
    assert card(book).asked.times == 2
    assert card(book, 2).state is State.EXPIRED


def test_every_hook_of_the_call_has_its_answer_at_once(book: Playbook) -> None:
    book.asks(gate("a")).asks(replace(gate("b"), wait_until=900.0)).waits(WAIT)
    assert len(replies(book)) == 2
    assert [leg.id for leg in card(book).requests] == ["a"]
    assert replies(book.asks(gate("b")))


def question(ticket: str) -> Request:
    asked = {"questions": [{"question": "q?", "options": []}]}
    return calling(ticket, asked, "q1", tool="AskUserQuestion")


STAYS_NOT: dict[str, Callable[[], tuple[Playbook, Request]]] = {
    "a hook that passes": lambda: (Playbook(), bash("a", "ls")),
    "a hook that has its user asked": lambda: (Playbook(), replace(gate("a"), when_lost="ask")),
    "switched off": lambda: (Playbook(bounds=Limits(open_for=0)), gate("a")),
    "a question": lambda: (Playbook(), replace(question("a"), when_lost="deny")),
    "a plan": lambda: (
        Playbook(),
        replace(calling("a", {}, "p1", tool="ExitPlanMode"), when_lost="deny"),
    ),
    "a line of a skill": lambda: (
        Playbook(),
        replace(bash("a", "ls", event="PreSkillShellCommand"), when_lost="deny"),
    ),
    "a strict hook": lambda: (Playbook(), replace(gate("a"), strict=SignedOnly(b"", b""))),
    "a form": lambda: (Playbook(), replace(asking("a", "Elicitation"), when_lost="deny")),
}


@every_row("made", STAYS_NOT.values())
def test_what_is_no_denied_call_ends_as_before(
    made: Callable[[], tuple[Playbook, Request]],
) -> None:
    book, request = made()
    book.asks(request).waits(WAIT)
    assert card(book).state is State.EXPIRED
    assert not replies(book)


def test_a_call_that_one_of_its_hooks_passes_ends_as_before(book: Playbook) -> None:
    book.asks(gate("a")).asks(bash("b", "touch made")).waits(WAIT)
    assert not replies(book)
    assert card(book).state is State.EXPIRED


def test_so_many_stay_open_in_a_session_and_no_more(book: Playbook) -> None:
    for place in range(MOST_OPEN + 3):
        book.asks(gate(f"d{place}", f"touch {place}", f"u{place}"))
    book.waits(WAIT)
    assert len(book.broker.waiting()) == MOST_OPEN
    book.asks(gate("again", "touch 0", "u99")).waits(WAIT)  # one that has its place
    assert len(book.broker.waiting()) == MOST_OPEN
    undecided(book, gate("other", session="t"))
    assert len(book.broker.waiting()) == MOST_OPEN + 1


def test_an_open_card_ends_by_itself(book: Playbook) -> None:
    undecided(book).waits(OPEN_FOR - 1)
    assert card(book).went_on
    book.waits(1)
    assert card(book).state is State.EXPIRED
    assert card(book).why == "nobody decided in time: denied, as its hook was installed to"


def test_no_later_event_of_the_call_gets_what_the_end_of_an_open_card_was(book: Playbook) -> None:
    undecided(book).waits(OPEN_FOR)
    book.asks(prompt("x", "touch made")).sees("#2 waiting: x")


def test_the_agents_next_events_leave_it_open_and_its_sessions_end_takes_it(
    book: Playbook,
) -> None:
    undecided(book)
    for ticket, event in enumerate(("PostToolBatch", "Stop", "UserPromptSubmit", "SubagentStop")):
        book.asks(asking(f"e{ticket}", event))
        assert card(book).state is State.WAITING
    book.asks(asking("end", "SessionEnd"))
    assert card(book).end is Ended.SESSION_OVER
    assert card(book).why == "its agent had gone on, and ended before anybody ruled"


def test_a_subagents_end_takes_its_card(book: Playbook) -> None:
    undecided(book, gate("a", agent="sub"))
    book.asks(asking("end", "SubagentStop", agent="sub"))
    assert card(book).end is Ended.SESSION_OVER


def test_a_ruling_waits_for_a_session_that_is_resumed(book: Playbook) -> None:
    undecided(book).answers(1, ALLOW).asks(asking("end", "SessionEnd"))
    assert runs(book, gate("x", use_id="t2"))


def test_a_call_that_has_run_by_now_leaves_nothing_open() -> None:
    book = undecided(Playbook())
    book.judge = lambda _: Ruling(RuleVerdict.ALLOW, None, "by now")
    book.asks(gate("b", use_id="t2"))
    assert card(book).state is State.WAITING
    book.asks(done("c", "touch made", "t2"))
    assert card(book).state is State.WITHDRAWN
    assert not rulings(book)


def ask_rule(words: str = "rules.toml, line 1: ask Bash", *terms: Terms) -> Ruling:
    rule = Rule(RuleVerdict.ASK_OPERATOR, ("Bash",), (), terms=terms[0] if terms else None)
    because = Because(Brought.RULE, "ask Bash", full=words)
    return Ruling(RuleVerdict.ASK_OPERATOR, rule, words, because=because, terms=terms)


LAWS: dict[str, tuple[Ruling, bool]] = {
    "the question that was answered": (ask_rule(), True),
    "another rule's question": (ask_rule("rules.toml, line 2: ask Bash"), False),
    "more people": (ask_rule("rules.toml, line 1: ask Bash", Terms(need=2, rule="r")), False),
    "a denial": (Ruling(RuleVerdict.DENY, None, "no"), False),
    "a question for the agent's user": (
        Ruling(RuleVerdict.ASK_AGENTS_USER, None, "rules.toml, line 1: ask Bash"),
        False,
    ),
}


@every_row("law, lets", LAWS.values())
def test_a_yes_answers_the_rule_that_asked_and_no_other(law: Ruling, lets: bool) -> None:
    book = undecided(Playbook(lambda _: ask_rule())).answers(1, ALLOW)
    book.judge = lambda _: law
    assert runs(book, gate("x", use_id="t2")) is lets


def test_a_protected_place_asks_again_after_a_yes() -> None:
    because = Because(Brought.PROTECTED, "secrets", name="env-files")
    protected = Ruling(RuleVerdict.ASK_OPERATOR, None, "secrets", because=because)
    book = undecided(Playbook(lambda _: protected)).answers(1, ALLOW)
    book.asks(gate("x", use_id="t2")).sees("#2 waiting: x")


@pytest.mark.parametrize("kind", [OrderKind.HALT, OrderKind.HOLD_ALL])
def test_an_order_that_stops_or_holds_the_session_comes_first(
    kind: OrderKind, book: Playbook
) -> None:
    undecided(book).answers(1, ALLOW).orders(Order(kind, session="s", words="stop"))
    assert not runs(book, gate("x", use_id="t2"))


@pytest.mark.parametrize("kind", [OrderKind.AWAY, OrderKind.HALT])
def test_no_order_and_no_closing_desk_takes_an_open_card(kind: OrderKind, book: Playbook) -> None:
    undecided(book).orders(Order(kind, session="s" if kind is OrderKind.HALT else "", words="x"))
    book.closes()
    assert card(book).went_on
    assert card(book).state is State.WAITING


def test_a_session_that_is_stopped_keeps_its_open_card(book: Playbook) -> None:
    undecided(book)
    book.broker.handle(commanded(StopSession("s", "enough")))
    assert card(book).state is State.WAITING
    assert not rulings(book)


NOT_PLAIN = {
    "a changed input": Decision(Verdict.ALLOW, updated_input={"command": "ls"}),
    "the end of the turn": Decision(Verdict.DENY, reason="no", interrupt=True),
    "a halt": Decision(Verdict.DENY, reason="no", halt="stop"),
    "a message": Decision(Verdict.ALLOW, user_message="hello"),
    "no opinion": PASS,
    "the agent's user": ASK,
}


@every_row("decision", NOT_PLAIN.values())
def test_what_cannot_reach_it_later_is_refused(decision: Decision) -> None:
    book = undecided(Playbook())
    with pytest.raises(DecisionError, match="its agent went on"):
        book.answers(1, decision)
    assert card(book).state is State.WAITING
    assert not rulings(book)


@pytest.mark.parametrize("by", [Headless(), StandingOrder(1, OrderKind.ALLOW_ALL)])
def test_only_people_and_rules_rule_on_it(by: Any, book: Playbook) -> None:
    undecided(book)
    with pytest.raises(DecisionError, match="a person has to rule"):
        book.answers(1, ALLOW, by)
    assert card(book).state is State.WAITING


def test_nothing_that_a_hook_or_a_desk_sends_is_such_an_order(book: Playbook) -> None:
    event = gate("d").event
    for order in (
        Order.denying(event, book.now + 60, 1, "law", "no"),
        Order(OrderKind.DENY_AGAIN, session="s"),
    ):
        with pytest.raises(DecisionError, match="only the card"):
            book.orders(order)


def test_a_new_rule_that_allows_it_ends_the_card_without_an_order(book: Playbook) -> None:
    undecided(book)
    allows = Ruling(RuleVerdict.ALLOW, None, "from now on")
    book.effects = book.broker.handle(Reconsidered({"a": allows}, book.now))
    assert card(book).outcome == "ALLOWED"
    assert not rulings(book)
    assert "is allowed now" in told(book)


def test_nobody_gives_an_open_card_more_time(book: Playbook) -> None:
    undecided(book)
    with pytest.raises(DecisionError, match="no agent that waits"):
        book._told("extend", commanded(Extend(1, 60.0)))


def commanded(command: Any) -> Any:
    from crabhook.broker.messages import Commanded

    return Commanded(command, OWNER, 0.0)


ANN, BOB = (Operator(f"o-{name}", name, HERE) for name in ("ann", "bob"))
TWO = Terms(need=2, rule="rules.toml, line 1")


def test_a_card_that_needs_two_keeps_its_ballot() -> None:
    book = Playbook(lambda _: ask_rule("two", TWO))
    book.electorate = Electorate((Voter("o-ann", "ann"), Voter("o-bob", "bob")), owner_known=True)
    book.asks(gate("a")).answers(1, ALLOW, ANN).waits(WAIT)
    assert card(book).went_on
    with pytest.raises(DecisionError, match="counts already"):
        book.answers(1, ALLOW, ANN)
    book.asks(gate("b", use_id="t2")).waits(WAIT).answers(1, ALLOW, BOB)
    assert card(book).outcome == "ALLOWED"
    assert runs(book, gate("x", use_id="t3"))
    book.asks(gate("y", use_id="t4")).sees("#2 waiting: y")
    assert not card(book, 2).ballot.votes  # type: ignore[union-attr]


def test_a_card_whose_votes_are_for_a_changed_call_ends_as_before() -> None:
    book = Playbook(lambda _: ask_rule("two", TWO))
    book.electorate = Electorate((Voter("o-ann", "ann"), Voter("o-bob", "bob")), owner_known=True)
    book.asks(gate("a"))
    book.answers(1, Decision(Verdict.ALLOW, updated_input={"command": "ls"}), ANN).waits(WAIT)
    assert card(book).state is State.EXPIRED


AGENTS: dict[str, tuple[str, str]] = {
    "codex": ("PreToolUse", "A note will tell you"),
    "gemini": ("BeforeTool", "A note will tell you"),
    "copilot": ("PreToolUse", "A note will tell you"),
    "qwen": ("PreToolUse", "A note will tell you"),
}


@every_row("agent, event, later", [(name, *row) for name, row in AGENTS.items()])
def test_every_agent_reads_it_and_its_next_such_call_runs(
    agent: str, event: str, later: str
) -> None:
    book = Playbook()

    def asks(ticket: str) -> Request:
        called = calling(ticket, {"command": "make"}, platform=agent, event=event, tool="Bash")
        return replace(called, when_lost="deny")

    undecided(book, asks("a"))
    (reply,) = replies(book)
    assert b"Not decided" in reply.stdout
    assert later.encode() in reply.stdout
    book.answers(1, ALLOW).asks(asks("b"))
    assert b"deny" not in replies(book)[0].stdout
    assert not rulings(book)


def test_an_agent_that_asks_its_user_first_is_let_by_one_yes(book: Playbook) -> None:
    def asks(ticket: str, event: str) -> Request:
        called = calling(ticket, {"command": "make"}, platform="qwen", event=event, tool="Bash")
        return replace(called, when_lost="deny")

    undecided(book, asks("a", "PermissionRequest")).answers(1, ALLOW)
    assert runs(book, asks("b", "PermissionRequest"))
    line = "feed: PreToolUse ALLOWED: the same call was decided before"
    book.asks(asks("c", "PreToolUse")).sees("c hears nothing", line)
    book.asks(asks("d", "PermissionRequest")).sees("#2 waiting: d")


def test_an_order_is_no_command_of_a_desk(book: Playbook) -> None:
    forged = Order.letting_run(gate("d").event, book.now + 60, 1, "law")
    with pytest.raises(DecisionError, match="only the card"):
        book._told("forged", commanded(GiveOrder(forged)))
    assert isinstance(Broker(PLATFORMS).asked(), dict)
