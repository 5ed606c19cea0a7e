from crabhook.model.actor import OrderKind
from crabhook.model.order import Order
from crabhook.ui.plain.output import PROGRAMS
from tests.support.desk import PlayedDesk
from tests.support.plain_sitting import bash


def test_what_waits_is_listed_with_its_times_and_then_the_orders() -> None:
    desk = PlayedDesk()
    desk.order(Order(OrderKind.HOLD, name="Stop"))
    desk.ask(bash("make"))
    desk.ask({**bash("make"), "tool_use_id": "twin"})
    desk.pass_time(72)
    desk.snooze(2, 60)
    assert list(PROGRAMS.listing(desk.replica)) == [
        "#1 waits 1:12, 8:48 left · Bash project make",
        "#2 waits 1:12, 8:48 left, aside for 1:00 · Bash project make · the same as #1",
        "· order: hold Stop",
    ]


def test_an_empty_desk_says_so() -> None:
    assert list(PROGRAMS.listing(PlayedDesk().replica)) == ["· nothing waits"]


def test_among_very_many_none_is_searched_for_its_like() -> None:
    desk = PlayedDesk()
    for number in range(501):
        desk.ask({**bash("make"), "tool_use_id": f"t{number}"})
    assert not any("the same as" in line for line in PROGRAMS.listing(desk.replica))


def test_a_secret_in_a_line_of_the_list_is_covered() -> None:
    desk = PlayedDesk()
    desk.ask(bash("export TOKEN=abcd1234efgh && make"))
    (line,) = PROGRAMS.listing(desk.replica)
    assert line.endswith("export TOKEN=•••••••••••• && make")
