"""A line of a skill is a part of a call: no decision about another call reaches it, nor back."""

import pytest

from crabhook.model.card import Request, Stance
from crabhook.model.decision import Beside, Verdict
from crabhook.model.order import Order, OrderKind
from tests.support.playbook import ALLOW, DENY, PASS, Playbook, bash, calling, done, prompt
from tests.support.ruled import judge_by

ASKED = '[[rule]]\nverdict = "ask-operator"\nmatch = "Bash(touch *)"\n'
AGENT_ASKED = ASKED.replace("ask-operator", "ask-agent's-user")
CALL = "toolu_1"


def line(ticket: str, command: str, use_id: str = f"{CALL}:preamble-0", **how: str) -> Request:
    """A line of a skill that Claude had called."""
    said = {"command_name": "probe", "command_source": "userSettings", "invoked_by": "claude"}
    given = {"command": command}
    return calling(ticket, given, use_id, event="PreSkillShellCommand", **said | how)  # type: ignore[arg-type]


def skill(ticket: str) -> Request:
    return calling(ticket, {"skill": "probe"}, CALL, tool="Skill")


def test_an_allowed_line_is_no_allow_of_a_request_for_the_same_command(book: Playbook) -> None:
    book.asks(line("a", "touch x")).sees("#1 waiting: a")
    book.asks(prompt("b", "touch x")).sees("#2 waiting: b")
    book.answers(1, ALLOW).sees(
        "a hears PreSkillShellCommand allow, confirms", "#1 decided ALLOWED: a"
    )
    book.asks(prompt("c", "touch x")).sees("#3 waiting: c")


@pytest.mark.parametrize("decision", [ALLOW, DENY, PASS])
def test_a_decided_call_decides_no_line_with_the_same_command(
    book: Playbook, decision: object
) -> None:
    book.asks(bash("a", "touch x", "t1")).answers(1, decision)  # type: ignore[arg-type]
    book.asks(line("b", "touch x")).sees("#2 waiting: b")
    book.asks(line("c", "touch x", "")).sees("#3 waiting: c")


@pytest.mark.parametrize("use_id", ["", "t1", f"{CALL}:preamble-0"])
def test_a_line_joins_no_waiting_call_with_the_same_command(book: Playbook, use_id: str) -> None:
    book.asks(bash("a", "touch x", "t1")).asks(prompt("b", "touch y"))
    book.asks(line("c", "touch x", use_id)).asks(line("d", "touch y", ""))
    assert [len(card.requests) for card in book.broker.waiting()] == [1, 1, 1, 1]


def test_two_installations_that_ask_about_one_line_are_one_card(book: Playbook) -> None:
    book.asks(line("a", "touch x")).asks(line("b", "touch x")).sees("#1 waiting: a b")


def test_lines_of_one_skill_are_each_decided_alone(book: Playbook) -> None:
    book.asks(line("a", "touch x")).asks(line("b", "touch x", f"{CALL}:preamble-1"))
    book.answers(1, DENY).sees(
        'a hears PreSkillShellCommand deny {"permissionDecisionReason": "not here"}, confirms',
        "#1 decided DENIED: a",
    )
    assert book.broker.card(2).state.value == "waiting"  # type: ignore[union-attr]


def test_an_allow_of_a_line_sends_no_input_back(book: Playbook) -> None:
    """Claude Code does not run a line for which any hook sends an input."""
    book.asks(line("a", "touch x")).answers(1, ALLOW)
    (resolved,) = [one for one in book.effects if hasattr(one, "reply")]
    assert "updatedInput" not in str(resolved.reply.output)


def test_a_lines_card_offers_no_edit_no_note_and_no_hand_back(book: Playbook) -> None:
    book.asks(line("a", "touch x"))
    choices = book.broker.card(1).choices  # type: ignore[union-attr]
    assert choices.verdicts == {Verdict.ALLOW, Verdict.DENY, Verdict.PASS}
    assert not choices.beside & (Beside.INPUT | Beside.NOTE | Beside.MESSAGE)
    assert Beside.RULE in choices.beside
    assert Verdict.PASS in choices.runs


def test_a_lines_card_names_the_card_of_its_skill_call(book: Playbook) -> None:
    book.asks(skill("a")).answers(1, ALLOW)
    book.asks(line("b", "touch x"))
    assert "a part of call #1" in book.broker.card(2).reason.words  # type: ignore[union-attr]
    book.asks(line("c", "touch x", "toolu_2:preamble-0"))
    assert "call #" not in book.broker.card(3).reason.words  # type: ignore[union-attr]


def test_the_result_of_the_skill_call_is_no_result_of_a_line(book: Playbook) -> None:
    book.asks(line("a", "touch x"))
    book.asks(done("b", "touch x", CALL))
    assert book.broker.card(1).state.value == "waiting"  # type: ignore[union-attr]


@pytest.mark.parametrize("rules", [ASKED, AGENT_ASKED])
@pytest.mark.parametrize("stance", [Stance.GATE, Stance.COMPANION])
def test_a_rule_that_wants_a_person_asked_holds_a_line(rules: str, stance: Stance) -> None:
    book = Playbook(judge_by(rules))
    book.asks(line("a", "touch x", stance=stance)).sees("#1 waiting: a")  # type: ignore[arg-type]


def test_a_companion_lets_a_line_pass_of_which_no_rule_speaks() -> None:
    book = Playbook(judge_by(ASKED))
    book.asks(line("a", "ls", stance=Stance.COMPANION))  # type: ignore[arg-type]
    assert "a hears nothing" in repr(book)


@pytest.mark.parametrize("rules", [ASKED, AGENT_ASKED])
def test_while_the_operator_is_away_a_line_that_wants_a_person_is_denied(rules: str) -> None:
    """After silence it would run, and nobody at the agent can be asked about it."""
    book = Playbook(judge_by(rules)).orders(Order(OrderKind.AWAY))
    book.asks(line("a", "touch x"))
    assert "a hears PreSkillShellCommand deny" in repr(book)


def test_a_halted_session_runs_no_line(book: Playbook) -> None:
    book.orders(Order(OrderKind.HALT, session="s", words="enough"))
    book.asks(line("a", "touch x"))
    assert "a hears PreSkillShellCommand deny" in repr(book)
