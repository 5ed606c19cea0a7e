"""The desks' machine: people who decide, and watchers, at both servers; run as `python -m …desks`.

The first line of standard input says where the servers are and who sits there. Each line of
standard output is one thing that was done or heard (see `history`); what is done is told before.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import grpc

from crabhook.desk.commands import Decide, Done, Outcome, TooLate
from crabhook.desk.replica import Replica
from crabhook.model.card import Card
from crabhook.model.decision import Decision, Verdict
from crabhook.model.question import Answer, merge_answers, read_questions
from crabhook.remote.codec import to_value
from crabhook.remote.desk import RemoteDesk
from crabhook.remote.servers import OPTIONS, Servers
from crabhook.v1 import operator_pb2 as pb
from crabhook.v1.operator_pb2_grpc import OperatorServiceStub
from tests.soak.jobs import number_of

if TYPE_CHECKING:
    from collections.abc import Mapping

LOOK_EVERY, AGAIN_AFTER = 0.1, 1.0  # seconds
THOUGHT = 2.5  # seconds that a person thinks about a card, at most
PAUSE = 0.5  # seconds before a watch that ended begins again

SAID = {
    Verdict.ALLOW: 4,
    Verdict.DENY: 3,
    Verdict.PASS: 1,
    Verdict.ASK: 1,
    Verdict.KEEP_GOING: 3,
    Verdict.DECLINE: 2,
    Verdict.CANCEL: 1,
}
"""How often each verdict is given where it can be."""


def tell(what: str, **more: Any) -> None:
    """Write one line of the history."""
    sys.stdout.write(json.dumps({"what": what, "at": time.time(), **more}) + "\n")
    sys.stdout.flush()


def wish(person: str, card: Card, seed: str) -> Decision:
    """Return what a person decides about a card: the same each time, and not what another does."""
    number = number_of(card.event.cwd) or 0
    chance = random.Random(f"{seed} {person} {number}")
    can = sorted(card.choices.verdicts & SAID.keys())
    verdict = chance.choices(can, [SAID[one] for one in can])[0] if can else Verdict.PASS
    reason = f"word-{number}- {person}" if verdict in (Verdict.DENY, Verdict.KEEP_GOING) else ""
    if card.event.calls("AskUserQuestion") and verdict is Verdict.ALLOW:
        fields = card.event.fields["tool_input"]
        answers = {n: Answer((0,)) for n, _ in enumerate(read_questions(fields))}
        return Decision(verdict, updated_input=merge_answers(fields, answers))
    return Decision(verdict, reason=reason)


class Person:
    """Somebody at a desk with the list of the servers, who decides whatever waits."""

    def __init__(self, name: str, channels: Mapping[str, grpc.aio.Channel], seed: str) -> None:
        self.name, self._seed = name, seed
        self._servers = Servers(channels)
        self.desk = RemoteDesk(self._servers, time.monotonic)
        self._replica = Replica(self.desk, time.monotonic)
        self._replica.follow()
        self._ready: dict[int, float] = {}

    async def sit(self) -> None:
        """Decide each card after a while, and again where nothing came of it."""
        running = asyncio.ensure_future(self.desk.run())
        try:
            while True:
                await asyncio.sleep(LOOK_EVERY)
                if self.desk.attached.is_set():
                    self._look()
        finally:
            running.cancel()

    def _look(self) -> None:
        now = time.monotonic()
        waiting = self._replica.waiting()
        for card in waiting:
            chance = random.Random(f"{self._seed} {self.name} thinks of {card.number}")
            due = self._ready.setdefault(card.number, now + chance.uniform(0.1, THOUGHT))
            if now >= due:
                self._ready[card.number] = now + AGAIN_AFTER
                self._decide(card)

    def _decide(self, card: Card) -> None:
        command = Decide(card.number, card.revision, wish(self.name, card, self._seed))
        tell(
            "decide",
            id=command.id,
            by=self.name,
            server=self._servers.address,
            card=card.number,
            job=number_of(card.event.cwd),
            verdict=command.decision.verdict.value,
        )
        self._replica.submit(command, partial(self._heard, command))

    def _heard(self, command: Decide, outcome: Outcome) -> None:
        if isinstance(outcome, TooLate | Done):
            self._ready[command.card] = time.monotonic() + 10 * AGAIN_AFTER
        tell("outcome", id=command.id, is_=type(outcome).__name__, why=outcome.why)


async def watch(server: str, channel: grpc.aio.Channel) -> None:
    """Watch one server from outside any desk, each time from where the last watch ended."""
    stub: Any = OperatorServiceStub(channel)
    store, at, view, stream = b"", 0, b"", 0
    while True:
        stream += 1
        with suppress(grpc.aio.AioRpcError):
            asked = pb.WatchRequest(store_id=store, after_seq=at, view_tag=view)
            async for event in stub.Watch(asked):
                kind, at = event.WhichOneof("news"), event.seq or at
                if kind == "hello":
                    store, view = event.hello.store_id, event.hello.view_tag
                heard = {"server": server, "stream": stream, "news": kind, "seq": event.seq}
                tell("heard", **heard, **_of(event, kind))
        await asyncio.sleep(PAUSE)


def _of(event: Any, kind: str) -> dict[str, Any]:
    if kind == "hello":
        return {"resumed": event.hello.resumed, "part": event.hello.part}
    if kind == "card":
        card: Card = to_value(event.card, Card)
        return {"card": card.number, "state": card.state.value}
    return {}


async def main() -> None:
    """Sit and watch until standard input ends."""
    told = json.loads(sys.stdin.readline())
    async with asyncio.TaskGroup() as tasks:
        every = []
        for place, (name, pair) in enumerate(told["people"].items()):
            channels = {
                at: _channel(at, told["authority"], pair) for at in told["servers"].values()
            }
            if name == told["watcher"]:
                for server, at in told["servers"].items():
                    every.append(tasks.create_task(watch(server, channels[at])))
            else:  # the second has the list in another order
                turned = list(channels.items())[:: -1 if place % 2 else 1]
                person = Person(name, dict(turned), told["seed"])
                every.append(tasks.create_task(person.sit()))
        tell("sitting")
        await asyncio.to_thread(sys.stdin.read)
        for one in every:
            one.cancel()


def _channel(place: str, authority: str, pair: Mapping[str, str]) -> grpc.aio.Channel:
    credentials = grpc.ssl_channel_credentials(
        authority.encode(), pair["key"].encode(), pair["certificate"].encode()
    )
    return grpc.aio.secure_channel(place, credentials, options=OPTIONS)


if __name__ == "__main__":
    asyncio.run(main())
