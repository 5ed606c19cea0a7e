"""`crabhook log` where the record lies elsewhere: what the team's server tells of what ended."""

import argparse
from collections.abc import Callable
from fnmatch import fnmatchcase

from crabhook.cli.commands import DONE
from crabhook.cli.terminal import about, short
from crabhook.cli.verbs.attached import Attached, going
from crabhook.cli.verbs.commands import card_of, teller_of
from crabhook.desk.commands import AskHistory, Done
from crabhook.desk.updates import Past
from crabhook.model.errors import CrabhookError
from crabhook.store.record import iso
from crabhook.ui.console import say, say_json


async def _list(here: Attached, arguments: argparse.Namespace) -> int:
    if arguments.all_kinds:
        raise CrabhookError("--all-kinds is for the machine where the record lies")
    wanted = _wanted(arguments)
    pasts, before = list[Past](), 0
    while True:
        outcome = await here.submit(AskHistory(before=before))
        if not isinstance(outcome, Done):
            raise CrabhookError(outcome.why)
        page = here.replica.page(before)
        pasts += filter(wanted, page.entries)
        if page.why:
            raise CrabhookError(page.why)
        is_enough = arguments.last and len(pasts) >= arguments.last
        is_older = page.entries and iso(page.entries[-1].at) < (arguments.since or "")
        if is_enough or is_older or page.goes_on in (0, before):
            break
        before = page.goes_on
    for past in reversed(pasts[: arguments.last or None]):
        told_past = teller_of(here).past(past)
        say_json(told_past) if arguments.json else say(_line(past, str(told_past["by"])))
    return DONE


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
    say_json(teller_of(here).card(card_of(here, arguments.card)))
    return DONE


list_past, show_card = going(_list), going(_show)
