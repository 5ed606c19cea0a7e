"""`crabhook log` where the record lies elsewhere: what the team's server tells of what ended."""

import argparse
from collections.abc import AsyncIterator, Callable
from fnmatch import fnmatchcase

from crabhook.cli.commands import DONE
from crabhook.cli.terminal import about, short
from crabhook.cli.verbs.attached import Attached, going
from crabhook.cli.verbs.commands import teller_of
from crabhook.desk.commands import AskHistory, Done
from crabhook.desk.updates import Past
from crabhook.model.errors import CrabhookError
from crabhook.store.record import iso
from crabhook.ui.console import say, say_json


async def _list(here: Attached, arguments: argparse.Namespace) -> int:
    if arguments.all_kinds:
        raise CrabhookError("--all-kinds is for the machine where the record lies")
    is_wanted, pasts = _wanted(arguments), list[Past]()
    async for past in newest_first(here):
        if iso(past.at) < (arguments.since or "") or len(pasts) == (arguments.last or None):
            break
        if is_wanted(past):
            pasts.append(past)
    for past in reversed(pasts):
        past_values = teller_of(here).past(past)
        say_json(past_values) if arguments.json else say(_line(past, str(past_values["by"])))
    return DONE


async def newest_first(here: Attached) -> AsyncIterator[Past]:
    """Yield what ended, page by page; raises CrabhookError."""
    before = 0
    while True:
        outcome = await here.submit(AskHistory(before=before))
        if not isinstance(outcome, Done):
            raise CrabhookError(outcome.why)
        page = here.replica.page(before)
        for past in page.entries:
            yield past
        if page.why:
            raise CrabhookError(page.why)
        if page.goes_on in (0, before):
            return
        before = page.goes_on


def _wanted(arguments: argparse.Namespace) -> Callable[[Past], bool]:
    """Return what says whether an end was asked for."""

    def is_wanted(past: Past) -> bool:
        card, at = past.card, iso(past.at)
        tool = card.event.tool.name if card.event.tool else ""
        verdict = card.decision.verdict.value if card.decision else ""
        return (
            (arguments.since or "") <= at
            and (not arguments.until or at < arguments.until)
            and fnmatchcase(tool, arguments.tool or "*")
            and card.event.session.startswith(arguments.session)
            and arguments.verdict in ("", verdict)
        )

    return is_wanted


def _line(past: Past, by: str) -> str:
    """Return an end in one line, as the record here is shown."""
    card, tool = past.card, past.card.event.tool
    number = f"#{card.number}" if card.number else ""
    name = tool.name if tool else card.event.name
    what = short(about(tool.input)) if tool else ""
    who = f"  [{by}]" if by else ""
    return f"{iso(past.at)[:19]}Z  {number:>6}  {card.outcome.lower():<9}  {name:<12}  {what}{who}"


async def _show(here: Attached, arguments: argparse.Namespace) -> int:
    if (card := here.replica.card(arguments.card)) is not None:
        say_json(teller_of(here).card(card))
        return DONE
    async for past in newest_first(here):
        if past.card.number == arguments.card:
            say_json(teller_of(here).past(past))
            return DONE
    raise CrabhookError(f"there is no #{arguments.card} on record that you may see")


list_past, show_card = going(_list), going(_show)
