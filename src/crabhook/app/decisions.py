"""What the log of a server without a desk says about decisions, and the counts at its desks.

More people read a log than a desk, so secrets are redacted in a call's summary, as in the record.
What both need is imported late, when hooks can connect: so each is told when to begin.
"""

import asyncio
import logging
import secrets
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from crabhook.app.logs import fields
from crabhook.desk.updates import News
from crabhook.model.card import FeedEntry
from crabhook.model.decision import Decided, Decision, Verdict
from crabhook.model.errors import CrabhookError
from crabhook.model.event import Event, ToolCall
from crabhook.model.wording import who
from crabhook.server.core.runner import INCIDENT, Runner
from crabhook.store.actors import actor_in
from crabhook.store.interface import Query
from crabhook.store.opening import Place, open_history
from crabhook.store.record import RecordKind, iso

if TYPE_CHECKING:
    from collections.abc import Callable

    from crabhook.ui.day_counts import DayCounts

_LOG = logging.getLogger("crabhook.decisions")

MOST_TODAY = 20_000  # the most decisions of a day that are counted
SHORT = 160  # characters of a call's summary in the log


class DecisionLog:
    """The decisions in the log of a server without a desk; nothing is logged before `begin`."""

    def __init__(self) -> None:
        self._texts: Callable[[Event, Decided], tuple[str, str]] | None = None

    def begin(self, runner: Runner) -> None:
        """Log each decision from now on, the server's own news, and observed events at debug."""
        from crabhook.present.summary import summary  # the other desks have it
        from crabhook.store.redact import Redactor  # only a headless desk logs

        redactor = Redactor(secrets.token_bytes(16))
        self._texts = lambda event, decided: (
            redactor.text(summary(event, spell=str)),
            redactor.text(decided.decision.reason),
        )
        runner.listen(_log_news)

    def hear(self, event: Event, decided: Decided) -> None:
        """Log a decision."""
        if self._texts is None:
            return
        subject, reason = self._texts(event, decided)
        about = fields(
            verdict=decided.decision.verdict.value,
            by=who(decided.by),
            event=event.name,
            tool=event.tool.name if event.tool else "",
            session=event.session,
            cwd=event.cwd,
            subject=subject if len(subject) <= SHORT else f"{subject[:SHORT]}…",
            reason=reason,
        )
        _LOG.info("decided", extra=about)


def _log_news(news: News) -> None:
    if not isinstance(news, FeedEntry) or news.number is not None or news.event == INCIDENT:
        return  # a card is logged when it is decided, an incident where it is told
    event = news.event
    unread = event.name == "?"  # the event of an unreadable input
    if not event.platform or unread:
        _LOG.warning("%s", news.text)
    elif not news.text:
        _LOG.debug("observed", extra=fields(event=event.name, session=event.session, cwd=event.cwd))


class Day:
    """The decisions of today, for every desk; nothing is counted before `begin`."""

    def __init__(self) -> None:
        self._tally: DayCounts | None = None

    async def begin(self, place: Place) -> "DayCounts":
        """Count all decisions from now on, and those of today before, from the record."""
        from crabhook.ui.day_counts import DayCounts  # hooks can connect meanwhile

        tally = self._tally = DayCounts()
        await asyncio.to_thread(count_today, tally, place)
        return tally

    def hear(self, event: Event, decided: Decided) -> None:
        """Count a decision."""
        if self._tally is not None:
            self._tally.count(event, decided)

    def today(self) -> str:
        """Return the counts in words; empty where nothing is counted."""
        return "" if self._tally is None else self._tally.today()

    def alike(self, event: Event, /) -> tuple[int, int, str]:
        """Return how many calls like this were allowed, how many denied, and what they are."""
        return (0, 0, "") if self._tally is None else self._tally.alike(event)


def count_today(tally: "DayCounts", place: Place) -> None:
    """Count the recorded decisions since midnight."""
    midnight = datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    today = Query(
        since=iso(midnight.timestamp()), kinds=(RecordKind.DECIDED.value,), last=MOST_TODAY
    )
    with suppress(CrabhookError), open_history(place) as history:
        for record in history.find(today):
            with suppress(ValueError):  # a verdict of another version
                data = record.data()
                made = Decision(Verdict(record.verdict))
                if "edited" in data:
                    made = replace(made, updated_input={})
                tool = ToolCall(record.tool, data.get("input")) if record.tool else None
                event = Event(record.platform, "PreToolUse", tool=tool)
                tally.count(event, Decided(made, actor_in(data)), earlier=True)
