"""A desk for the length of one verb: the verb awaits news, prints JSON, or sends a command.

docs/reference/verbs.md has the schemas; a test checks the output against them. Times are ISO 8601
in UTC, from the server's clock and this machine's date.
"""

import argparse
import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from time import monotonic, time
from typing import TypeAlias, TypeVar

from crabhook import config
from crabhook.cli import commands as cli
from crabhook.cli.team.asking import opening_keys
from crabhook.cli.team.attaching import chosen_team, connected, place_of, turned_away
from crabhook.datatypes import frozen
from crabhook.desk.commands import AskDesks, Command, Done, Outcome
from crabhook.desk.replica import Replica
from crabhook.desk.updates import AttachedDesk, Cursor, Desk, News, Past, Snapshot
from crabhook.hook.failover import listed
from crabhook.model.actor import Actor, Operator
from crabhook.model.card import Card, FeedEntry, State
from crabhook.model.errors import CrabhookError
from crabhook.model.event import Event
from crabhook.model.jsontext import Value
from crabhook.model.order import Standing
from crabhook.model.session import SessionView
from crabhook.model.statements import is_strict
from crabhook.model.wording import who
from crabhook.present.summary import brief, folder_name
from crabhook.remote.inputs import Inputs
from crabhook.store.record import iso
from crabhook.team.call_signature import WITHIN
from crabhook.team.desk_keys import Credentials, DeskFolder, desk_folders
from crabhook.team.membership import fingerprint_of
from crabhook.ui.commands.words import LineError, read_duration

LISTENS_WITHIN = 2.0  # seconds
TOLD_WITHIN = 10.0  # seconds a server has to tell all there is, or what became of a command


class Attached:
    """A desk after its first snapshot; `changed` is set at every update.

    `patience`: seconds added for a command, as when a key must be touched.
    """

    def __init__(self, desk: Desk, patience: float = 0.0) -> None:
        self._patience = patience
        self.replica = Replica(desk, monotonic)
        self.changed = asyncio.Event()
        self.begun = asyncio.Event()
        self.replica.follow(self._on_news)

    def _on_news(self, news: News) -> None:
        if isinstance(news, Snapshot):
            self.begun.set()
        self.changed.set()

    async def submit(self, command: Command) -> Outcome:
        """Return what became of a command; raises CrabhookError."""
        settled: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()

        def then(outcome: Outcome) -> None:
            if not settled.done():
                settled.set_result(outcome)

        self.replica.submit(command, then)
        try:
            async with asyncio.timeout(TOLD_WITHIN + self._patience):
                return await settled
        except TimeoutError:
            why = f"the server did not say what became of it within {TOLD_WITHIN:g} s"
            raise CrabhookError(f"{why}: see `crabhook log`") from None


async def who_is_attached(server: str, keys: Credentials) -> tuple[Sequence[AttachedDesk], float]:
    """Return a server's attached desks, and its time; raises CrabhookError if nobody listens."""
    for address in (addresses := listed(server)):
        host, _, port = address.rpartition(":")
        try:
            async with asyncio.timeout(LISTENS_WITHIN):
                _, line = await asyncio.open_connection(host.strip("[]"), int(port))
        except (OSError, ValueError) as error:  # and TimeoutError
            if address == addresses[-1]:
                raise CrabhookError(f"nobody listens at {server}") from error
        else:
            line.close()
            break
    async with connected(server, keys) as desk, attached(desk) as here:
        outcome = await here.submit(AskDesks())
        if not isinstance(outcome, Done):
            raise CrabhookError(outcome.why)
        return here.replica.attached(), here.replica.now()


def attached_of(team: str) -> Mapping[str, Sequence[Mapping[str, object]]]:
    """Return a team's attached desks by operator; none without a server or an open key here."""
    attached_desks: dict[str, list[Mapping[str, object]]] = {}
    for folder in desk_folders(config.config_folder()):
        with suppress(CrabhookError):
            keys = folder.closing()
            if keys is None or fingerprint_of(keys.authority) != team:
                continue
            desks, now = asyncio.run(who_is_attached(place_of(folder), keys))
            for each in desks[:-1]:  # the last in the list is this process
                since = iso(round(time() - (now - each.since)))
                by, beside = each.by, {"since": since, "closing": each.closing}
                shown = {"device": by.desk, "address": by.address, "role": by.role, **beside}
                attached_desks.setdefault(by.id, []).append(shown)
    return attached_desks


