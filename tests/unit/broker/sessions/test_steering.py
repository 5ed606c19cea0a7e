"""Notes to agents that run, and stops: given with the next call, once, and never an allow."""

from __future__ import annotations

import pytest

from crabhook.broker.messages import Commanded, NoteToldOf
from crabhook.broker.sessions.notes import LONGEST, MOST_OF_AN_AGENT
from crabhook.desk.commands import Steer, StopSession, TakeBackNote
from crabhook.model.actor import OWNER
from crabhook.model.card import Stance
from crabhook.model.errors import DecisionError
from crabhook.model.order import Order, OrderKind
from crabhook.policy.rule import RuleVerdict, Ruling
from tests.support.playbook import (
    ALLOW,
    DENY,
    Playbook,
    asking,
    bash,
    calling,
    done,
    of_machine,
    prompt,
)

COMPANION = Stance.COMPANION
SAID = "Note from the operator: use the blue one"


def steer(
    book: Playbook, text: str = "use the blue one", agent: str = "", session: str = "s"
) -> None:
    book._told("steered", Commanded(Steer(session, text, agent), OWNER, book.now))


def stop(book: Playbook, agent: str = "", session: str = "s") -> None:
    book._told(
        "stopped", Commanded(StopSession(session, "the wrong branch", agent), OWNER, book.now)
    )


def heard(book: Playbook) -> Playbook:
    """A session with a subagent, both of which were heard of."""
    return book.asks(asking("h", "SessionStart")).asks(asking("i", "SubagentStart", agent="sub"))


def test_a_note_goes_with_the_next_call_of_that_agent_alone_and_allows_nothing(
    book: Playbook,
) -> None:
    steer(heard(book))
    book.sees(*book_line(book, "waits for its next call: use the blue one"))
    book.asks(bash("a", "ls", "t1", agent="sub", stance=COMPANION))
    book.sees("a hears nothing", "feed: PreToolUse")
    book.asks(bash("b", "ls", "t2", session="t", stance=COMPANION))
    book.sees("b hears nothing", "feed: PreToolUse")
    book.asks(bash("c", "ls", "t3", stance=COMPANION))
    book.sees(f'c hears PreToolUse {{"additionalContext": "{SAID}"}}, confirms', "feed: PreToolUse")
    book.asks(bash("d", "ls", "t4", stance=COMPANION)).sees("d hears nothing", "feed: PreToolUse")
    book.confirms("c").sees(*book_line(book, "was delivered with PreToolUse Bash"))


def book_line(book: Playbook, what: str) -> tuple[str, ...]:
    told = [one for one in book.effects if isinstance(one, NoteToldOf)]
    assert [one.what for one in told] == [what]
    return (book._line(told[0]), f"feed: Desk {told[0].note.label} {what}")


@pytest.mark.parametrize(
    ("platform", "events"),
    [
        ("gemini", {"BeforeTool": False, "AfterTool": True}),
        ("codex", {"PreToolUse": True}),
        ("claude", {"PermissionRequest": False, "PostToolUseFailure": True}),
    ],
)
def test_each_agent_is_told_with_the_first_event_of_a_call_that_carries_text_to_its_model(
    platform: str, events: dict[str, bool], book: Playbook
) -> None:
    book.asks(asking("h", "SessionStart", platform=platform))
    steer(book)
    for name, carries in events.items():
        book.asks(calling(name, {"command": "ls"}, "t1", event=name, platform=platform))
        if book.broker.waiting():
            book.answers(1, ALLOW)
        assert (SAID in repr(book)) is carries


def test_a_note_goes_with_an_allow_but_waits_where_a_call_is_denied(book: Playbook) -> None:
    steer(heard(book))
    book.asks(bash("a", "ls")).answers(1, DENY)
    assert SAID not in repr(book)
    book.asks(bash("b", "make", "t2")).answers(2, ALLOW)
    assert SAID in repr(book)


def test_a_note_goes_with_what_a_rule_decides_and_with_a_result(book: Playbook) -> None:
    ruled = Playbook(lambda _: Ruling(RuleVerdict.ALLOW, None, "allowed"))
    steer(heard(ruled))
    ruled.asks(bash("a", "ls", "t1"))
    assert f'allow {{"additionalContext": "{SAID}"}}, confirms' in repr(ruled)
    steer(heard(book))
    book.asks(done("b", "ls", "t1"))
    assert f'PostToolUse {{"additionalContext": "{SAID}"}}, confirms' in repr(book)


