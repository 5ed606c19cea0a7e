"""A runner's news for desks elsewhere: numbered, and kept for a while.

A desk elsewhere has a place in the log, and no queue of its own. So a slow desk costs the other
desks nothing, and a desk that reconnects goes on from its place while that is kept.
"""

import asyncio
import secrets
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from crabhook.datatypes import Bounded
from crabhook.desk.updates import SHARED, News, SessionsSeen, Snapshot
from crabhook.model.card import Card
from crabhook.model.session import SessionKey, SessionView
from crabhook.server.core.runner import Runner

KEPT = 2048  # pieces of news
KEPT_BYTES = 32 << 20  # of the inputs on the cards among them
SESSIONS_KEPT = 1024
VERSIONS_KEPT = 4096  # of cards, each as a decision may say that it was seen


@dataclass(slots=True, eq=False, weakref_slot=True)
class LoggedNews:
    """A piece of news and its place; a transport may keep what it sends of it, for as long."""

    seq: int
    news: News

    @property
    def size(self) -> int:
        """About how many bytes it keeps."""
        return sum(leg.size for leg in self.news.requests) if isinstance(self.news, Card) else 0


class UpdateLog:
    """The news of a runner, from now on, each with its number.

    Its numbers begin at the wall clock's microseconds, so that they increase over a restart;
    earlier news is not kept.
    """

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self.store_id, self.run = runner.store_id, secrets.token_bytes(8)
        self.seq, self._left = time.time_ns() // 1000, False
        self.more = asyncio.Event()
        self._kept: deque[LoggedNews] = deque()
        self._size = 0
        self._versions: Bounded[tuple[int, int], Card] = Bounded(VERSIONS_KEPT)
        self._sessions: Bounded[SessionKey, SessionView] = Bounded(SESSIONS_KEPT)
        self._leave = runner.listen(self._on_news)

    def close(self) -> None:
        """Take no more news; readers of the log end."""
        self._leave()
        self._left = True
        self.more.set()

    @property
    def closed(self) -> bool:
        """Whether the log has ended, also because its runner writes no more.

        The last decisions of such a runner may not be on record.
        """
        return self._left or self._runner.writer_ended is not None

    def _on_news(self, news: News) -> None:
        if self.closed:
            self.more.set()
            return
        if isinstance(news, Snapshot):
            self._versions.update({(card.number, card.revision): card for card in news.waiting})
            self._sessions.update({view.key: view for view in news.live})
            if self._kept:  # told anew: who was told what came before has a gap, and then all of it
                self._kept.clear()
                self._size, self.seq = 0, self.seq + 1
                self._ring()
        if type(news) not in SHARED:
            return
        self.seq += 1
        item = LoggedNews(self.seq, news)
        self._kept.append(item)
        self._size += item.size
        while len(self._kept) > KEPT or (self._size > KEPT_BYTES and len(self._kept) > 1):
            self._size -= self._kept.popleft().size
        if isinstance(news, Card):
            self._versions[news.number, news.revision] = news
        if isinstance(news, SessionsSeen):
            self._sessions.update({view.key: view for view in news.changed})
        self._ring()

    def _ring(self) -> None:
        more, self.more = self.more, asyncio.Event()
        more.set()

    def after(self, seq: int) -> Sequence[LoggedNews] | None:
        """Return the news after a place, a few at once; None where the place is not kept."""
        first = self.seq - len(self._kept)
        if not first <= seq <= self.seq:
            return None
        return tuple(islice(self._kept, seq - first, seq - first + 64))

    async def snapshot(self) -> tuple[int, Snapshot] | None:
        """Return the whole state, and its place in the log; None where the log is closed."""
        snapshot = asyncio.get_running_loop().create_future()

        def on_news(news: News) -> None:
            if isinstance(news, Snapshot) and not snapshot.done():
                snapshot.set_result(None if self.closed else (self.seq, news))

        leave = self._runner.listen(on_news)
        try:
            there: tuple[int, Snapshot] | None = await snapshot
            return there
        finally:
            leave()

    # The cards and sessions in the news.

    def card(self, number: int) -> Card | None:
        """Return a card that waits or ended lately, unless the runner writes no more."""
        return None if self._runner.writer_ended else self._runner.broker.card(number)

    def live(self) -> Sequence[SessionView]:
        """Return the sessions with the latest events."""
        return self._runner.broker.live(self._runner.now())

    def ended(self, key: SessionKey) -> SessionView | None:
        """Return a session as last published, also after its end."""
        return self._sessions.get(key)

    def seen(self, number: int, version: int) -> Card | None:
        """Return a card in the version that an operator saw, where it is kept."""
        card = self._runner.broker.card(number)
        if card is not None and card.revision == version:
            return card
        return self._versions.get((number, version))
