"""Whether the receiver of the record would take it."""

import asyncio
from collections.abc import Iterator

from crabhook import config
from crabhook.doctor.facts import ThisMachine
from crabhook.doctor.finding import Finding, make_finding
from crabhook.export.item import ExportSource
from crabhook.export.wish import ExportWish, ExportWishError
from crabhook.model.errors import CrabhookError
from crabhook.server.address import TcpAddress
from crabhook.server.export.receivers import Receiver, receiver_of


def receives(_: ThisMachine) -> Iterator[Finding]:
    """Send the receiver no records at all, in the way that records go there."""
    try:
        wish = config.load().export
        if wish is None:
            return
        receiver = receiver_of(wish)
    except ExportWishError as error:
        yield make_finding("export.receives", "wrong", error=error)
        return
    except config.SettingsError:  # which is another finding
        return
    yield _tried(wish, receiver)


def _tried(wish: ExportWish, receiver: Receiver) -> Finding:
    nothing = wish.packing.whole((), ExportSource("", ""))
    try:
        asyncio.run(receiver.send(nothing))
    except CrabhookError as error:
        return make_finding("export.receives", "dead", where=receiver.where, error=error)
    is_open = wish.scheme in ("syslog", "http") and not TcpAddress(*wish.place).loopback
    return make_finding("export.receives", "plain" if is_open else "fine", where=receiver.where)
