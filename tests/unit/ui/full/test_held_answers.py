"""While an answer is held, its card obeys `u` and a stricter answer alone."""

from __future__ import annotations

import pytest

from crabhook.desk.acts import Guard
from crabhook.desk.commands import Done, KeepRule, TakenOffer
from crabhook.model.actor import Operator
from crabhook.model.card import State
from crabhook.model.decision import Decision, Verdict
from crabhook.server.core.local_desk import LocalDesk
from crabhook.store.commit import Commit
from crabhook.ui.answers import Seen, strictness
from crabhook.ui.full.dialogs.bulk import decide_marked
from crabhook.ui.full.effects import Say, Submit
from crabhook.ui.full.keys import KEYS
from tests.support.desk import PlayedDesk
from tests.support.offering import BOTH, NARROW
from tests.support.ruled import judge_by
from tests.support.seat import Seat
from tests.support.sitting import Sitting

FORCE = {"command": "git push --force origin main"}
SUGGESTED = [
    {
        "type": "addRules",
        "rules": [{"toolName": "Bash", "ruleContent": "npm test:*"}],
        "behavior": "allow",
        "destination": "localSettings",
    }
]
BOB = Operator("bob", "Bob", "laptop")
CAUTION = {"command": "curl -s https://example.org/x"}


def denied(tool_input: dict[str, str] = CAUTION) -> Sitting:
    """Return a screen as it is installed, whose only card is being denied."""
    sitting = Sitting(take_back_ms=2000, advance=True, columns=100, rows=30)
    sitting.ask(tool_input=tool_input)
    sitting.wait()
    sitting.press("d")
    sitting.type("no")
    sitting.press("enter")
    assert "DENY in" in sitting.text()
    return sitting


def test_the_help_line_offers_only_what_acts_while_a_denial_is_held() -> None:
    sitting = denied()
    assert "u TAKE BACK" in sitting.help_line()
    assert "x halt" in sitting.help_line()
    assert "allow" not in sitting.help_line()
    sitting.press("u")
    assert "a allow" in sitting.help_line()


def test_a_key_in_the_countdown_of_a_denial_never_makes_it_an_allow() -> None:
    sitting = denied()
    sitting.press("a")
    assert "#1 is being denied" in sitting.screen.notice.text
    assert "u takes it back first" in sitting.screen.notice.text
    assert "DENY in" in sitting.text()
    sitting.wait(60)
    assert sitting.verdicts() == [(1, Verdict.DENY)]


@pytest.mark.parametrize("verdict", [Verdict.ALLOW, Verdict.PASS, Verdict.DENY])
def test_every_key_but_u_and_a_stricter_answer_says_so_and_changes_nothing(
    verdict: Verdict,
) -> None:
    first = held(verdict)
    limit, offered = strictness(first.card, Decision(verdict)), first.top.rows()
    acts = [
        row
        for row in KEYS
        if row.guard is not Guard.FREE
        and row in offered
        and (row.leads is None or strictness(first.card, row.leads) <= limit)
    ]
    assert len(acts) > 8
    for row in acts:
        sitting = held(verdict)
        for name in row.keys:
            before = sitting.screen.answers.held(1)
            view = sitting.help_line(), sitting.top, repr(sitting.screen.work)
            sitting.press(name)
            assert sitting.screen.answers.held(1) is before, (row.does, name)
            assert "#1 is being" in sitting.screen.notice.text, (row.does, name)
            assert not sitting.screen.marks
            after = sitting.help_line(), sitting.top, repr(sitting.screen.work)
            assert after == view, (row.does, name)


def held(verdict: Verdict) -> Sitting:
    """Return a screen whose only card has a held answer."""
    sitting = Sitting(take_back_ms=2000, advance=True, columns=100, rows=30)
    sitting.ask(hook_event_name="PermissionRequest", permission_suggestions=SUGGESTED)
    sitting.wait()
    keys = {Verdict.ALLOW: "a", Verdict.PASS: "p", Verdict.DENY: "d"}
    sitting.press(keys[verdict], *(["n", "o", "enter"] if verdict is Verdict.DENY else []))
    assert sitting.screen.answers.held(1) is not None
    return sitting


@pytest.mark.parametrize(("key", "verdict"), [("h", Verdict.ASK), ("p", Verdict.PASS)])
def test_a_stricter_answer_takes_the_place_of_a_held_allow(key: str, verdict: Verdict) -> None:
    sitting = Sitting(take_back_ms=2000, advance=True)
    sitting.ask()
    sitting.wait()
    sitting.press("a", key)
    sitting.wait(9)
    assert sitting.verdicts() == [(1, verdict)]


def test_a_card_that_is_answered_counts_as_decided_when_another_comes() -> None:
    sitting = denied(FORCE)
    second = sitting.ask(session_id="b")
    assert sitting.card.number == second
    sitting.press("a")  # before anybody can have read it
    assert "only just come into view" in sitting.screen.notice.text
    sitting.wait()
    sitting.press("a")
    sitting.wait(9)
    assert dict(sitting.verdicts()) == {1: Verdict.DENY, second: Verdict.ALLOW}