@asynccontextmanager
async def attached(desk: Desk, patience: float = 0.0) -> AsyncIterator[Attached]:
    """Give a desk that has told all there is; raises CrabhookError."""
    here = Attached(desk, patience)
    try:
        try:
            async with asyncio.timeout(TOLD_WITHIN):
                await here.begun.wait()
        except TimeoutError:
            raise CrabhookError(f"the server told nothing within {TOLD_WITHIN:g} s") from None
        yield here
    finally:
        here.replica.leave()


T = TypeVar("T")
Act: TypeAlias = Callable[[Attached, argparse.Namespace], Awaitable[int]]
Go: TypeAlias = Callable[[argparse.Namespace], int]
Why: TypeAlias = Callable[[argparse.Namespace], str | None]


def folder_of(arguments: argparse.Namespace) -> DeskFolder:
    """Return the chosen team's folder; raises AttachError, also where no server runs."""
    folder = chosen_team(arguments.team)
    place_of(folder)
    return folder


def looking_keys(folder: DeskFolder) -> Credentials:
    """Return the key that lies open; where there is none, the passphrase is asked for."""
    return folder.closing() or opening_keys(folder)


async def at_desk_of(
    folder: DeskFolder, keys: Credentials, act: Callable[[Attached], Awaitable[T]]
) -> T:
    """Attach with these keys, and act.

    Raises CrabhookError, also once the server takes this device no more: then nothing would come.
    """
    patience = WITHIN if keys.sign else 0.0
    async with connected(place_of(folder), keys) as desk, attached(desk, patience) as here:
        acts = asyncio.ensure_future(act(here))
        refused = asyncio.ensure_future(desk.refused.wait())
        try:
            await asyncio.wait({acts, refused}, return_when=asyncio.FIRST_COMPLETED)
            if not acts.done():
                raise turned_away(desk)
            return acts.result()
        finally:
            for task in (acts, refused):
                task.cancel()


def command(verb: str, go: Go, *tables: str) -> cli.Subcommand:
    """Return a verb with the options of these tables of options/verbs.toml."""
    options_by_table = cli.options_of("verbs")
    options = {
        name: about for table in (*tables, "any") for name, about in options_by_table[table].items()
    }
    values = {"cursor": _cursor}
    return cli.Subcommand(partial(cli.declare, options, values), partial(cli.reporting, verb, go))


def going(act: Act, *, why: Why = lambda _: None) -> Go:
    """Return what acts at a desk.

    `why` says from its arguments why a person must show their presence. It is None where the key
    that lies open is enough: to look, and to close gates.
    """

    def go(arguments: argparse.Namespace) -> int:
        folder, reason = folder_of(arguments), why(arguments)
        keys = looking_keys(folder) if reason is None else opening_keys(folder, reason)
        return asyncio.run(at_desk_of(folder, keys, lambda here: act(here, arguments)))

    return go


def acting(verb: str, act: Act, *tables: str, why: Why = lambda _: None) -> cli.Subcommand:
    """Return a verb that acts at a desk; see `going`."""
    return command(verb, going(act, why=why), *tables)


