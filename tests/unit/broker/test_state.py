"""The books are what the broker's hands share; they are bounded, and say in short what they hold."""

from crabhook.broker.sessions.live import SESSIONS_KEPT
from crabhook.broker.state import FEED_KEPT, BrokerState
from crabhook.model.event import Event
from crabhook.platforms import PLATFORMS


def test_feed_and_sessions_are_bounded_and_keep_the_newest() -> None:
    books = BrokerState(PLATFORMS)
    for number in range(max(FEED_KEPT, SESSIONS_KEPT) + 3):
        event = Event("claude", "Stop", session=str(number))
        books.sessions.record(event, float(number))
        books.note(event, "")
    assert (len(books.feed), len(books.sessions)) == (FEED_KEPT, SESSIONS_KEPT)
    assert books.feed[-1].event.session == str(number)
    assert books.sessions.views(0.0)[-1].key == ("claude", str(number), "")


def test_the_earliest_time_is_what_is_asked_to_be_woken_for() -> None:
    books = BrokerState(PLATFORMS)
    assert [books.wake(at).at for at in (30.0, 10.0, 20.0)] == [30.0, 10.0, 10.0]
