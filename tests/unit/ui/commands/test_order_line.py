import pytest

from crabhook.model.actor import OrderKind
from crabhook.model.event import Event
from crabhook.model.order import Order
from crabhook.ui.commands.orders import keep_going_order, order_line, read_order, read_release
from crabhook.ui.commands.words import LineError
from tests.support.desk import PlayedDesk
from tests.support.plain_sitting import bash

NOW = PlayedDesk().now()


def desk() -> PlayedDesk:
    made = PlayedDesk()
    made.ask(bash("ls", "s1"))
    return made


@pytest.mark.parametrize(
    ("word", "rest", "order"),
    [
        ("hold", "Stop", Order(OrderKind.HOLD, name="Stop")),
        ("hold", "posttooluse", Order(OrderKind.HOLD, name="PostToolUse")),
        (
            "hold",
            "Stop session=s times=3 project=/w/api/",
            Order(OrderKind.HOLD, name="Stop", session="s1", project="/w/api", times=3),
        ),
        ("allow-all", "s 10m", Order(OrderKind.ALLOW_ALL, session="s1", until=NOW + 600)),
        ("allow-all", "session=s1 10m", Order(OrderKind.ALLOW_ALL, session="s1", until=NOW + 600)),
        ("hold-all", "s1 1h", Order(OrderKind.HOLD_ALL, session="s1", until=NOW + 3600)),
        ("away", "", Order(OrderKind.AWAY)),
        ("away", "2h", Order(OrderKind.AWAY, until=NOW + 7200)),
    ],
)
def test_an_order_is_read_as_it_was_meant(word: str, rest: str, order: Order) -> None:
    assert read_order(word, rest, desk()) == order


@pytest.mark.parametrize(
    ("word", "rest"),
    [
        ("hold", "Stp"),
        ("hold", "Stop now"),
        ("hold", "Stop session="),
        ("hold", "Stop times=1 times=2"),
        ("hold", "Stop times=many"),
        ("allow-all", "s1"),
        ("allow-all", "s1 10m now"),
        ("allow-all", "10m s1"),
        ("away", "2h now"),
    ],
)
def test_what_is_no_order_is_refused(word: str, rest: str) -> None:
    with pytest.raises(LineError, match="nothing was decided"):
        read_order(word, rest, desk())


ORDERS = [
    Order(OrderKind.HOLD, name="Stop"),
    Order(OrderKind.HOLD, name="Stop", session="s1"),
    Order(OrderKind.KEEP_GOING, name="Stop", session="s1", words="on"),
    Order(OrderKind.HOLD, name="PreCompact"),
    Order(OrderKind.ALLOW_ALL, session="s1", until=NOW + 60),
    Order(OrderKind.HOLD_ALL, session="s1"),
    Order(OrderKind.AWAY),
]


@pytest.mark.parametrize(
    ("rest", "ended"),
    [
        ("stop", [0, 1, 2]),
        ("Stop session=s1", [1, 2]),
        ("PreCompact", [3]),
        ("allow-all", [4]),
        ("hold-all", [5]),
        ("all", [0, 1, 2, 3, 4, 5]),
        ("ALL session=s", [1, 2, 4, 5]),
    ],
)
def test_a_release_ends_just_the_orders_it_names(rest: str, ended: list[int]) -> None:
    matches = read_release(rest, desk())
    assert [place for place, order in enumerate(ORDERS) if matches(order)] == ended


@pytest.mark.parametrize("rest", ["Stp", "away", "Stop now", "Stop times=3", "Stop session=zz"])
def test_a_release_of_nothing_known_is_refused(rest: str) -> None:
    with pytest.raises(LineError, match="nothing was decided"):
        read_release(rest, desk())


def test_an_agent_is_kept_going_in_its_own_session() -> None:
    event = Event("claude", "SubagentStop", "s1", cwd="/w")
    assert keep_going_order(event, 2, "on") == Order(
        OrderKind.KEEP_GOING, name="SubagentStop", session="s1", times=2, words="on"
    )


@pytest.mark.parametrize(
    ("order", "line"),
    [
        (ORDERS[0], "· order: hold Stop"),
        (ORDERS[4], "· order: allow everything of session=s1 · 1:00 left"),
        (ORDERS[6], "· away: what agents ask goes to their own users; here ends it"),
        (
            Order(OrderKind.HOLD, name="Stop", session="a\n#8 ALLOWED", times=2),
            "· order: hold Stop session=a␊#8 ALLOWED times=2",
        ),
    ],
)
def test_an_order_is_told_in_one_safe_line(order: Order, line: str) -> None:
    assert order_line(order, NOW) == line
