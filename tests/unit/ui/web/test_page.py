"""The page in fragments: what there is, and what a piece of news changes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from crabhook.desk import updates
from crabhook.desk.commands import (
    AskContext,
    AskEntry,
    AskHistory,
    Decide,
    DecideWithRule,
    Done,
    EndOrders,
    GiveOrder,
    KeepRule,
    Steer,
    StopSession,
)
from crabhook.desk.replica import Replica
from crabhook.model.actor import Operator, OrderKind, Role
from crabhook.model.decision import Decision, Verdict
from crabhook.model.order import Order
from crabhook.server.core.local_desk import LocalDesk
from crabhook.ui.web.acts import CallError, command_of
from crabhook.ui.web.page import Fragment, changed, everything
from tests.support.desk import PlayedDesk
from tests.support.offering import BOTH, DENIALS
from tests.support.ruled import NO_RM, judge_by
from tests.support.sitting import call, happening
from tests.unit.ui.web.cards import CARDS, called, desk_of, outcome_of
from tests.unit.ui.web.reading import Element, call_of, read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crabhook.desk.commands import Command
    from crabhook.desk.updates import News
    from crabhook.model.card import Card

FOLDER = "/home/ann/api-server"


def seen(card: Card) -> bytes:
    return bytes([card.number])


class Page:
    """The page of a desk: what it shows, element by element, as its fragments come."""

    def __init__(self, desk: PlayedDesk, by: Operator | None = None) -> None:
        self.desk = desk
        own = desk if by is None else LocalDesk(desk.runner, by)
        self.replica = Replica(own, desk.now)
        self.shown: dict[str, str] = {}
        self.replica.follow(self._news)

    def _news(self, news: News) -> None:
        self.put(changed(news, self.replica, seen))

    def put(self, fragments: Sequence[Fragment]) -> None:
        for name, html in fragments:
            self.shown.pop(name, None)
            if html:
                self.shown[name] = html

    def element(self, name: str) -> Element:
        (element,) = read(self.shown[name]).inner
        assert isinstance(element, Element)
        return element

    def listed(self, list_: str) -> list[Element]:
        """The elements of a list in the order in which the page has them."""
        every = map(self.element, self.shown)
        into = [each for each in every if each.get("data-into") == list_]
        return sorted(into, key=lambda each: each.get("data-order"))

    def submit(self, command: Command) -> None:
        outcomes: list[object] = []
        self.replica.submit(command, outcomes.append)
        assert outcomes == [Done()]


def rows(page: Page) -> list[str]:
    return [row.get("data-card") for row in page.listed("queue-list")]


def test_the_worst_risk_is_first_then_the_oldest_and_what_is_put_aside_last() -> None:
    desk = PlayedDesk(judge=judge_by(NO_RM.replace("deny", "ask-operator"), FOLDER))
    for command in ("ls", "rm -rf ../cache", "make", "npm ci"):
        desk.ask(call("Bash", {"command": command}))
    page = Page(desk)
    assert rows(page) == ["2", "4", "1", "3"]
    desk.snooze(2, 60.0)
    assert rows(page) == ["4", "1", "3", "2"]
    assert page.element("row-2").get("data-risk") == "danger"


def test_all_that_there_is_is_what_the_news_made_of_the_page() -> None:
    desk, _ = desk_of("call")
    page = Page(desk)
    desk.ask(call("Bash", {"command": "ls"}))
    desk.pass_time(1.0)
    desk.order(Order(OrderKind.AWAY))
    desk.pass_time(1.0)
    whole = dict(everything(page.replica, seen))
    assert {name: page.shown[name] for name in whole} == whole


def test_a_card_that_ends_leaves_the_list_and_says_how() -> None:
    desk, card = desk_of("call")
    page = Page(desk, Operator("ann", "Ann", "phone", role=Role.ADMIN))
    row = page.element(f"row-{card.number}")
    assert row.get("data-seen") == str(card.revision)
    desk.answer(card.number, Decision(Verdict.DENY, reason="no"))
    assert f"row-{card.number}" not in page.shown
    ended = page.element(f"entry-card-{card.number}")
    assert ended.get("data-ended") == "DENIED by operator at the server's terminal"
    assert not ended.get("data-into")  # the history was not read yet


def test_a_short_request_is_decided_from_its_row_and_a_longer_one_is_opened() -> None:
    desk, card = desk_of("call")
    desk.ask(call("Bash", {"command": "\n".join(map(str, range(20)))}))
    desk.ask(CARDS["questions"])
    page = Page(desk)
    row = page.element(f"row-{card.number}")
    assert row.get("data-sha") == seen(card).hex()
    allow = next(each for each in row.all("button") if each.get("data-act") == "allow")
    command = command_of(call_of(allow, row), card, page.replica)
    assert isinstance(command, Decide)
    assert outcome_of(desk, command) == Done()
    for number in (2, 3):
        longer = page.element(f"row-{number}")
        assert not longer.all("button")
        assert longer.one("a").get("href") == f"#card-{number}"


def test_a_card_with_an_alarm_is_not_decided_from_its_row() -> None:
    desk, card = desk_of("call")
    page = Page(desk)
    page.put(changed(replace(card, alarms=("another file ran",)), page.replica, seen))
    row = page.element(f"row-{card.number}")
    assert (row.all("button"), row.get("data-sha")) == ([], "")


def test_a_viewer_is_offered_nothing() -> None:
    desk, card = desk_of("call")
    desk.pass_time(1.0)
    desk.order(Order(OrderKind.AWAY))
    page = Page(desk, Operator("vic", "Vic", "phone", role=Role.VIEWER))
    assert not [name for name in page.shown if page.element(name).all("button")]
    with pytest.raises(CallError, match="you are a viewer"):
        command_of(called(card, "deny"), card, page.replica)


def test_a_session_is_told_a_note_and_stopped_by_its_buttons() -> None:
    desk, _ = desk_of("call")
    desk.pass_time(1.0)
    page = Page(desk)
    (session,) = page.listed("session-list")
    assert "api-server" in session.one("h2").words
    made = {
        button.get("data-act"): command_of(
            call_of(button, session, "use the staging server"), None, page.replica
        )
        for button in session.all("button")
    }
    assert {act: type(command) for act, command in made.items()} == {
        "note": Steer,
        "stop": StopSession,
        "hold-all": GiveOrder,
        "allow-all": GiveOrder,
    }
    assert outcome_of(desk, made["note"]) == Done()
    desk.pass_time(1.0)
    (session,) = page.listed("session-list")
    assert "use the staging server" in session.words
    back = next(each for each in session.all("button") if each.get("data-act") == "note-back")
    assert outcome_of(desk, command_of(call_of(back, session), None, page.replica)) == Done()


def test_a_session_that_ends_goes() -> None:
    desk, card = desk_of("call")
    desk.pass_time(1.0)
    page = Page(desk)
    assert page.listed("session-list")
    desk.answer(card.number, Decision(Verdict.DENY, reason="no"))
    desk.ask(happening("SessionEnd", reason="exit"))
    desk.pass_time(1.0)
    assert not page.listed("session-list")


def test_orders_stand_above_all_and_end_by_their_buttons() -> None:
    desk, _ = desk_of("stop")
    page = Page(desk)
    head = page.element("desk")
    away = next(each for each in head.all("button") if each.get("data-act") == "away")
    command = command_of(call_of(away, head), None, page.replica)
    assert isinstance(command, GiveOrder)
    assert outcome_of(desk, command) == Done()
    head = page.element("desk")
    ends = [each for each in head.all("button") if each.get("data-act") in ("here", "release")]
    for button in ends:
        command = command_of(call_of(button, head), None, page.replica)
        assert isinstance(command, EndOrders)
        assert outcome_of(desk, command) == Done()
    assert len(ends) == 2
    assert not desk.orders()


def test_what_is_wrong_is_told_above_all() -> None:
    desk, _ = desk_of("call")
    page = Page(desk)
    desk.wrong.append("the record <cannot> be written")
    desk.runner.look_at_troubles()
    assert page.element("desk").one("p", class_="alarm").words == "! the record <cannot> be written"


def history(count: int) -> Page:
    desk = PlayedDesk()
    for number in range(count):
        desk.ask(call("Bash", {"command": f"echo {number}"}))
        desk.answer(number + 1, Decision(Verdict.DENY, reason="no"))
    return Page(desk)


def test_the_history_is_read_page_by_page_the_newest_first() -> None:
    page = history(150)
    page.submit(AskHistory())
    listed = page.listed("history-list")
    assert "echo 149" in listed[0].words
    more = listed[-1].one("button", class_="ask")
    assert (listed[-1].get("id"), more.get("data-ask")) == ("history-more", "history")
    count = len(listed)
    page.submit(AskHistory(int(more.get("data-before"))))
    assert len(page.listed("history-list")) > count
    assert "NaN" not in "".join(page.shown)


def test_an_entry_is_read_whole_in_its_place() -> None:
    page = history(1)
    page.submit(AskHistory())
    (entry,) = page.listed("history-list")
    assert not entry.all("dl")
    assert entry.get("data-ended") == "DENIED by operator"
    page.submit(AskEntry(int(entry.get("id").removeprefix("entry-"))))
    (whole,) = page.listed("history-list")
    assert whole.get("id") == entry.get("id")
    assert "echo 0" in whole.one("section", data_block="command").words
    assert "no" in whole.all("dd")[-1].words
    page.put(changed(updates.EntryRead(7, None), page.replica, seen))
    assert "kept no more" in page.element("entry-7").words


def test_a_rule_is_kept_for_calls_like_an_entry() -> None:
    page = history(1)
    page.desk.offered[1] = BOTH
    page.submit(AskEntry(1))
    whole = page.element("entry-1")
    ask = whole.one("button", class_="ask")
    assert (ask.get("data-ask"), ask.get("data-entry")) == ("offers", "1")
    page.submit(command_of({"ask": "offers", "entry": 1}, None, page.replica))
    offers = page.element("entry-offers-1")
    kept = command_of(call_of(offers.all("button")[0], whole), None, page.replica)
    assert isinstance(kept, KeepRule)
    assert (kept.entry, kept.taken.offer) == (1, BOTH.offers[0].id)
    page.submit(kept)
    undoes = call_of(offers.all("button")[1], whole)
    assert command_of(undoes, None, page.replica)
    with pytest.raises(CallError, match="second yes"):
        command_of({**undoes, "second": ""}, None, page.replica)


def test_a_card_that_ends_while_the_history_is_shown_is_put_on_top_once() -> None:
    page = history(1)
    page.submit(AskHistory())
    page.desk.ask(call("Bash", {"command": "make"}))
    page.desk.answer(2, Decision(Verdict.DENY, reason="no"))
    assert [each.get("data-card") for each in page.listed("history-list")] == ["2", "1"]
    page.submit(AskHistory())
    assert [each.get("data-card") for each in page.listed("history-list")] == ["2", "1"]


def test_the_agents_words_come_into_the_card_once_they_were_read() -> None:
    desk, card = desk_of("call")
    desk.words[card.number] = "I build it <anew>."
    page = Page(desk)
    page.submit(AskContext(card.number))
    assert "I build it <anew>." in page.element(f"known-{card.number}").words


def tapped(page: Page, element: Element, act: str, card: Card, value: Any = None) -> Command:
    button = next(each for each in element.all("button") if each.get("data-act") == act)
    return command_of(
        {
            **call_of(button, element, value),
            **called(
                card, act, value, choice=button.get("data-value"), second=button.get("data-second")
            ),
        },
        card,
        page.replica,
    )


def test_what_the_rules_say_of_an_edit_comes_with_the_button_that_sends_it() -> None:
    desk, card = desk_of("call", judge=judge_by(NO_RM, FOLDER))
    page = Page(desk)
    text = "rm -rf ../build"
    ask = {**called(card, "edit", text, choice="0"), "ask": "objections"}
    page.submit(command_of(ask, card, page.replica))
    edit = page.element(f"edit-{card.number}")
    assert "deletes ../build" in edit.one("ul", class_="risk").words
    assert "rm -rf ../build" in edit.one("section", data_block="change").words
    assert edit.all("p", class_="warning")
    command = tapped(page, edit, "edit", card, text)
    assert isinstance(command, Decide)
    assert command.decision.despite
    page.submit(command)


def test_the_rules_that_are_offered_come_with_buttons_that_take_them() -> None:
    for denies, offering in ((False, BOTH), (True, DENIALS)):
        desk, card = desk_of("call")
        page = Page(desk)
        page.submit(command_of({"ask": "offers", "denies": denies}, card, page.replica))
        place = page.element(f"{'denials' if denies else 'offers'}-{card.number}")
        assert len(place.all("div", class_="with-field")) == len(offering.offers)
        assert offering.offers[0].rule in place.words
        act = "always-deny" if denies else "always-allow"
        command = tapped(page, place, act, card, {"life": "forever"})
        assert isinstance(command, DecideWithRule)
        assert (command.taken.offer, command.taken.expires) == (offering.offers[0].id, None)
        assert outcome_of(desk, command) == Done()


def test_a_second_yes_comes_back_though_hidden_letters_are_in_it() -> None:
    desk = PlayedDesk(judge=judge_by(NO_RM.replace("deny", "ask-operator"), FOLDER))
    desk.ask(call("Bash", {"command": "rm -rf '../a\u202eb'"}))
    page, (card,) = Page(desk), desk.waiting()
    allow = next(each for each in page.element("row-1").all("button") if each.get("data-second"))
    assert "⟨U+202E⟩" in allow.get("data-second")
    command = command_of(call_of(allow, page.element("row-1")), card, page.replica)
    assert outcome_of(desk, command) == Done()


def test_why_no_rule_is_offered_is_said() -> None:
    desk, card = desk_of("call")
    desk.offered[card.number] = updates.Offering(why="it is <secret>")
    page = Page(desk)
    page.submit(command_of({"ask": "offers"}, card, page.replica))
    assert "it is <secret>" in page.element(f"offers-{card.number}").words
