"""`crabhook resume` prints the agent's command that goes on with a session, and runs nothing.

The session's id and folder are an agent's words. What a shell could read otherwise is refused.
"""

import argparse
import re
import shlex
import sys

from crabhook.cli.commands import DONE
from crabhook.cli.verbs.attached import Attached, acting
from crabhook.cli.verbs.past import newest_first
from crabhook.model.card import Card, State
from crabhook.model.decision import Verdict
from crabhook.model.errors import CrabhookError
from crabhook.platforms import HOOKED
from crabhook.present.safe import safe
from crabhook.present.summary import on_machine
from crabhook.ui.console import say_json

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,199}", re.ASCII)
_AGAIN = "make exactly the same call again, if it is still needed"


async def _resume(here: Attached, arguments: argparse.Namespace) -> int:
    card = await _card(here, arguments.number)
    line = command_line(card)
    if arguments.json:
        event = card.event
        whose = {"platform": event.platform, "session": event.session, "machine": event.machine}
        say_json({"number": card.number, **whose, "cwd": event.cwd, "command": line})
        return DONE
    where = f" {on_machine(card.event.machine, safe)}" if card.event.machine else ""
    live = any(view.session == card.event.session for view in here.replica.live())
    still = ". It is live: what you decide reaches it with its next call" if live else ""
    sys.stderr.write(f"This goes on with the session of #{card.number}{where}{still}:\n")
    sys.stderr.flush()
    sys.stdout.write(f"{line}\n")  # a line for a shell: nothing wraps it
    return DONE


async def _card(here: Attached, number: int) -> Card:
    if (card := here.replica.card(number)) is not None:
        return card
    async for past in newest_first(here):
        if past.card.number == number:
            return past.card
    raise CrabhookError(f"there is no #{number} on record that you may see")


def command_line(card: Card) -> str:
    """Return the line for a shell that goes on with a card's session; raises CrabhookError."""
    event, platform = card.event, HOOKED.get(card.event.platform)
    if platform is None:
        raise CrabhookError(f"#{card.number} came from an editor: go on with its session there")
    if not _ID.fullmatch(event.session):
        raise CrabhookError(f"the session of #{card.number} has no id that a command can name")
    if event.cwd and (safe(event.cwd) != event.cwd or not event.cwd.startswith("/")):
        raise CrabhookError(f"the folder of #{card.number} has a name that no line can show")
    words = platform.protocol.resume.format(session=event.session, prompt=shlex.quote(prompt(card)))
    return f"cd {shlex.quote(event.cwd)} && {words}" if event.cwd else words


def prompt(card: Card) -> str:
    """Return what the agent reads first, in words of ours alone."""
    number = f"#{card.number}"
    if card.went_on and card.state is State.DECIDED and card.decision is not None:
        if card.decision.verdict is Verdict.ALLOW:
            return f"The operator has allowed {number}. Go on: {_AGAIN}."
        return f"The operator has denied {number}. Go on, and do not make that call again."
    if card.went_on:
        return f"Nobody decided {number} in time. Go on: {_AGAIN}."
    return "Go on with your work."


resume = acting("resume", _resume, "one", "json")
