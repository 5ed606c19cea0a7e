"""Cards of strict hooks in the broker: what nobody can sign ends in fixed words, or not at all."""

from __future__ import annotations

from crabhook.desk.commands import Decide, GiveOrder
from crabhook.model.actor import Headless, OrderKind
from crabhook.model.card import Stance, State
from crabhook.model.decision import Beside, Decision, Verdict
from crabhook.model.order import Order
from crabhook.policy.rule import RuleVerdict, Ruling
from tests.support.desk import PlayedDesk
from tests.support.seat import decide
from tests.support.sitting import call

ALLOW = Decision(Verdict.ALLOW)
RULED = Ruling(RuleVerdict.ALLOW, None, "mine")


def unsigned(server: PlayedDesk, name: str) -> bool:
    """Whether a hook got a reply that it will not print, and the desk says so."""
    said = any("its own fixed words" in line.text for line in server.feed())
    return server.replies[name].signed == () and said


def test_a_rule_and_an_order_decide_at_once_and_say_that_fixed_words_follow() -> None:
    ruled = PlayedDesk(judge=lambda _: RULED)
    assert unsigned(ruled, ruled.ask(call(), strict=1))
    ordered = PlayedDesk()
    ordered.ask(call())
    until = ordered.now() + 600
    ordered.seat.done(GiveOrder(Order(OrderKind.ALLOW_ALL, session="3f1c0000", until=until)))
    assert unsigned(ordered, ordered.ask(call(tool_input={"command": "pwd"}), strict=1))


def test_a_desk_without_a_person_ends_a_strict_card_in_fixed_words() -> None:
    server = PlayedDesk()
    name = server.ask(call(), strict=1)
    decide(server.runner, 1, ALLOW, Headless())
    assert unsigned(server, name)


def test_a_new_rule_leaves_a_strict_card_to_a_person_and_none_is_offered_on_it() -> None:
    server = PlayedDesk()
    server.ask(call(), strict=1)
    server.ask(call(session_id="other"))
    server.read.judge = lambda _: RULED
    server.read.judge_again(server.waiting())
    strict, other = server.card(1), server.card(2)
    assert strict is not None
    assert other is not None
    assert (strict.state, other.state) == (State.WAITING, State.DECIDED)
    assert Beside.RULE not in strict.choices.beside
    assert any("only signatures count here" in limit for limit in strict.limits)


def test_a_yes_to_a_refused_call_brings_the_next_to_a_card_where_it_is_signed() -> None:
    server = PlayedDesk()
    auto = {"permission_mode": "auto"}
    refused = call(hook_event_name="PermissionDenied", reason="no", **auto)
    server.ask(refused, stance=Stance.COMPANION)
    server.seat.done(Decide(1, 1, Decision(Verdict.RETRY)))
    again = server.ask(call(tool_use_id="t2", **auto), stance=Stance.COMPANION, strict=1)
    (card,) = server.waiting()
    assert card.reason.words == "it may run once, which nobody has signed yet"
    assert again not in server.replies


def test_an_undecided_strict_card_leaves_its_hook_to_itself() -> None:
    server = PlayedDesk()
    name = server.ask(call(), wait=5.0, strict=1)
    server.pass_time(6.0)
    assert name in server.refused
