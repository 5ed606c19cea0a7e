"""An open page: its copy of the news, and the events that it was sent and may not have got."""

import asyncio
import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from crabhook.desk.commands import Command
from crabhook.desk.replica import Replica
from crabhook.desk.updates import NEVER, Cursor, News, Update

EVENTS_KEPT = 512  # of a page, until it says that it got them
BYTES_KEPT = 8 << 20


class PageEvent(NamedTuple):
    """An event of a page's stream; one without a place in the log is not sent again."""

    name: str
    data: str
    place: str = ""

    @classmethod
    def of(cls, name: str, value: Any, place: Cursor | None = None) -> "PageEvent":  # noqa: ANN401 - JSON
        """Return an event that carries a value as JSON."""
        return cls(name, json.dumps(value, ensure_ascii=True), str(place) if place else "")

    @property
    def encoded(self) -> bytes:
        """The event as it is on the wire."""
        place = f"id: {self.place}\n" if self.place else ""
        return f"{place}event: {self.name}\ndata: {self.data}\n\n".encode("ascii")


class Feed:
    """The desk of a replica that is fed by hand."""

    def __init__(self) -> None:
        self._listener: Callable[[Update], None] = lambda _: None
        self._number = 0

    def submit(self, command: Command) -> None:
        """Do nothing: a page's commands come by themselves, each with its own proof."""

    def subscribe(self, listener: Callable[[Update], None]) -> Callable[[], None]:
        """Give `listener` what is put in from now on."""
        self._listener = listener
        return lambda: None

    def put(self, news: News) -> None:
        """Tell a piece of news."""
        self._number += 1
        self._listener(Update(self._number, news))


class OpenPage:
    """What the server knows of one page; `clock` is monotonic seconds.

    `cursor` is the page's place in the log: a stream that begins again goes on from there.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._feed = Feed()
        self.desk = Replica(self._feed, clock)
        self.desk.follow()
        self.cursor = NEVER
        self._sent = deque[PageEvent]()
        self._size = 0
        self._stream: asyncio.Task[object] | None = None

    def put(self, news: News) -> None:
        """Take up a piece of news."""
        self._feed.put(news)

    @contextmanager
    def only_stream(self) -> Iterator[None]:
        """End the page's earlier stream, which the page does not read any more."""
        if self._stream is not None:
            self._stream.cancel()
        self._stream = own = asyncio.current_task()
        try:
            yield
        finally:
            if self._stream is own:
                self._stream = None

    def sends(self, event: PageEvent, cursor: Cursor) -> None:
        """Keep an event until the page has got it; the page is at `cursor` then."""
        self.cursor = cursor
        self._sent.append(event)
        self._size += len(event.data)
        while len(self._sent) > EVENTS_KEPT or (self._size > BYTES_KEPT and len(self._sent) > 1):
            self._size -= len(self._sent.popleft().data)

    def after(self, place: str) -> Sequence[PageEvent] | None:
        """Return the events behind the last event that the page got; None if they are not kept."""
        if not place:
            return None
        places = [event.place for event in self._sent]
        if place not in places:
            return None
        behind = len(places) - places[::-1].index(place)
        return tuple(self._sent)[behind:]