def test_a_note_that_did_not_arrive_waits_once_more_and_is_then_given_up(book: Playbook) -> None:
    steer(heard(book))
    book.asks(done("a", "ls", "t1")).confirms("a", whole=False)
    book.sees(*book_line(book, "did not arrive with PostToolUse Bash: it waits for the next call"))
    book.asks(done("b", "ls", "t2")).confirms("b", whole=False)
    book.sees(*book_line(book, "did not arrive with PostToolUse Bash, and is given up"))
    book.asks(done("c", "ls", "t3")).sees("c hears nothing", "feed: PostToolUse")


def test_a_note_can_be_taken_back_while_it_waits_and_no_later(book: Playbook) -> None:
    steer(heard(book))
    book._told("back", Commanded(TakeBackNote(1), OWNER, book.now))
    book.asks(done("a", "ls")).sees("a hears nothing", "feed: PostToolUse")
    steer(book)
    book.asks(done("b", "ls", "t2"))
    with pytest.raises(DecisionError, match="no note 2 waits"):
        book._told("back", Commanded(TakeBackNote(2), OWNER, book.now))


def test_notes_are_bounded_and_go_to_known_agents_alone(book: Playbook) -> None:
    heard(book)
    with pytest.raises(DecisionError, match="no live session"):
        steer(book, session="elsewhere")
    with pytest.raises(DecisionError, match="no live subagent"):
        steer(book, agent="nobody")
    with pytest.raises(DecisionError, match="at most"):
        steer(book, "x" * (LONGEST + 1))
    with pytest.raises(DecisionError, match="words"):
        steer(book, " ")
    for _ in range(MOST_OF_AN_AGENT):
        steer(book)
    with pytest.raises(DecisionError, match="too many"):
        steer(book)
    steer(book, agent="sub")


def test_a_note_to_a_session_that_ends_is_told_to_be_undelivered(book: Playbook) -> None:
    steer(heard(book))
    steer(book, agent="sub")
    book.asks(asking("a", "SubagentStop", agent="sub"))
    assert "note 2 to subagent sub was never given: the subagent has ended" in repr(book)
    book.asks(asking("b", "SessionEnd"))
    assert "note 1 to its main agent was never given: the session has ended" in repr(book)


# Stops.

WHY = "the operator halted this session: the wrong branch"


@pytest.mark.parametrize("stance", [Stance.GATE, COMPANION])
def test_a_stopped_session_hears_it_at_its_next_call_and_no_card_waits(
    stance: Stance, book: Playbook
) -> None:
    stop(heard(book))
    book.asks(bash("a", "ls", stance=stance))
    said = repr(book)
    assert "a hears PreToolUse deny" in said
    assert '"continue": false, "stopReason": "the wrong branch"' in said
    assert WHY in said
    assert not book.broker.waiting()


def test_a_stop_denies_what_waits_already_of_that_agent_alone(book: Playbook) -> None:
    book.asks(bash("a", "ls")).asks(bash("b", "make", "t2", agent="sub"))
    stop(book, agent="sub")
    assert [card.number for card in book.broker.waiting()] == [1]
    assert book.broker.card(2).decision.halt == "the wrong branch"  # type: ignore[union-attr]
    book.asks(bash("c", "make", "t3", agent="sub"))
    assert "the operator stopped this subagent: the wrong branch" in repr(book)
    book.asks(bash("d", "make", "t4", agent="other"))
    assert [card.number for card in book.broker.waiting()] == [1, 3]


def test_an_agent_that_cannot_be_told_to_end_its_turn_is_denied(book: Playbook) -> None:
    book.asks(asking("h", "SessionStart", platform="codex"))
    stop(book)
    book.asks(bash("a", "ls", platform="codex"))
    assert "a hears PreToolUse deny" in repr(book)
    assert "continue" not in repr(book)
    other = Playbook()
    other.asks(asking("h", "SessionStart", platform="gemini"))
    stop(other)
    other.asks(calling("a", {"command": "ls"}, event="BeforeTool", platform="gemini"))
    assert '"continue": false' in repr(other)


