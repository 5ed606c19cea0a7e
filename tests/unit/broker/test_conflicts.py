"""What cannot be true of a call is told in red, and not followed."""

from dataclasses import replace

import pytest

from crabhook.broker.conflicts import ALARMS_KEPT
from crabhook.model.card import Request, Stance, State
from crabhook.model.decision import Decision, Verdict
from crabhook.model.order import Order, OrderKind
from tests.support.playbook import ALLOW, DENY, Playbook, asking, bash, calling, done, prompt

REAL, FORGED = "rm -rf build", "ls -la"
OTHER = "asks for something else under the same call id: one of the two is forged"


def alarms(book: Playbook, number: int) -> tuple[str, ...]:
    card = book.broker.card(number)
    assert card is not None
    return card.alarms


# What is known when a hook asks.


def test_a_card_says_from_the_first_what_it_is_warned_of(book: Playbook) -> None:
    book.asks(bash("a", REAL), warnings=("another hook may change this call",))
    assert alarms(book, 1) == ("another hook may change this call",)
    book.asks(prompt("b", REAL), warnings=("another hook may change this call",))
    assert alarms(book, 1) == ("another hook may change this call",)  # once for all legs


# One id, one call.


def test_a_forged_leg_under_a_calls_id_is_a_card_of_its_own_and_both_say_so(book: Playbook) -> None:
    book.asks(bash("a", REAL)).asks(bash("b", FORGED)).sees(
        "#2 waiting: b",
        f"conflict: #1 {OTHER}",
        "#1 waiting: a",
        f"feed: ALARM #2 PreToolUse #1 {OTHER}",
    )
    assert (alarms(book, 1), alarms(book, 2)) == ((f"#2 {OTHER}",), (f"#1 {OTHER}",))
    book.answers(2, ALLOW).sees("b hears PreToolUse allow, confirms", "#2 decided ALLOWED: b")
    assert [card.number for card in book.broker.waiting()] == [1]


def test_the_same_id_for_another_tool_is_another_call(book: Playbook) -> None:
    book.asks(bash("a", "x")).asks(bash("b", "x", tool="Shell"))
    assert [card.number for card in book.broker.waiting()] == [1, 2]
    assert alarms(book, 1)


def test_an_id_never_brings_another_calls_answer(book: Playbook) -> None:
    book.asks(bash("a", FORGED)).answers(1, ALLOW)
    book.asks(calling("b", {"command": REAL}, "t1", event="PermissionRequest"))
    assert [card.number for card in book.broker.waiting()] == [2]
    assert alarms(book, 1) == (f"#2 {OTHER}",)  # though it has ended
    assert alarms(book, 2) == (f"#1 {OTHER}",)


def test_what_a_rule_decided_has_no_card_and_is_told_on_the_other(book: Playbook) -> None:
    book.orders(Order(OrderKind.ALLOW_ALL, session="s", until=9999.0)).asks(bash("a", FORGED))
    book.orders(Order(OrderKind.HOLD_ALL, session="s", until=9999.0)).asks(bash("b", REAL))
    (told,) = alarms(book, 1)
    assert told == f"a call of Bash that was decided at once {OTHER}"


def test_the_same_call_told_twice_is_no_conflict(book: Playbook) -> None:
    book.asks(bash("a", REAL)).asks(bash("b", REAL)).asks(prompt("c", REAL))
    assert [card.number for card in book.broker.waiting()] == [1]
    assert not alarms(book, 1)


def test_a_card_says_no_more_than_a_person_reads(book: Playbook) -> None:
    book.asks(bash("a", REAL))
    for number in range(3 * ALARMS_KEPT):
        book.asks(bash(f"f{number}", f"ls {number}"))
    assert len(alarms(book, 1)) == ALARMS_KEPT


# News cannot end a wait of which the agent knows no end.


def gemini(ticket: str, event: str = "BeforeTool") -> Request:
    how = {"event": event, "tool": "run_shell_command", "platform": "gemini"}
    return calling(ticket, {"command": "ls"}, **how)  # type: ignore[arg-type]


CLAUDES = ["PostToolUse", "PostToolBatch", "Stop", "UserPromptSubmit", "SessionEnd"]


