"""`crabhook push`: which phones are called when something waits, and whether a call comes through.

It is for the server's own machine, which keeps the phones and the key for them.
"""

import argparse
import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from crabhook import config
from crabhook.cli.commands import SERVE_VALUES, actions
from crabhook.cli.team.inviting import team_folder, team_now
from crabhook.model.errors import CrabhookError
from crabhook.team.membership import TeamRefusal
from crabhook.ui.console import say, say_below, say_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crabhook.server.push.phone_book import GoneSubscription, Subscription
    from crabhook.server.push.subscriptions import Subscriptions
    from crabhook.server.push.trial import PhoneTrial
    from crabhook.team.membership import Member, Team


def _kept() -> "Subscriptions":
    """Return the phones of this machine's server; raises CrabhookError where there are none."""
    from crabhook.server.push.endpoints import Services  # the rest of the table has no use for it
    from crabhook.server.push.subscriptions import kept_in  # likewise

    return kept_in(config.push_folder(), Services(config.load().push_services))


def _people(team: "Team", name: str | None) -> "Sequence[Member]":
    """Return the person of this name, or everybody in the team; raises CrabhookError."""
    people = [member for member in team.members if name in (None, member.name)]
    if not people:
        raise CrabhookError(f"{name} is not in the team: `crabhook team list` says who is")
    return people


_NONE = (
    "no phone is called from here: open the page of the web desk on a phone and turn notifications "
    "on. This command sees the phones of the server on this machine only"
)


def _list(arguments: argparse.Namespace) -> None:
    kept, people = _kept(), _people(team_now(team_folder()), arguments.name)
    if arguments.json:
        shown = [_plain(member, phone) for member in people for phone in kept.of(member.id)]
        say_json({"phones": shown})
        return
    if not any(kept.of(member.id) or kept.gone(member.id) for member in people):
        raise CrabhookError(_NONE)
    for member in people:
        phones, gone = kept.of(member.id), kept.gone(member.id)
        if phones or gone:
            say(member.name)
        for phone in phones:
            say_below(", ".join((_named(member, phone), *_history(phone))))
        for lost in gone:
            say_below(f"{_device(member, lost)}: takes no calls any more since {_time(lost.at)}")


def histories() -> "Mapping[str, Sequence[str]]":
    """Return by passkey a line about each of its phones, for the list of the team."""
    lines: dict[str, list[str]] = {}
    # What is wrong with the file is told by `crabhook push list`: the team is there all the same.
    with suppress(CrabhookError):
        for phone in _kept():
            lines.setdefault(phone.passkey, []).append(", ".join(_history(phone)))
    return lines


def _plain(member: "Member", phone: "Subscription") -> dict[str, object]:
    """Return a phone as a person may see it: its address is a secret."""
    return {
        "id": phone.id,
        "person": member.name,
        "device": _device(member, phone),
        "page": phone.page,
        "since": phone.since,
        "accepted": phone.accepted,
        "shown": phone.shown,
        "seen": phone.seen,
        "trouble": phone.trouble,
    }


def _device(member: "Member", phone: "Subscription | GoneSubscription") -> str:
    """Return what the device is called that the passkey was made on."""
    names = (key.name for key in member.passkeys if key.id == phone.passkey)
    return next(names, "a device whose passkey is gone")


def _named(member: "Member", phone: "Subscription") -> str:
    return f"{_device(member, phone)} ({phone.id})"


def _history(phone: "Subscription") -> list[str]:
    called = f"last called {_time(phone.accepted)}" if phone.accepted else "never called"
    shown = f"last shown {_time(phone.shown)}" if phone.shown else "never reported as shown"
    seen = f"last at its page {_time(phone.seen)}" if phone.seen else ""
    return [f"since {_time(phone.since)}", *filter(None, [seen, called, shown, phone.trouble])]


def _time(seconds: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def _test(arguments: argparse.Namespace) -> None:
    from crabhook.server.push.endpoints import Services  # aiohttp: slow
    from crabhook.server.push.trial import tried  # likewise

    kept, team = _kept(), team_now(team_folder())
    phones_of = {member: _called(kept, team, member) for member in _people(team, arguments.name)}
    people = [member for member, phones in phones_of.items() if phones]
    if not people:
        raise CrabhookError(_NONE)
    if len(people) > 1:
        names = ", ".join(member.name for member in people)
        raise CrabhookError(f"say whose phones: {names}")
    (person,) = people
    services = Services(config.load().push_services)
    phones = phones_of[person]
    say(f"Calling {_many(len(phones))} of {person.name} ...")
    trials = asyncio.run(tried(config.push_folder(), services, phones, arguments.within))
    for trial in trials:
        say_below(f"{_named(person, trial.phone)}: {_outcome(trial, arguments.within)}")
    if not any(trial.answer.fate.value == "accepted" for trial in trials):
        raise CrabhookError(f"no phone of {person.name} could be called")


def _called(kept: "Subscriptions", team: "Team", member: "Member") -> "Sequence[Subscription]":
    """Return a person's phones whose passkeys count; the server forgets the others."""
    now = time.time()
    return [
        phone
        for phone in kept.of(member.id)
        if not isinstance(team.by_passkey(member.id, phone.passkey, now), TeamRefusal)
    ]


def _many(phones: int) -> str:
    return f"{phones} phone{'s' * (phones != 1)}"


def _outcome(trial: "PhoneTrial", within: float) -> str:
    """Say in a line what became of a trial at a phone."""
    service, why = trial.service, trial.answer.why
    silent = f"no report came within {within:g} s: look at the phone, for iPhones report nothing"
    outcomes = {
        "accepted": f"{service} took it, and {'the phone showed it' if trial.shown else silent}",
        "gone": f"{service} knows it no more ({why}): turn notifications on again on its page",
        "later": f"{service} cannot take it now ({why})",
        "refused": f"not sent: {why}",
    }
    return outcomes[trial.answer.fate.value]


_command = actions("push", {"list": _list, "test": _test}, {"seconds": SERVE_VALUES["seconds"]})
add_arguments, run = _command
