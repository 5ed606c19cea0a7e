"""`crabhook away`, `here`, `hold-all` and `release`: standing orders from a shell.

Closing gates takes the open key; opening them takes the passphrase, or a signing key.
"""

import argparse
import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeAlias

from crabhook.cli.commands import DONE, Command, declare, options_of, reporting
from crabhook.cli.team.asking import opening_keys
from crabhook.cli.terminal import say
from crabhook.cli.verbs.attached import Attached
from crabhook.cli.verbs.commands import at_desk_of, folder_of
from crabhook.cli.verbs.deciding import CODES
from crabhook.desk.commands import Done, EndOrders, GiveOrder, Outcome
from crabhook.model.actor import Ended, OrderKind
from crabhook.model.order import Order
from crabhook.ui.commands.orders import read_order, read_release
from crabhook.ui.commands.words import LineError, read_duration
from crabhook.ui.text.rows import countdown
from crabhook.ui.text.safe import safe

Act: TypeAlias = Callable[[argparse.Namespace, Attached], Awaitable[int]]


def _closing(act: Act, arguments: argparse.Namespace) -> int:
    """Close gates, with the open key if there is one."""
    folder = folder_of(arguments)
    keys = folder.closing() or opening_keys(folder)
    return asyncio.run(at_desk_of(folder, keys, partial(act, arguments)))


def _opening(why: str, act: Act, arguments: argparse.Namespace) -> int:
    """Open gates: a person types the passphrase."""
    folder = folder_of(arguments)
    keys = opening_keys(folder, why)
    return asyncio.run(at_desk_of(folder, keys, partial(act, arguments)))


def _ended(outcome: Outcome, words: str) -> int:
    say(words if isinstance(outcome, Done) else safe(outcome.why))
    return CODES[type(outcome)]


async def _away(arguments: argparse.Namespace, here: Attached) -> int:
    desk, seconds = here.replica, arguments.seconds
    waited = {card.number for card in desk.waiting()}
    until = None if seconds is None else desk.now() + seconds
    outcome = await here.submit(GiveOrder(Order(OrderKind.AWAY, until=until)))
    gone = sum(card.number in waited and card.end is Ended.AWAY for card in desk.ended())
    many = f"{gone} waiting request{' was' if gone == 1 else 's were'} let go"
    end = "until `crabhook here`"
    if seconds is not None:
        clock = time.strftime("%H:%M", time.localtime(time.time() + seconds))
        end = f"until {clock} ({countdown(seconds)})"
    return _ended(outcome, f"You are away {end}: {many}, and what comes passes, with no opinion.")


async def _here(_: argparse.Namespace, here: Attached) -> int:
    away = (order.id for order in here.replica.orders() if order.kind is OrderKind.AWAY)
    if not (orders := frozenset(away)):
        say("You were not away: nothing was changed.")
        return DONE
    outcome = await here.submit(EndOrders(orders))
    return _ended(outcome, "You are here: requests wait for you again.")


async def _hold_all(arguments: argparse.Namespace, here: Attached) -> int:
    line = f"{arguments.session} {arguments.length}"
    order = read_order("hold-all", line, here.replica)
    outcome = await here.submit(GiveOrder(order))
    return _ended(outcome, f"Everything of {order.session} waits for you, for {arguments.length}.")


def _release(arguments: argparse.Namespace) -> int:
    """End the orders that let calls pass, with the open key."""
    if arguments.orders == "allow-all":
        return _closing(_released, arguments)
    return _opening("This may end an order by which calls wait", _released, arguments)


async def _released(arguments: argparse.Namespace, here: Attached) -> int:
    matches = read_release(arguments.orders, here.replica)
    found = frozenset(order.id for order in here.replica.orders() if matches(order))
    if not found:
        say("No such order stands: nothing was changed.")
        return DONE
    outcome = await here.submit(EndOrders(found))
    return _ended(outcome, f"{len(found)} order{' was' if len(found) == 1 else 's were'} ended.")


def _seconds(text: str) -> float:
    try:
        return read_duration(text, "crabhook away --for 2h")
    except LineError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _command(verb: str, go: Callable[[argparse.Namespace], int]) -> Command:
    known = options_of("verbs")
    options = {**known.get(verb, {}), **known["any"]}
    return Command(partial(declare, options, {"seconds": _seconds}), partial(reporting, verb, go))


away = _command("away", partial(_opening, "Nothing will wait for you", _away))
here = _command("here", partial(_closing, _here))
hold_all = _command("hold-all", partial(_closing, _hold_all))
release = _command("release", _release)
