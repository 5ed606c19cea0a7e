"""The inputs of a card's legs as JSON, and what names them: an operator decides what they saw."""

import asyncio
from hashlib import sha256
from typing import TYPE_CHECKING

from crabhook.datatypes import Bounded
from crabhook.model.card import Card, Leg
from crabhook.model.jsontext import compact, in_pieces

if TYPE_CHECKING:
    from crabhook.model.event import Event

INPUTS_KEPT = 1024  # legs
LONG_KEPT, LONG_BYTES = 64, 64 << 20  # inputs that are kept as JSON
PAYLOAD_LIMIT = 64 << 10  # bytes of an input that is sent with its card


class Inputs:
    """The inputs of legs, and their names: a long input becomes JSON once, for all desks.

    `prepare` does that beside the loop, otherwise the first use does.
    """

    def __init__(self) -> None:
        self._names: Bounded[str, tuple[Event, bytes]] = Bounded(INPUTS_KEPT)
        self._long: Bounded[str, tuple[Event, bytes]] = Bounded(LONG_KEPT)
        self._turn = asyncio.Lock()

    async def prepare(self, card: Card) -> None:
        """Make the long inputs of a card into JSON in a thread, unless that was done."""
        for leg in card.requests:
            if leg.size > PAYLOAD_LIMIT and not _is_of(self._names.get(leg.id), leg):
                async with self._turn:
                    await asyncio.to_thread(self.sha256, leg)

    def sha256(self, leg: Leg) -> bytes:
        """Return what names a leg's input."""
        named = self._names.get(leg.id)
        if named is None or not _is_of(named, leg):
            named = leg.event, sha256(self.json(leg)).digest()
            self._names[leg.id] = named
        return named[1]

    def json(self, leg: Leg) -> bytes:
        """Return a leg's input as it is on the wire."""
        kept = self._long.get(leg.id)
        if kept is not None and _is_of(kept, leg):
            return kept[1]
        pieces = in_pieces(leg.event.fields)
        long = leg.size > PAYLOAD_LIMIT
        made = ("".join(pieces) if long else compact(leg.event.fields)).encode("ascii")
        if PAYLOAD_LIMIT < len(made) <= LONG_BYTES:
            self._long[leg.id] = leg.event, made
            while sum(len(text) for _, text in self._long.values()) > LONG_BYTES:
                self._long.popitem(last=False)
        return made

    def seen(self, card: Card) -> bytes:
        """Return what names the inputs of all legs that are seen on a card."""
        return sha256(b"".join(map(self.sha256, card.requests))).digest()


def _is_of(kept: "tuple[Event, bytes] | None", leg: Leg) -> bool:
    return kept is not None and kept[0] is leg.event