def _cursor(text: str) -> Cursor:
    try:
        return Cursor.parse(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no cursor that `watch` printed") from None


def seconds(text: str) -> float:
    """Return the length of time that a person wrote; raises ArgumentTypeError."""
    try:
        return read_duration(text, "crabhook orders away --for 2h")
    except LineError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def seen(card: Card) -> str:
    """Return what names the inputs on a card: a decision with `--seen` is of these alone."""
    return Inputs().seen(card).hex()


@frozen
class Teller:
    """Tells values of a desk: `now` is the time on its clock, `looking` who looks at a card."""

    now: Callable[[], float]
    looking: Callable[[int], Iterable[Actor]]

    def at(self, moment: float) -> str:
        """Return a time on the desk's clock as a date."""
        return iso(time() + moment - self.now())

    def card(self, card: Card) -> dict[str, Value]:
        """Return a card as JSON: its request, asker, risk and waiting time."""
        reason = card.reason
        return {
            "number": card.number,
            "version": card.revision,
            "seen": seen(card),
            "state": card.state.value,
            "went_on": card.went_on,
            "asked": max(card.asked.times, 1),
            **_call(card.event),
            "project": brief(folder_name(card.event), str),
            "risk": {
                "level": card.risk.level.name.lower(),
                "effects": [effect.words for effect in card.risk.effects],
                "unknown": list(card.risk.unknown),
            },
            "because": {
                "kind": reason.kind.value if reason.kind else "",
                "words": reason.words,
                "name": reason.name,
                "note": reason.note,
            },
            **_votes(card),
            **({"strict": True} if is_strict(card) else {}),
            "asked_at": self.at(card.asked_at),
            "wait_until": self.at(card.wait_until),
            **self.claim(card.number),
            **self.ended(card),
        }

    def claim(self, number: int) -> dict[str, Value]:
        """Tell who looks at a card at another desk."""
        return {"claimed_by": ", ".join(map(name_of, self.looking(number)))}

    def ended(self, card: Card) -> dict[str, Value]:
        """Tell how a card ended, by whom, from where and when; nothing if it waits."""
        if card.state is State.WAITING:
            return {}
        by = card.decided.by if card.decided else None
        tool, decision = card.event.tool, card.decision
        edited = tool and decision and decision.updated_input not in (None, tool.input)
        return {
            "outcome": card.outcome.lower(),
            "by": by.name if isinstance(by, Operator) else name_of(by),
            "device": by.desk if isinstance(by, Operator) else "",
            "address": by.address if isinstance(by, Operator) else "",
            "at": self.at(card.ended_at),
            "edited": bool(edited),
            "delivered": card.delivered,
        }

    def past(self, entry: Past) -> dict[str, Value]:
        """Tell an entry of the history: how it ended, who decided it, and whether it arrived."""
        card = entry.card
        return {
            "id": entry.id,
            "number": card.number,
            **_call(card.event),
            **self.ended(card),
            "at": iso(entry.at),
            "why": entry.why or entry.missing,
        }

    def session(self, view: SessionView) -> dict[str, Value]:
        """Return a live session as JSON: its acts, their time, its waiting requests."""
        return {
            "platform": view.platform,
            "session": view.session,
            "machine": view.machine,
            "cwd": view.cwd,
            "mode": view.mode,
            "since": self.at(view.since),
            "heard": self.at(view.heard),
            "waiting": list(view.waiting),
            "agents": [
                {
                    "id": agent.id,
                    "kind": agent.kind,
                    "event": doing.event.name if (doing := agent.doing) else "",
                    "tool": doing.event.tool.name if doing and doing.event.tool else "",
                    "outcome": doing.outcome if doing else "",
                    "times": doing.times if doing else 0,
                }
                for agent in view.agents
            ],
        }

    def order(self, order: Standing) -> dict[str, Value]:
        """Tell a standing order: what it is about, whose it is, and when it ends."""
        return {
            "id": order.id,
            "kind": order.kind.value,
            "event": order.name,
            "session": order.session,
            "machine": order.machine or "",
            "project": order.project,
            "agent": order.agent,
            "times": order.times,
            "words": order.words,
            "until": "" if order.until is None else self.at(order.until),
            "by": name_of(order.by),
        }

    def line(self, entry: FeedEntry) -> dict[str, Value]:
        """Tell a line of the feed: something that went by."""
        event = entry.event
        return {
            "at": self.at(entry.at),
            "event": event.name,
            "tool": event.tool.name if event.tool else "",
            "session": event.session,
            "machine": event.machine,
            "text": entry.text,
            "alarm": entry.alarm,
        }


def _votes(card: Card) -> dict[str, Value]:
    """Tell who must allow a card, and who has; nothing where one yes is enough."""
    if card.ballot is None:
        return {}
    waits, ballot = card.ballot.standing, card.ballot
    return {
        "votes": {
            "yes": [vote.by.name for vote in ballot.votes],
            "needed": waits.needed,
            "waits_for": [voter.name for voter in waits.people],
            "words": waits.why,
        }
    }


def _call(event: Event) -> dict[str, Value]:
    tool = event.tool
    return {
        "platform": event.platform,
        "event": event.name,
        "tool": tool.name if tool else "",
        "input": tool.input if tool else None,
        "session": event.session,
        "machine": event.machine,
        "cwd": event.cwd,
    }


def name_of(by: Actor | None) -> str:
    """Return who decided, an operator by name; empty for no person."""
    if isinstance(by, Operator):
        where = f" at {by.desk}" if by.address else ""
        return f"{by.name}{where}"
    return who(by) if by is not None else ""
