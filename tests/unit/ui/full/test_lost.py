"""What a screen shows of other desks: who looks at the card, and that the server is lost."""

from __future__ import annotations

from dataclasses import replace

from crabhook.desk.commands import Claim, Decide, TooLate
from crabhook.desk.updates import HouseChanged, LinkChanged, Snapshot
from crabhook.model.actor import Operator
from crabhook.model.decision import Decision, Verdict
from crabhook.present.document import CardReason
from crabhook.present.safe import safe
from crabhook.present.sentence import too_late
from crabhook.server.core.attendance import CLAIMED_FOR
from crabhook.server.core.local_desk import LocalDesk
from crabhook.ui.full.arming import Sight
from crabhook.ui.full.panes.around import reason_lines
from crabhook.ui.text.layout import Sheet
from tests.support.sitting import QUESTIONS, Sitting

PAPER = Sheet(80, safe)


def test_while_the_server_is_not_heard_all_is_grey_and_no_key_decides() -> None:
    sits = Sitting(take_back_ms=0, rows=20)
    sits.ask()
    sits.wait()
    sits.desk._publish(LinkChanged("nothing was heard of it"))
    frame = sits.draw()
    assert "not connected" in sits.text()
    assert {style for line in frame.lines[1:] for style, _ in line} == {"dim", "notice"}
    assert "`crabhook up` starts it" in " ".join(sits.text().split())
    assert frame.sight == Sight()
    sits.press("a", "d", "enter", "x")
    assert not sits.decided()
    sits.desk._publish(LinkChanged("", sits.desk.now()))
    assert "not connected" not in sits.text()
    sits.wait()
    sits.press("a")
    assert sits.verdicts() == [(1, Verdict.ALLOW)]


def test_what_became_of_an_answer_is_said_once_the_server_is_heard_again() -> None:
    sits = Sitting(columns=120)
    sits.desk._publish(LinkChanged("nothing was heard of it"))
    sits.screen.say("#1: whether it was done is not known")
    sits.desk.pass_time(2)
    sits.press("a", "down")
    assert "is not known" not in sits.text()
    sits.desk._publish(LinkChanged("", sits.desk.now()))
    assert "is not known" in sits.text()
    sits.press("down")
    assert "is not known" not in sits.text()


def test_a_card_that_the_server_does_not_know_any_more_has_ended() -> None:
    sits = Sitting(columns=120)
    sits.ask()
    sits.wait()
    sits.press("a")  # held, to be taken back
    sits.desk._publish(LinkChanged("the server was ended"))
    sits.desk._publish(Snapshot(sits.desk.now()))
    assert "your answer changed nothing" in sits.text()
    assert "WITHDRAWN · how it ended is not known here" in sits.text()
    sits.press("a")
    sits.desk.pass_time(9)
    assert not sits.decided()
    assert "#1 has ended" in sits.text()


def another_takes_over(sits: Sitting) -> None:
    cards = tuple(replace(card, restored=True) for card in sits.desk.waiting())
    sits.desk._publish(LinkChanged("the server has ended"))
    sits.desk._publish(Snapshot(sits.desk.now(), cards))
    sits.wait()


def test_what_is_half_typed_stays_when_another_server_takes_over() -> None:
    sits = Sitting(columns=120, take_back_ms=0)
    sits.ask()
    sits.wait()
    sits.press("d", *"not n")
    another_takes_over(sits)
    sits.press(*"ow", "enter")
    assert [(number, said.reason) for number, said in sits.decided()] == [(1, "not now")]


def test_what_is_half_answered_stays_when_another_server_takes_over() -> None:
    sits = Sitting(columns=120, take_back_ms=0)
    sits.ask("AskUserQuestion", QUESTIONS)
    sits.wait()
    sits.press("2")
    assert "✓ pydantic" in sits.text()
    another_takes_over(sits)
    assert "✓ pydantic" in sits.text()


def test_who_looks_at_the_card_at_another_desk_is_named_on_it_until_they_leave() -> None:
    sits = Sitting()
    number = sits.ask()
    bob = LocalDesk(sits.desk.runner, Operator("bob", "Bob \x1b[2J", "laptop"))  # type: ignore[arg-type]
    bob.submit(Claim(number))
    sits.desk.submit(Claim(number))  # one's own look is no news, and hides nobody's
    assert " Bob ␛[2J is looking" in sits.text()
    bob.submit(Claim(0, release=True))
    assert "is looking" not in sits.text()
    bob.submit(Claim(number))
    sits.desk.pass_time(CLAIMED_FOR)
    assert "is looking" not in sits.text()


def test_who_has_lost_the_server_can_leave() -> None:
    sits = Sitting()
    sits.desk._publish(LinkChanged("nothing was heard of it"))
    sits.press("q")
    assert sits.screen.done


def test_who_decided_before_is_named_to_who_came_too_late() -> None:
    sits = Sitting(take_back_ms=2000, columns=120)
    number = sits.ask()
    bob = LocalDesk(sits.desk.runner, Operator("bob", "Bob", "laptop"))  # type: ignore[arg-type]
    sits.wait()
    sits.press("a")
    bob.submit(Decide(number, sits.card.revision, Decision(Verdict.DENY, reason="no")))
    sits.draw()
    assert "#1 DENIED by Bob at laptop, 0 s ago: your answer changed nothing" in sits.text()


def test_an_answer_on_its_way_names_who_was_first() -> None:
    sits = Sitting()
    number = sits.ask()
    bob = LocalDesk(sits.desk.runner, Operator("bob", "Bob", "laptop"))  # type: ignore[arg-type]
    bob.submit(Decide(number, sits.card.revision, Decision(Verdict.DENY, reason="no")))
    card = sits.desk.card(number)
    assert card is not None
    assert card.decided is not None
    said = too_late(TooLate("#1 has ended", card.decided.by), card, sits.screen.desk)
    assert said == "#1 has ended (by Bob at laptop, 0 s ago)"


def test_a_card_that_was_taken_up_after_a_restart_says_so() -> None:
    sits = Sitting()
    sits.ask()
    (line,) = [
        one
        for one in reason_lines(CardReason(sits.card.reason, restored=True), PAPER)
        if one[0][0] == "noted"
    ]
    assert line == [("noted", "it came before this server began to serve")]
    assert "restart" not in sits.text()


def test_what_became_of_the_server_stands_among_what_went_by() -> None:
    sits = Sitting(columns=120)
    sits.desk._publish(LinkChanged("the server has ended it"))
    sits.desk._publish(LinkChanged("", sits.desk.now(), "another server leads now, b.example:7444"))
    assert "another server leads now, b.example:7444" in sits.text()


def test_a_long_trouble_leaves_room_for_how_rules_and_record_stand() -> None:
    sits = Sitting(columns=120)
    sits.desk._publish(HouseChanged("rules 41 WRONG · record MISSING"))
    sits.desk.wrong.append(
        "the socket was taken away: hooks of new sessions find no server any more"
    )
    status = sits.rows_of_text()[0]
    assert "the socket was taken" in status
    assert "rules 41 WRONG · record MISSING" in status
