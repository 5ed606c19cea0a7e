"""What a screen shows of other desks: who looks at the card, and that the server is lost."""

from __future__ import annotations

from crabhook.desk.commands import Claim
from crabhook.desk.updates import LinkChanged
from crabhook.model.actor import Operator
from crabhook.model.decision import Verdict
from crabhook.server.core.attendance import CLAIMED_FOR
from crabhook.server.core.local_desk import LocalDesk
from tests.support.sitting import Sitting


def test_while_the_server_is_not_heard_all_is_grey_and_no_key_decides() -> None:
    sits = Sitting(take_back_ms=0, rows=20)
    sits.ask()
    sits.wait()
    sits.desk._tell(LinkChanged("nothing was heard of it"))
    frame = sits.draw()
    assert "not connected" in sits.text()
    assert {style for line in frame.lines[1:] for style, _ in line} == {"dim"}
    assert not frame.shows_card
    sits.press("a", "d", "enter", "x")
    assert not sits.decided()
    sits.desk._tell(LinkChanged("", sits.desk.now()))
    assert "not connected" not in sits.text()
    sits.wait()
    sits.press("a")
    assert sits.verdicts() == [(1, Verdict.ALLOW)]


def test_who_looks_at_the_card_at_another_desk_is_named_on_it_until_they_leave() -> None:
    sits = Sitting()
    number = sits.ask()
    bob = LocalDesk(sits.desk.core, sits.desk.read, Operator("bob", "Bob \x1b[2J", "laptop"))  # type: ignore[arg-type]
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
    sits.desk._tell(LinkChanged("nothing was heard of it"))
    sits.press("q")
    assert sits.screen.done