def test_a_card_that_comes_does_not_take_the_selection_from_what_is_read() -> None:
    sitting = denied(FORCE)
    sitting.press("enter")
    sitting.ask(session_id="b")
    assert sitting.card.number == 1


def test_u_takes_it_back_and_the_card_is_armed_anew() -> None:
    sitting = denied()
    sitting.stroke = 0.1
    sitting.press("u", "a")
    assert "only just come into view" in sitting.screen.notice.text
    sitting.wait()
    sitting.press("a")
    sitting.wait(9)
    assert sitting.verdicts() == [(1, Verdict.ALLOW)]


def test_a_card_whose_answer_was_refused_is_armed_anew() -> None:
    sitting = Sitting(take_back_ms=0, advance=True)
    sitting.ask()
    sitting.wait()
    commit = Commit()
    sitting.desk.runner.write = lambda *_: commit
    sitting.desk.runner.unrecorded = lambda *_: None
    sitting.press("d", "n", "o", "enter")
    commit.refuse(OSError("the storage is gone"))
    sitting.stroke = 0.05
    sitting.press("a")
    assert "only just come into view" in sitting.screen.notice.text


def test_many_marked_at_once_leave_out_what_is_answered() -> None:
    sitting = denied()
    for session in "bcd":
        sitting.ask(session_id=session, tool_input=CAUTION)
    sitting.wait()
    sitting.press("*")
    assert sitting.screen.marks.keys() == {2, 3, 4}
    sitting.press("a")
    sitting.wait(0.5)
    sitting.press("enter")
    sitting.wait(9)
    assert dict(sitting.verdicts())[1] is Verdict.DENY
    assert [n for n, verdict in sitting.verdicts() if verdict is Verdict.ALLOW] == [2, 3, 4]


def test_a_page_of_many_names_what_it_leaves_out_since_it_is_answered() -> None:
    sitting = denied()
    sitting.screen.marks.turn(sitting.card)
    effects = decide_marked(
        sitting.screen.marks, Decision(Verdict.ALLOW), sitting.screen.answers.blocks
    )
    assert effects == (Say("none of the marked can be told allow"),)


ANYTHING = '[[rule]]\nverdict = "allow"\nmatch = "Bash"\n'


def ruled() -> PlayedDesk:
    """Return a desk whose rules allow every command, once a rule was written."""
    desk = Sitting.makes()
    allow = judge_by(ANYTHING, "/home/ann/api-server")
    desk.read.judge = lambda event: allow(event) if desk.rules else None
    return desk


@pytest.mark.parametrize(
    ("keys", "verdict"), [(("d", "n", "o", "enter"), Verdict.DENY), (("p",), Verdict.PASS)]
)
@pytest.mark.parametrize("rule_first", [False, True])
def test_a_rule_with_its_allow_decides_no_card_whose_answer_is_held(
    keys: tuple[str, ...], verdict: Verdict, *, rule_first: bool
) -> None:
    sitting = Sitting(take_back_ms=2000, advance=False, columns=120, rows=40, desk=ruled())
    answered = sitting.ask(tool_input={"command": "sudo rm -rf /srv/x"}, session_id="a")
    allowed = sitting.ask(tool_input={"command": "make"}, session_id="b")
    sitting.desk.offered[allowed] = BOTH
    steps = [(answered, keys), (allowed, ("A", "1"))]
    for number, pressed in reversed(steps) if rule_first else steps:
        sitting.screen.select(lambda number=number: sitting.screen.selection.choose(number))
        sitting.wait()
        for key in pressed:
            sitting.press(key)
            sitting.stroke = 0.6 if key == "A" else 0.1
    sitting.wait(9)
    assert len(sitting.desk.rules) == 1
    assert dict(sitting.verdicts()) == {answered: verdict, allowed: Verdict.ALLOW}
    ended = sitting.desk.card(answered)
    assert ended is not None
    assert ended.decision is not None
    assert ended.decision.verdict is verdict


def test_a_rule_kept_from_the_history_decides_no_card_whose_answer_is_held() -> None:
    sitting = Sitting(take_back_ms=2000, advance=False, columns=120, rows=40, desk=ruled())
    before = sitting.ask(tool_input={"command": "make"}, session_id="b")
    sitting.desk.answer(before, Decision(Verdict.ALLOW))
    entry = 1  # the record's first
    sitting.desk.offered[entry] = BOTH
    answered = sitting.ask(tool_input={"command": "sudo rm -rf /srv/x"}, session_id="a")
    sitting.screen.select(lambda: sitting.screen.selection.choose(answered))
    sitting.wait()
    sitting.press("d", "n", "o", "enter")
    taken = TakenOffer(NARROW.id, NARROW.expires)
    sitting.controller.perform([Submit(KeepRule(entry, taken), lambda _: ())])
    sitting.wait(0.1)
    assert len(sitting.desk.rules) == 1
    sitting.wait(9)
    assert sitting.verdicts()[-1] == (answered, Verdict.DENY)


