"""The verbs as commands: which key a verb attaches with, what it prints, how it ends."""

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, TypeAlias

from crabhook import config
from crabhook.cli.commands import DONE, Command, declare, options_of, reporting
from crabhook.cli.team.asking import opening_keys
from crabhook.cli.team.attaching import chosen_team, connected, place_of
from crabhook.cli.terminal import ask, say, say_json
from crabhook.cli.verbs import deciding
from crabhook.cli.verbs.attached import Attached, Teller, attached, seen
from crabhook.datatypes import Bounded
from crabhook.desk.commands import BARE_DENIAL, AskHistory, Done, Outcome, Steer, StopSession
from crabhook.desk.updates import Claimed, HistoryRead, LinkChanged, Past, Snapshot, Update
from crabhook.model.card import Card, FeedEntry
from crabhook.model.errors import CrabhookError
from crabhook.remote.messages import Cursor
from crabhook.team.desk_keys import Credentials, DeskFolder, desk_folders
from crabhook.team.presence import WITHIN
from crabhook.ui.commands.orders import read_agent
from crabhook.ui.commands.words import WORDS
from crabhook.ui.text.safe import safe

if TYPE_CHECKING:
    from crabhook.model.actor import Actor

CLAIMS_KEPT = 1000  # cards of which a watch knows who looks at them

TO_THE_MODEL = "What you say goes to the model"
Act: TypeAlias = Callable[[Attached, argparse.Namespace], Awaitable[int]]


def folder_of(arguments: argparse.Namespace) -> DeskFolder:
    """Return the folder of the chosen team; raises AttachError.

    Also where no server runs, before a passphrase is asked for.
    """
    folder = chosen_team(list(desk_folders(config.config_folder())), arguments.team)
    place_of(folder)
    return folder


async def at_desk_of(
    folder: DeskFolder, keys: Credentials, act: Callable[[Attached], Awaitable[int]]
) -> int:
    """Attach with these keys, and act; return the exit code.  Raises CrabhookError."""
    patience = WITHIN if keys.sign else 0.0
    async with connected(place_of(folder), keys) as desk, attached(desk, patience) as here:
        return await act(here)


# To look, and to close: the key that lies open does; where there is none, the passphrase is asked.


def _looking(act: Act, arguments: argparse.Namespace) -> int:
    folder = folder_of(arguments)
    keys = folder.closing() or opening_keys(folder)
    return asyncio.run(at_desk_of(folder, keys, partial(_acting, act, arguments)))


def _steering(act: Act, arguments: argparse.Namespace) -> int:
    folder = folder_of(arguments)
    keys = opening_keys(folder, TO_THE_MODEL)
    return asyncio.run(at_desk_of(folder, keys, partial(_acting, act, arguments)))


async def _acting(act: Act, arguments: argparse.Namespace, here: Attached) -> int:
    return await act(here, arguments)


def _teller(here: Attached) -> Teller:
    return Teller(here.replica.now, here.replica.looking)


async def _pending(here: Attached, arguments: argparse.Namespace) -> int:
    while arguments.wait and not here.replica.waiting():
        here.changed.clear()
        await here.changed.wait()
    teller, waiting = _teller(here), here.replica.waiting()
    for card in waiting:
        say_json(teller.card(card)) if arguments.json else say(deciding.described(card))
    return _none_is_said("nothing waits", waiting, arguments)


async def _show(here: Attached, arguments: argparse.Namespace) -> int:
    card = here.replica.card(arguments.number)
    if card is None:
        raise CrabhookError(f"there is no #{arguments.number}; see: crabhook pending")
    say_json(_teller(here).card(card))
    return DONE


async def _sessions(here: Attached, arguments: argparse.Namespace) -> int:
    teller, live = _teller(here), here.replica.live()
    for view in live:
        told = teller.session(view)
        if arguments.json:
            say_json(told)
        else:
            say(f"{view.session}  {view.title}  {view.cwd}  {len(view.waiting)} waiting")
    return _none_is_said("no session is live", live, arguments)


