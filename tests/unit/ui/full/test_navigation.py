"""Moving about never decides anything, and every way in has a way out."""

from __future__ import annotations

import pytest

from crabhook.model.actor import Operator
from crabhook.model.decision import Decision, Verdict
from crabhook.server.core.local_desk import LocalDesk
from crabhook.ui.full.dialogs.card import FormPage, QueueView
from tests.support.seat import Seat
from tests.support.sitting import QUESTIONS, Sitting


def asked(tool: str = "Bash", tool_input: object = None) -> Sitting:
    sitting = Sitting()
    sitting.ask(tool, tool_input)
    sitting.wait()
    return sitting


@pytest.mark.parametrize(
    ("keys", "named"),
    [
        (["?"], "esc close"),
        (["enter"], "esc queue"),
        (["O"], "enter choose"),
        (["d"], "enter deny"),
        (["e"], "ctrl-s see the change"),
        (["b"], "enter go on"),
        (["b", "enter"], "enter yes, exactly this"),
        (["e", "x", "c-s"], "enter yes, exactly this"),
    ],
)
def test_every_way_in_has_a_way_out_and_decides_nothing(keys: list[str], named: str) -> None:
    sitting = asked()
    sitting.press(*keys)
    assert named in sitting.help_line()
    for _ in range(3):
        sitting.wait()
        sitting.press("escape")
    assert "enter open" in sitting.help_line()
    assert not sitting.decided()
    assert not sitting.desk.orders()


def test_an_empty_desk_offers_nothing_that_acts_on_cards_alone() -> None:
    of_cards = ("↓ next", "/ filter…", "s sort", "g group")
    sitting = Sitting()
    assert not [name for name in of_cards if name in sitting.help_line()]
    sitting.ask()
    sitting.wait()
    assert not [name for name in of_cards if name not in sitting.help_line()]


@pytest.mark.parametrize("view", ["S", "H"])
def test_a_view_without_rows_offers_no_next_row(view: str) -> None:
    sitting = Sitting()
    sitting.press(view)
    assert "esc queue" in sitting.help_line()
    assert "↓ next" not in sitting.help_line()


def test_a_filter_that_hides_all_that_waits_can_be_changed() -> None:
    sitting = asked()
    sitting.press("/", *"nowhere", "enter")
    assert not [name for name in ("/ filter…", "esc show all") if name not in sitting.help_line()]


def test_a_list_opened_inside_a_request_leads_back_there() -> None:
    sitting = asked()
    sitting.press("enter", "O", "escape")
    assert "esc queue" in sitting.help_line()


def test_arrows_go_through_a_list_and_its_ends_are_ends() -> None:
    sitting = asked()
    sitting.press("O", "up", "down", "down")
    menu = sitting.menu
    assert menu is not None
    assert menu.cursor == 2
    sitting.press("G", "down")
    assert menu.cursor == len(menu.choices) - 1
    sitting.press("g")
    assert menu.cursor == 0


def test_the_row_one_stands_on_is_in_view_on_a_small_screen() -> None:
    sitting = Sitting(rows=14)
    sitting.ask()
    sitting.wait()
    sitting.press("O")
    menu = sitting.menu
    assert menu is not None
    for choice in menu.choices:
        shown = "\n".join(sitting.rows_of_text()[5:])
        assert choice.ours[:20] in shown
        sitting.press("down")


def test_a_long_page_to_be_confirmed_can_be_read_to_its_end() -> None:
    sitting = asked(tool_input={"command": "\n".join(f"line-{n}-" for n in range(60))})
    sitting.press("space", "a")
    seen = sitting.text()
    for _ in range(12):
        sitting.press("pagedown")
        seen += sitting.text()
    assert all(f"line-{number}-" in seen for number in range(60))
    sitting.press("g")
    assert "ALLOW 1 request" in sitting.text()


def test_a_card_is_entered_where_its_kind_is_answered() -> None:
    assert "enter open" in asked().help_line()
    sitting = asked()
    sitting.press("enter")
    assert "esc queue" in sitting.help_line()
    assert "enter choose, next question" in asked("AskUserQuestion", QUESTIONS).help_line()


def test_a_form_opens_when_its_card_is_selected_and_esc_leaves_it_for_good() -> None:
    sitting = asked()
    sitting.ask("AskUserQuestion", QUESTIONS)
    assert "enter open" in sitting.help_line()  # what arrives takes no keys
    sitting.press("down")
    assert isinstance(sitting.top, FormPage)
    sitting.press("escape")
    sitting.ask(session_id="b")
    sitting.wait()
    assert isinstance(sitting.top, QueueView)
    sitting.press("up", "down")
    assert isinstance(sitting.top, FormPage)