def test_another_desks_rule_decides_no_card_whose_answer_is_held() -> None:
    sitting = Sitting(take_back_ms=2000, columns=120, desk=ruled())
    answered = sitting.ask(tool_input={"command": "sudo rm -rf /srv/x"}, session_id="a")
    sitting.wait()
    sitting.press("d", "n", "o", "enter")
    other = sitting.ask(tool_input={"command": "make"}, session_id="b")
    third = sitting.ask(tool_input={"command": "make"}, session_id="c")
    sitting.desk.offered[other] = BOTH
    bob = Seat(LocalDesk(sitting.desk.runner, BOB), sitting.desk.runner)  # type: ignore[arg-type]
    taken = TakenOffer(NARROW.id, NARROW.expires)
    assert bob.remember(other, taken, Decision(Verdict.ALLOW)) == Done()
    ended = sitting.desk.card(third)
    assert ended is not None
    assert ended.state is State.DECIDED  # by the rule
    sitting.wait(9)
    assert dict(sitting.verdicts())[answered] is Verdict.DENY


def test_a_card_whose_held_denial_is_taken_back_waits_for_a_person_beside_the_rule() -> None:
    sitting = Sitting(take_back_ms=2000, columns=120, desk=ruled())
    answered = sitting.ask(tool_input={"command": "sudo rm -rf /srv/x"}, session_id="a")
    allowed = sitting.ask(tool_input={"command": "make"}, session_id="b")
    sitting.desk.offered[allowed] = BOTH
    sitting.wait()
    sitting.press("d", "n", "o", "enter")
    rule = TakenOffer(NARROW.id, NARROW.expires)
    card = sitting.desk.card(allowed)
    assert card is not None
    sitting.screen.answers.give([Seen(card, card.revision)], Decision(Verdict.ALLOW), rule)
    sitting.wait(2.5)
    assert len(sitting.desk.rules) == 1
    sitting.press("u")
    sitting.wait(9)
    waits = sitting.desk.card(answered)
    assert waits is not None
    assert waits.state is State.WAITING


def bobs(sitting: Sitting, desk: type[Sitting] = Sitting) -> Sitting:
    """Return the screen of another person at another desk of the same server."""
    there = LocalDesk(sitting.desk.runner, BOB)  # type: ignore[arg-type]
    other = desk(take_back_ms=2000, columns=120)
    other.desk.runner = sitting.desk.runner
    other.desk.submit, other.desk.subscribe = there.submit, there.subscribe  # type: ignore[method-assign]
    other.desk.now = sitting.desk.now
    other.sit()
    return other


def test_the_other_desk_shows_who_decides_what_and_when_until_it_is_taken_back() -> None:
    ann, number = Sitting(take_back_ms=2000, columns=120), 1
    ann.ask()
    ann.wait()
    bob = bobs(ann)
    ann.press("a")
    assert "operator allows it in 2 s: you may decide first" in bob.text()
    ann.desk.pass_time(1)
    assert "operator allows it in 1 s" in bob.text()
    ann.press("u")
    assert "you may decide first" not in bob.text()
    ann.wait()
    ann.press("d", "n", "o", "enter")
    assert "operator denies it in 2 s" in bob.text()
    ann.press("u")
    bob.wait()
    bob.press("d", "n", "o", "enter")
    assert "Bob denies it in 2 s: you may decide first" in ann.text()
    assert "Bob denies" not in bob.text()
    assert number in {card.number for card in ann.desk.waiting()}


def test_a_held_answer_of_a_desk_that_went_away_is_shown_no_longer_than_its_moment() -> None:
    ann = Sitting(take_back_ms=2000, columns=120)
    ann.ask()
    ann.wait()
    bob = bobs(ann)
    ann.press("a")
    ann.stop()
    ann.desk.pass_time(2)
    assert "allows it" not in bob.text()
    ann.desk.pass_time(2)
    ann.desk.runner.look_at_troubles()
    assert not ann.desk.runner.claims.published()


def test_u_that_comes_too_late_says_what_was_sent_and_when() -> None:
    sitting = denied()
    sitting.wait(2)
    later = sitting.ask(session_id="b")
    sitting.desk.pass_time(2)
    sitting.press("u")
    assert sitting.screen.notice.text == "too late: #1 was sent 2 s ago"
    sitting.ask(session_id="c")
    sitting.screen.select(lambda: sitting.screen.selection.choose(later))
    sitting.press("*")
    sitting.wait()
    sitting.press("d", "n", "o", "enter")
    sitting.wait()
    sitting.press("enter")
    sitting.wait(2.5)
    sitting.press("u")
    assert "too late: #3 and 1 more were sent" in sitting.screen.notice.text


def test_u_before_anything_was_answered_says_so() -> None:
    sitting = Sitting()
    sitting.ask()
    sitting.press("u")
    assert "you have given no answer yet" in sitting.screen.notice.text
