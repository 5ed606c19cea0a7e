"""The verbs that look, steer a session and give standing orders: what each prints, how it ends."""

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence
from time import monotonic

from crabhook.cli.commands import DONE, actions
from crabhook.cli.team.attaching import connected, place_of, turned_away
from crabhook.cli.verbs import deciding
from crabhook.cli.verbs.attached import (
    Attached,
    Teller,
    acting,
    command,
    folder_of,
    going,
    looking_keys,
    seconds,
)
from crabhook.datatypes import Bounded
from crabhook.desk import other_acts
from crabhook.desk.commands import (
    Done,
    EndOrders,
    GiveOrder,
    Outcome,
    Steer,
    StopSession,
)
from crabhook.desk.updates import Claimed, Cursor, LinkChanged, Snapshot, Update
from crabhook.model.actor import Actor, Ended
from crabhook.model.card import Card, FeedEntry
from crabhook.model.errors import CrabhookError
from crabhook.present.phrases import countdown
from crabhook.present.safe import safe
from crabhook.team.desk_keys import Credentials
from crabhook.ui.commands.orders import order_line, read_agent, read_order, read_release
from crabhook.ui.commands.words import WORDS
from crabhook.ui.console import say, say_json

CLAIMS_KEPT = 1000  # cards of which a watch knows who looks at them


def teller_of(here: Attached) -> Teller:
    """Return what tells of a desk's values as they are now."""
    return Teller(here.replica.now, here.replica.looking)


def card_of(here: Attached, number: int) -> Card:
    """Return a card that the server has; raises CrabhookError."""
    if (card := here.replica.card(number)) is None:
        raise CrabhookError(f"there is no #{number}: see `crabhook pending`")
    return card


async def _pending(here: Attached, arguments: argparse.Namespace) -> int:
    while arguments.wait and not here.replica.waiting():
        here.changed.clear()
        await here.changed.wait()
    cards = [card_of(here, number) for number in arguments.numbers] or here.replica.waiting()
    for card in cards:
        say_json(teller_of(here).card(card)) if arguments.json else say(deciding.described(card))
    return _none_is_said("nothing waits", cards, arguments)


async def _sessions(here: Attached, arguments: argparse.Namespace) -> int:
    teller, live = teller_of(here), here.replica.live()
    for view in live:
        shown = teller.session(view)
        if arguments.json:
            say_json(shown)
        else:
            say(f"{view.session}  {view.title}  {view.cwd}  {len(view.waiting)} waiting")
    return _none_is_said("no session is live", live, arguments)


def _none_is_said(words: str, some: Sequence[object], arguments: argparse.Namespace) -> int:
    """Tell a person at a terminal that a list is empty; a program needs no line."""
    if not some and not arguments.json and sys.stdout.isatty():
        sys.stderr.write(f"{words}\n")
    return DONE


async def _note(here: Attached, arguments: argparse.Namespace) -> int:
    line = " ".join((arguments.session, *arguments.words))
    session, agent, text = read_agent(line, here.replica, WORDS["note"])
    return _ended(await here.submit(Steer(session, text, agent)))


async def _stop(here: Attached, arguments: argparse.Namespace) -> int:
    line = " ".join((arguments.session, *arguments.words))
    bare = not arguments.words  # the server has its own words for the agent
    session, agent, text = read_agent(f"{line} -" if bare else line, here.replica, WORDS["stop"])
    return _ended(await here.submit(StopSession(session, "" if bare else text, agent)))


def _ended(outcome: Outcome, words: str = "") -> int:
    say(words if words and isinstance(outcome, Done) else outcome.why or "done")
    return deciding.CODES[type(outcome)]


async def _orders(here: Attached, arguments: argparse.Namespace) -> int:
    standing, now = here.replica.orders(), here.replica.now()
    for order in standing:
        if arguments.json:
            say_json(teller_of(here).order(order))
        else:
            say(order_line(order, now).removeprefix("· "))
    return _none_is_said("no order stands", standing, arguments)