def _none_is_said(words: str, some: Sequence[object], arguments: argparse.Namespace) -> int:
    """Tell a person at a terminal that a list is empty; a program needs no line."""
    if not some and not arguments.json and sys.stdout.isatty():
        sys.stderr.write(f"{words}\n")
    return DONE


async def _history(here: Attached, arguments: argparse.Namespace) -> int:
    teller, before, left = _teller(here), 0, arguments.last
    while left > 0:
        page = await _page(here, before)
        for past in page.entries[:left]:
            _say_past(teller, past, json=arguments.json)
        if page.why:
            raise CrabhookError(page.why)
        if page.goes_on in (0, before):
            break
        left, before = left - len(page.entries), page.goes_on
    return DONE


async def _page(here: Attached, before: int) -> HistoryRead:
    outcome = await here.submit(AskHistory(before=before))
    if not isinstance(outcome, Done):
        raise CrabhookError(outcome.why)
    return here.replica.page(before)


def _say_past(teller: Teller, past: Past, *, json: bool) -> None:
    told = teller.past(past)
    if json:
        say_json(told)
    else:
        by = f" by {told['by']}" if told["by"] else ""
        say(f"{told['at']}  {told['outcome']}{by}  {told['tool'] or told['event']}")


async def _note(here: Attached, arguments: argparse.Namespace) -> int:
    line = " ".join((arguments.session, *arguments.words))
    session, agent, text = read_agent(line, here.replica, WORDS["note"])
    return _ended(await here.submit(Steer(session, text, agent)))


async def _stop(here: Attached, arguments: argparse.Namespace) -> int:
    line = " ".join((arguments.session, *arguments.words))
    bare = not arguments.words  # the server has its own words for the agent
    session, agent, text = read_agent(f"{line} -" if bare else line, here.replica, WORDS["stop"])
    return _ended(await here.submit(StopSession(session, "" if bare else text, agent)))


def _ended(outcome: Outcome) -> int:
    say(outcome.why or "done")
    return deciding.CODES[type(outcome)]


def _watching(arguments: argparse.Namespace) -> int:
    folder = folder_of(arguments)
    keys = folder.closing() or opening_keys(folder)
    return asyncio.run(_watch(place_of(folder), keys, arguments.after))


async def _watch(server: str, keys: Credentials, after: Cursor | None) -> int:
    """Print everything, then news, each with its cursor; until interrupted."""
    async with connected(server, keys, after) as desk:
        ahead = 0.0  # how far the server's clock is ahead of ours
        looking: Bounded[int, tuple[Actor, ...]] = Bounded(CLAIMS_KEPT)
        teller = Teller(lambda: monotonic() + ahead, lambda number: looking.get(number, ()))

        def on_update(update: Update) -> None:
            nonlocal ahead
            cursor, news = str(desk.cursor), update.news
            told: dict[str, object]
            match news:
                case Snapshot():
                    ahead = news.now - monotonic()
                    looking.clear()
                    looking.update({claim.card: claim.by for claim in news.claims})
                    waiting = [teller.card(card) for card in news.waiting]
                    told = {"type": "snapshot", "cursor": cursor, "waiting": waiting}
                case Card():
                    told = {"type": "card", "cursor": cursor, "card": teller.card(news)}
                case Claimed(number, by):
                    looking[number] = by
                    told = {"type": "claim", "cursor": cursor, "number": number}
                    told |= teller.claim(number)
                case FeedEntry():
                    told = {"type": "feed", "cursor": cursor, **teller.line(news)}
                case LinkChanged("", now):
                    ahead = now - monotonic()
                    return
                case LinkChanged(lost):
                    sys.stderr.write(f"crabhook watch: {safe(lost)}; trying again\n")
                    return
                case _:
                    return
            say_json(told)
            sys.stdout.flush()

        desk.subscribe(on_update)
        await asyncio.Event().wait()
    return DONE


# To decide.


def _deciding(verb: str, arguments: argparse.Namespace) -> int:
    """Look at the cards with the open key first; then decide them."""
    with asyncio.Runner() as loop:  # one for both: gRPC goes on calling the one that it began with
        return _decided(loop, verb, arguments)


