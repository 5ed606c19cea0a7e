"""A desk as it is elsewhere, with no network: all that crosses its door is bytes in between."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from crabhook.desk.commands import Ask, Command, Done
from crabhook.desk.updates import READ, LinkChanged, News, Settled, Snapshot, Update
from crabhook.remote.messages import (
    command_in,
    event_of,
    events_of,
    news_in,
    outcome_in,
    read_in,
    request_of,
    response_of,
    snapshot_of,
)
from tests.support.desk import PlayedDesk

if TYPE_CHECKING:
    from collections.abc import Callable

WHOLE = 2**62  # bytes: no input is left out
_ASKS = {read: ask for ask, read in READ.items()}


def _sent(message: Any) -> Any:
    return type(message).FromString(message.SerializeToString())


def carried(news: News) -> News:
    """Return a piece of news as it is on the other side."""
    if isinstance(news, LinkChanged):  # which a desk elsewhere tells itself
        return news
    there: News | None
    if isinstance(news, Snapshot):
        first, *rest = map(_sent, events_of(news, WHOLE))
        told = snapshot_of(first.state, [one for event in rest if (one := news_in(event))])
        there = replace(told, me=news.me)  # which Hello tells
    elif isinstance(news, Settled):
        there = Settled(news.command, outcome_in(_sent(response_of("Decide", news.outcome, 1))))
    elif ask := _ASKS.get(type(news)):
        rpc = ask.__name__.removeprefix("Ask")
        asked: Any = object.__new__(ask)
        there = read_in(_sent(response_of(rpc, Done(), 1, news)), asked)
    else:
        there = news_in(_sent(event_of(news, 1, WHOLE)))
    assert there is not None
    return there


class WiredDesk(PlayedDesk):
    """A played desk whose commands and updates are carried as messages."""

    def submit(self, command: Command) -> None:
        rpc, request = request_of(command)
        there = command_in(rpc, _sent(request))
        super().submit(replace(there, id=command.id) if isinstance(command, Ask) else there)

    def subscribe(self, listener: Callable[[Update], object]) -> Callable[[], None]:
        return super().subscribe(lambda told: listener(Update(told.number, carried(told.news))))