@pytest.mark.parametrize("stance", [Stance.GATE, Stance.SUPERVISOR])
@pytest.mark.parametrize("event", CLAUDES)
def test_news_cannot_end_a_call_whose_hook_is_connected(
    event: str, stance: Stance, book: Playbook
) -> None:
    book.asks(bash("a", REAL, stance=stance))
    news = done("z", REAL) if event == "PostToolUse" else asking("z", event)
    book.asks(news).sees(
        "z hears nothing",
        f"conflict: {event} says that #1 is over, but the agent still waits for that hook: "
        "not believed",
        "#1 waiting: a",
        f"feed: ALARM {event} says that #1 is over, but the agent still waits for that hook: "
        "not believed",
        f"feed: {event}",
    )
    assert alarms(book, 1) == (
        f"{event} says that this is over, but the agent still waits for its hook",
    )
    book.answers(1, DENY)
    assert book.broker.card(1).state is State.DECIDED  # type: ignore[union-attr]


@pytest.mark.parametrize("event", ["BeforeAgent", "AfterAgent", "SessionEnd"])
def test_gemini_waits_for_each_of_its_hooks(event: str, book: Playbook) -> None:
    book.asks(gemini("a")).asks(asking("b", event, platform="gemini"))
    assert [card.number for card in book.broker.waiting()] == [1]


def test_what_is_not_believed_ends_nothing_else_of_that_agent(book: Playbook) -> None:
    book.asks(bash("a", REAL)).asks(prompt("b", "make")).asks(asking("z", "SessionEnd"))
    assert [card.number for card in book.broker.waiting()] == [1, 2]
    assert book.broker.sessions() == 1


def test_a_prompt_of_the_agents_own_dialog_may_be_answered_there(book: Playbook) -> None:
    book.asks(prompt("a", REAL)).asks(asking("z", "Stop"))
    assert not book.broker.waiting()


def test_a_hook_that_has_gone_is_not_waited_for(book: Playbook) -> None:
    book.asks(bash("a", REAL)).leaves("a").asks(asking("z", "Stop")).sees(
        "z hears nothing", "feed: Stop"
    )


def test_a_held_result_is_no_leg_of_the_call_that_it_forges(book: Playbook) -> None:
    book.orders(Order(OrderKind.HOLD, "PostToolUse")).asks(bash("a", REAL)).asks(done("z", REAL))
    assert [card.event.name for card in book.broker.waiting()] == ["PreToolUse", "PostToolUse"]


def test_whoever_is_let_go_hears_what_it_was_installed_to_say(book: Playbook) -> None:
    book.asks(prompt("a", REAL)).asks(asking("z", "Stop"))
    assert "refused OVER" in repr(book)
    book.asks(bash("b", REAL, "t2")).closes()
    assert "refused CLOSED" in repr(book)


# What ran is what was approved.


def test_what_ran_is_held_against_what_was_allowed(book: Playbook) -> None:
    book.asks(bash("a", FORGED)).answers(1, ALLOW).asks(done("z", REAL)).sees(
        "z hears nothing",
        "outcome of #1: what ran is not what was allowed",
        "#1 decided ALLOWED: a",
        "feed: ALARM #1 PostToolUse what ran is not what was allowed",
        "feed: PostToolUse",
    )
    assert alarms(book, 1) == ("what ran is not what was allowed",)


def test_a_card_warns_where_another_hook_has_changed_a_call_of_its_session(book: Playbook) -> None:
    book.asks(bash("a", FORGED)).answers(1, ALLOW).asks(done("z", REAL))
    book.asks(bash("b", "make", "t2")).asks(bash("c", "make", "t3", session="else"))
    assert alarms(book, 2) == (
        "another hook of this session changed #1 after it was approved: it may again",
    )
    assert not alarms(book, 3)
    book.leaves("b").asks(asking("y", "SessionEnd")).asks(bash("d", "make", "t4"))
    assert not alarms(book, 4)


@pytest.mark.parametrize("event", ["PostToolUse", "PostToolUseFailure"])
def test_what_ran_as_it_was_allowed_is_no_news(event: str, book: Playbook) -> None:
    book.asks(bash("a", REAL)).answers(1, ALLOW).asks(done("z", REAL, event=event)).sees(
        "z hears nothing", f"feed: {event}"
    )


def test_an_edit_is_what_has_to_run(book: Playbook) -> None:
    edit = Decision(Verdict.ALLOW, updated_input={"command": "ls -l"})
    book.asks(bash("a", "ls")).answers(1, edit).asks(done("z", "ls -l"))
    assert not alarms(book, 1)
    book.asks(bash("b", "ls", "t2")).answers(2, edit).asks(done("y", "ls", "t2"))
    assert alarms(book, 2) == ("what ran is not what was allowed",)