def test_a_form_that_has_just_opened_takes_no_key_meant_for_another_card() -> None:
    sitting = asked()
    sitting.ask("AskUserQuestion", QUESTIONS)
    sitting.stroke = 0.05
    sitting.press("down", "enter", "space", "1", "o", "r", "enter")
    assert sitting.form is not None
    assert not sitting.form.answers()
    assert not sitting.decided()


def test_leaving_an_ended_card_forgets_what_was_begun_about_it() -> None:
    sitting = asked()
    sitting.ask(session_id="b")
    sitting.press("m")
    sitting.type("hello")
    sitting.press("enter")
    sitting.leave(1)
    assert sitting.screen.work[1].message
    sitting.press("down")
    assert 1 not in sitting.screen.work


@pytest.mark.parametrize("ending", ["decided", "gone", "held"])
def test_after_the_only_card_has_ended_the_next_that_arrives_is_selected_and_armed_anew(
    ending: str,
) -> None:
    sitting = Sitting(take_back_ms=2000, advance=True)
    first = sitting.ask(tool_input={"command": "ls 1"})
    sitting.wait()
    if ending == "gone":
        sitting.leave(first)
    else:
        sitting.press("a")
    if ending == "decided":
        sitting.wait(3)
    sitting.draw()
    assert sitting.card.number == first
    second = sitting.ask(tool_input={"command": "ls 2"})
    assert sitting.card.number == second  # one that is answered counts as decided
    sitting.press("a")  # meant for the one that ended
    assert "only just come into view" in sitting.text()
    sitting.press("a")
    sitting.wait(5)
    assert second not in dict(sitting.decided())
    sitting.press("a")
    sitting.wait(3)
    assert [number for number, _ in sitting.decided()].count(second) == 1


def test_a_key_held_for_the_card_that_ended_decides_nothing_of_the_next() -> None:
    sitting = Sitting(take_back_ms=0, advance=True)
    sitting.ask()
    sitting.wait()
    sitting.stroke = 0.03
    sitting.press("a")
    sitting.ask(tool_input={"command": "make"})
    sitting.press(*["a"] * 60)
    assert [number for number, _ in sitting.decided()] == [1]


def test_a_card_that_ends_by_itself_gives_way_to_the_next_in_order_and_that_is_said() -> None:
    sitting = Sitting(advance=True)
    for number in range(3):
        sitting.ask(tool_input={"command": f"ls {number}"})
    sitting.wait()
    sitting.leave(1)
    assert sitting.card.number == 2
    assert "#1 WITHDRAWN: this is the next request" in sitting.text()
    sitting.press("a")
    sitting.wait(5)
    assert not sitting.decided()


def test_what_is_begun_about_a_card_that_ends_is_kept_and_nothing_else_selected() -> None:
    for key in ("d", "enter", "e", "i"):
        sitting = Sitting(advance=True)
        sitting.ask()
        sitting.ask(tool_input={"command": "make"})
        sitting.wait()
        sitting.press(key)
        sitting.leave(1)
        assert sitting.card.number == 1
        sitting.press("escape")
        assert sitting.card.number == 2


def test_with_advance_off_the_card_that_ended_stays() -> None:
    sitting = Sitting(advance=False)
    sitting.ask()
    sitting.leave(1)
    sitting.ask()
    assert sitting.card.number == 1


@pytest.mark.parametrize("elsewhere", [False, True])
def test_whoever_leaves_is_told_what_becomes_of_what_waits_there(elsewhere: bool) -> None:
    sitting = Sitting(columns=100, elsewhere=elsewhere)
    sitting.ask()
    sitting.screen.want("nothing that waits")  # it waits all the same
    sitting.press("q")
    asked = sitting.text()
    assert "leave the desk? 1 request waits" in asked
    assert ("The server goes on without this desk" in asked) is elsewhere
    assert ("What waits gets no opinion" in asked) is not elsewhere
    sitting.press("escape", "c-c")
    then = "will go on waiting at the server" if elsewhere else "will go back to the agents"
    assert then in sitting.text()
    assert not sitting.screen.done


def test_a_card_that_another_operator_decided_gives_way_to_the_next_and_that_is_said() -> None:
    sitting = Sitting(advance=True)
    sitting.ask()
    sitting.ask(tool_input={"command": "make"})
    ann = Operator("ann", "Ann", "laptop")
    Seat(LocalDesk(sitting.desk.runner, ann), sitting.desk.runner).answer(
        1, Decision(Verdict.ALLOW)
    )
    assert sitting.card.number == 2
    assert "#1 ALLOWED: this is the next request" in sitting.text()