def test_a_stop_of_a_subagent_outlives_its_users_prompt_and_ends_with_it(book: Playbook) -> None:
    stop(heard(book), agent="sub")
    book.asks(asking("a", "UserPromptSubmit"))
    assert len(book.broker.orders()) == 1
    assert [order.agent for order in book.broker.lasting()] == ["sub"]
    book.asks(asking("b", "SubagentStop", agent="sub"))
    assert not book.broker.orders()


def test_the_end_of_a_subagent_is_no_prompt_of_a_person_and_ends_no_halt(book: Playbook) -> None:
    stop(heard(book))
    book.asks(asking("a", "UserPromptSubmit", prompt="<task-notification>\n<task-id>sub"))
    assert len(book.broker.orders()) == 1
    book.asks(asking("b", "UserPromptSubmit", prompt="go on"))
    assert not book.broker.orders()


def test_only_what_is_known_can_be_stopped(book: Playbook) -> None:
    with pytest.raises(DecisionError, match="no live session"):
        stop(book)
    assert not book.broker.orders()


# Another machine, whose token an attacker has, and which knows the session's id.

OWN, OTHER = "build1", "build2"


@pytest.fixture
def there(book: Playbook) -> Playbook:
    """A session of one machine, with a subagent."""
    book.asks(of_machine(OWN, asking("h", "SessionStart")))
    return book.asks(of_machine(OWN, asking("i", "SubagentStart", agent="sub")))


def test_what_lets_a_session_pass_lets_no_other_machine_pass(there: Playbook) -> None:
    there.orders(Order(OrderKind.ALLOW_ALL, session="s", until=there.now + 60))
    there.orders(Order(OrderKind.KEEP_GOING, name="Stop", session="s", times=2, words="go on"))
    there.asks(of_machine(OTHER, asking("b", "Stop"))).sees("b hears nothing", "feed: Stop")
    there.asks(of_machine(OTHER, bash("a", "ls"))).sees("#1 waiting: a")
    there.asks(bash("c", "ls")).sees("#2 waiting: c")
    there.asks(of_machine(OWN, bash("d", "ls")))
    assert "d hears PreToolUse allow" in repr(there)
    assert [one.times for one in there.broker.orders()] == [None, 2]


@pytest.mark.parametrize("machine", [OTHER, ""])
def test_no_other_machine_ends_what_holds_or_stops_a_session(machine: str, there: Playbook) -> None:
    there.orders(Order(OrderKind.HOLD_ALL, session="s"))
    stop(there)
    stop(there, agent="sub")
    stands = there.broker.orders()
    assert {one.machine for one in stands} == {OWN}
    for ticket, event in (("a", "UserPromptSubmit"), ("b", "SessionEnd"), ("c", "SubagentStop")):
        there.asks(of_machine(machine, asking(ticket, event, agent="sub" * (ticket == "c"))))
    assert there.broker.orders() == stands
    there.asks(of_machine(OWN, bash("d", "ls")))
    assert "d hears PreToolUse deny" in repr(there)
    there.asks(of_machine(OWN, asking("e", "UserPromptSubmit")))
    assert [one.agent for one in there.broker.lasting()] == ["sub"]


def test_a_note_goes_to_the_machine_that_it_was_for(there: Playbook) -> None:
    steer(there)
    there.asks(of_machine(OTHER, asking("a", "SessionEnd")))
    there.asks(of_machine(OTHER, done("b", "ls"))).sees("b hears nothing", "feed: PostToolUse")
    with pytest.raises(DecisionError, match="2 agents have a session"):
        steer(there)
    there.asks(of_machine(OWN, done("c", "ls")))
    assert SAID in repr(there)


def test_a_stop_is_of_every_session_that_says_it_has_the_id(there: Playbook) -> None:
    """So that no other machine can keep a session from being stopped."""
    there.asks(of_machine(OTHER, bash("a", "ls"))).asks(of_machine(OWN, prompt("b", "ls")))
    with pytest.raises(DecisionError, match="2 machines have a session"):
        there.orders(Order(OrderKind.ALLOW_ALL, session="s", until=there.now + 60))
    stop(there)
    assert not there.broker.waiting()
    assert {one.machine for one in there.broker.lasting()} == {OWN, OTHER}