def test_what_a_rule_or_an_order_allowed_is_held_against_it_too(book: Playbook) -> None:
    book.orders(Order(OrderKind.ALLOW_ALL, session="s", until=9999.0)).asks(bash("a", FORGED))
    book.asks(done("z", REAL))
    assert "feed: ALARM PostToolUse what ran is not what was allowed" in repr(book)


def test_a_call_that_was_denied_and_ran_is_told(book: Playbook) -> None:
    book.asks(bash("a", REAL)).answers(1, DENY).asks(done("z", REAL))
    assert alarms(book, 1) == ("it ran although it was denied",)


def test_another_input_that_was_allowed_on_its_own_is_no_alarm(book: Playbook) -> None:
    """Another hook rewrote the call, and Claude Code asked about that."""
    book.asks(bash("a", "ls")).answers(1, ALLOW)
    book.asks(prompt("b", "ls -l")).answers(2, ALLOW).asks(done("z", "ls -l"))
    assert not alarms(book, 1)


def test_a_companions_prompt_is_known_by_the_call_before_it(book: Playbook) -> None:
    book.asks(bash("a", "ls", stance=Stance.COMPANION)).asks(prompt("b", "ls"))
    book.answers(1, ALLOW).asks(done("z", "rm"))
    assert alarms(book, 1) == ("what ran is not what was allowed",)


def test_a_prompt_nobody_can_name_alarms_of_no_other_call(book: Playbook) -> None:
    book.asks(prompt("b", "ls")).answers(1, ALLOW).asks(done("z", "make", "t9"))
    assert not alarms(book, 1)


def test_other_answers_than_the_operators_are_told(book: Playbook) -> None:
    asked = {"questions": [{"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}]}
    how = {"tool": "AskUserQuestion"}
    given = {**asked, "answers": {"Which?": "A"}}
    for number, answer in ((1, "A"), (2, "B")):
        use = f"t{number}"
        book.asks(calling(use, asked, use, **how))
        book.answers(number, Decision(Verdict.ALLOW, updated_input=given))
        ran = {**asked, "answers": {"Which?": answer}}
        book.asks(calling(f"z{use}", ran, use, event="PostToolUse", **how))
    assert (alarms(book, 1), alarms(book, 2)) == ((), ("what ran is not what was allowed",))


def test_a_plan_is_the_files(book: Playbook) -> None:
    book.asks(calling("a", {"plan": "# x"}, "t1", tool="ExitPlanMode")).answers(1, ALLOW)
    book.asks(calling("z", {}, "t1", event="PostToolUse", tool="ExitPlanMode"))
    assert not alarms(book, 1)


def test_where_calls_have_no_ids_what_is_allowed_and_did_not_run_is_what_ran(
    book: Playbook,
) -> None:
    book.asks(gemini("a")).answers(1, ALLOW)
    ran = calling("z", {"command": "rm"}, event="AfterTool", tool="run_shell_command",
                  platform="gemini")  # fmt: skip
    book.asks(ran)
    assert alarms(book, 1) == ("what ran is not what was allowed",)
    book.asks(replace(ran, id="y", secret="y"))
    assert repr(book).count("outcome of") == 1


# Who answered what was handed back.


@pytest.mark.parametrize(
    ("news", "fate"),
    [
        (done("z", "ls"), "it ran: the agent's own user or rules allowed it"),
        (done("z", "ls", event="PermissionDenied"), "the agent's own classifier denied it"),
        (asking("z", "Stop"), "it did not run: refused at the agent, or broken off"),
    ],
)
def test_what_became_of_a_call_that_was_handed_back(
    news: Request, fate: str, book: Playbook
) -> None:
    book.asks(bash("a", "ls")).answers(1, Decision(Verdict.ASK)).asks(news)
    assert f"outcome of #1: {fate}" in repr(book)
    assert not alarms(book, 1)


def test_a_call_whose_time_was_over_was_left_to_the_agent(book: Playbook) -> None:
    book.asks(bash("a", "ls", wait=5)).waits(6).asks(done("z", "ls"))
    assert "outcome of #1: it ran: the agent's own user or rules allowed it" in repr(book)