def _decided(loop: asyncio.Runner, verb: str, arguments: argparse.Namespace) -> int:
    folder = folder_of(arguments)
    rest = (
        deciding.answers(arguments.answers) if verb == "answer" else getattr(arguments, "rest", "")
    )
    if verb == "deny":
        numbers, rest = deciding.denied(arguments.words, rest)
        rest = rest or BARE_DENIAL
    else:
        numbers = tuple(getattr(arguments, "numbers", ()) or (arguments.number,))
    wish = deciding.Wish(verb, numbers, rest, arguments.seen)
    keys = folder.closing() or opening_keys(folder)
    looked = _Looked()
    loop.run(at_desk_of(folder, keys, partial(looked.look, wish)))
    said = partial(_said, json=arguments.json)
    if not looked.fit:
        return said(looked.unfit)
    if len(looked.fit) > 1 or verb in deciding.OPENING:
        shown = sys.stderr if arguments.json else sys.stdout
        shown.writelines(f"{safe(words)}\n" for words in looked.words)
        shown.flush()
    if verb in deciding.OPENING:
        keys = opening_keys(
            folder, f"This may let {'them' if len(looked.fit) > 1 else 'it'} happen"
        )
    elif rest not in ("", BARE_DENIAL):
        keys = opening_keys(folder, TO_THE_MODEL)
    elif len(looked.fit) > 1 and not arguments.yes and not _meant(verb, len(looked.fit)):
        raise CrabhookError("nothing was decided")
    told = list(looked.unfit)
    loop.run(at_desk_of(folder, keys, partial(_decide_all, wish, looked, told)))
    return said(told)


def _meant(verb: str, many: int) -> bool:
    return ask(f"{verb} these {many}? [y/N] ", shown=True).strip().lower() == "y"


class _Looked:
    """The cards as they were looked at, before anything was decided."""

    def __init__(self) -> None:
        self.fit: dict[int, str] = {}
        self.words: list[str] = []
        self.unfit: list[deciding.CardResult] = []

    async def look(self, wish: deciding.Wish, here: Attached) -> int:
        for number in dict.fromkeys(wish.numbers):
            card = here.replica.card(number)
            if (told := deciding.unfit(wish, number, here)) is not None or card is None:
                self.unfit += [told] if told else []
                continue
            self.fit[number] = seen(card)
            self.words.append(deciding.described(card))
        return DONE


async def _decide_all(
    wish: deciding.Wish, looked: _Looked, results: list[deciding.CardResult], here: Attached
) -> int:
    for number, looked_at in looked.fit.items():
        one = deciding.Wish(wish.verb, (number,), wish.rest, looked_at)
        results.append(await deciding.decide(one, number, here))
    return DONE


def _said(results: Sequence[deciding.CardResult], *, json: bool) -> int:
    """Print the result of each card; return the worst exit code."""
    for one in sorted(results, key=lambda one: one.number):
        say_json(one.data) if json else say(one.words)
    return max((one.code for one in results), default=DONE)


def _command(verb: str, go: Callable[[argparse.Namespace], int], *tables: str) -> Command:
    known = options_of("verbs")
    options = {name: about for table in (*tables, "any") for name, about in known[table].items()}
    values = {"cursor": Cursor.parse}
    return Command(partial(declare, options, values), partial(reporting, verb, go))


def _decider(verb: str, *tables: str) -> Command:
    return _command(verb, partial(_deciding, verb), *tables, "decide")


pending = _command("pending", partial(_looking, _pending), "json", "pending")
show = _command("show", partial(_looking, _show), "show")
sessions = _command("sessions", partial(_looking, _sessions), "json")
history = _command("history", partial(_looking, _history), "json", "history")
note = _command("note", partial(_steering, _note), "note")
stop = _command("stop", lambda to: (_steering if to.words else _looking)(_stop, to), "stop")
watch = _command("watch", _watching, "watch")
approve = _decider("approve", "several", "approve")
deny = _decider("deny", "deny")
pass_ = _decider("pass", "several")
ask_ = _decider("ask", "several")
answer = _decider("answer", "one", "answer")
edit = _decider("edit", "one", "edit")
