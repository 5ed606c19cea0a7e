"""A desk elsewhere that has lost its server: the screen says so, and takes nothing."""

from __future__ import annotations

from crabhook.desk.updates import LinkChanged
from crabhook.model.decision import Verdict
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


def test_who_has_lost_the_server_can_leave() -> None:
    sits = Sitting()
    sits.desk._tell(LinkChanged("nothing was heard of it"))
    sits.press("q")
    assert sits.screen.done