async def _away(here: Attached, arguments: argparse.Namespace) -> int:
    desk, seconds = here.replica, arguments.seconds
    waited = {card.number for card in desk.waiting()}
    outcome = await here.submit(GiveOrder(other_acts.away(desk.now(), seconds)))
    gone = sum(card.number in waited and card.end is Ended.AWAY for card in desk.ended())
    many = f"{gone} waiting request{' was' if gone == 1 else 's were'} let go"
    end = "until `crabhook orders here`"
    if seconds is not None:
        clock = time.strftime("%H:%M", time.localtime(time.time() + seconds))
        end = f"until {clock} ({countdown(seconds)})"
    return _ended(outcome, f"You are away {end}: {many}, and what comes passes, with no opinion.")


async def _here(here: Attached, _: argparse.Namespace) -> int:
    if (back := other_acts.here(here.replica.orders())) is None:
        say("You were not away: nothing was changed.")
        return DONE
    outcome = await here.submit(back)
    return _ended(outcome, "You are here: requests wait for you again.")


async def _hold_all(here: Attached, arguments: argparse.Namespace) -> int:
    line = f"{arguments.session} {arguments.length}"
    order = read_order("hold-all", line, here.replica)
    outcome = await here.submit(GiveOrder(order))
    return _ended(outcome, f"Everything of {order.session} waits for you, for {arguments.length}.")


async def _release(here: Attached, arguments: argparse.Namespace) -> int:
    matches = read_release(arguments.orders, here.replica)
    ended = frozenset(order.id for order in here.replica.orders() if matches(order))
    if not ended:
        say("No such order stands: nothing was changed.")
        return DONE
    outcome = await here.submit(EndOrders(ended))
    return _ended(outcome, f"{len(ended)} order{' was' if len(ended) == 1 else 's were'} ended.")


def _watching(arguments: argparse.Namespace) -> int:
    folder = folder_of(arguments)
    return asyncio.run(_watch(place_of(folder), looking_keys(folder), arguments.after))


async def _watch(server: str, keys: Credentials, after: Cursor | None) -> int:
    """Print everything, then news, each with its cursor; until interrupted.

    Raises MayNotError once the server takes this device no more, as when it was revoked.
    """
    async with connected(server, keys, after) as desk:
        ahead = 0.0  # how far the server's clock is ahead of ours
        looking: Bounded[int, tuple[Actor, ...]] = Bounded(CLAIMS_KEPT)
        teller = Teller(lambda: monotonic() + ahead, lambda number: looking.get(number, ()))

        def on_update(update: Update) -> None:
            nonlocal ahead
            cursor, news = str(desk.cursor), update.news
            line: dict[str, object]
            match news:
                case Snapshot():
                    ahead = news.now - monotonic()
                    looking.clear()
                    looking.update({claim.card: claim.by for claim in news.claims})
                    waiting = [teller.card(card) for card in news.waiting]
                    line = {"type": "snapshot", "cursor": cursor, "waiting": waiting}
                case Card():
                    line = {"type": "card", "cursor": cursor, "card": teller.card(news)}
                case Claimed(number, by):
                    looking[number] = by
                    line = {"type": "claim", "cursor": cursor, "number": number}
                    line |= teller.claim(number)
                case FeedEntry():
                    line = {"type": "feed", "cursor": cursor, **teller.line(news)}
                case LinkChanged("", now, changed):
                    ahead = now - monotonic()
                    if changed:
                        sys.stderr.write(f"crabhook watch: {safe(changed)}\n")
                    return
                case LinkChanged(refused=True):
                    return
                case LinkChanged(lost):
                    sys.stderr.write(f"crabhook watch: {safe(lost)}, trying again\n")
                    return
                case _:
                    return
            say_json(line)
            sys.stdout.flush()

        desk.subscribe(on_update)
        await desk.refused.wait()
        raise turned_away(desk)


pending = acting("pending", _pending, "json", "pending")
watch = command("watch", _watching, "watch")
sessions = actions(
    "sessions",
    {
        "list": going(_sessions),
        "note": going(_note, why=lambda _: deciding.TO_THE_MODEL),
        "stop": going(_stop, why=lambda to: deciding.TO_THE_MODEL if to.words else None),
    },
    {},
)
orders = actions(
    "orders",
    {
        "list": going(_orders),
        "away": going(_away, why=lambda _: "Nothing will wait for you"),
        "here": going(_here),
        "hold-all": going(_hold_all),
        "release": going(
            _release,
            why=lambda to: (
                None
                if to.orders in ("allow-all", "retry")
                else "This may end an order by which calls wait"
            ),
        ),
    },
    {"seconds": seconds},
)
