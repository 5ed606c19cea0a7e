"""Whether the team's identity provider answers, and the settings are what the team has signed."""

import asyncio
import time
from collections.abc import Iterator

from crabhook import config
from crabhook.doctor.facts import ThisMachine
from crabhook.doctor.finding import Finding, crabhook_command, make_finding
from crabhook.model.errors import CrabhookError
from crabhook.team.folder import Folder
from crabhook.team.identity import OidcPolicy


def is_asked(_: ThisMachine) -> Iterator[Finding]:
    """Ask the provider what it publishes, as the server does before it looks at people."""
    folder = Folder(config.team_folder())
    if not folder.exists:
        return
    try:
        wish = config.load().oidc
        from crabhook.team.team_file import team_in  # cryptography: a team alone needs it

        team = team_in(folder)
    except (CrabhookError, ModuleNotFoundError):  # which is another finding
        return
    if team.oidc != wish:
        mend = crabhook_command("team oidc use")
        yield make_finding(
            "team.provider", "unsigned", mend, here=_name(wish), team=_name(team.oidc)
        )
    if team.oidc is not None:
        people = sum(bool(member.identity) for member in team.members)
        yield _asked(team.oidc, people)


def _asked(policy: OidcPolicy, people: int) -> Finding:
    about = {"issuer": policy.issuer, "people": people}
    try:
        from crabhook.team.provider import Provider, need_reader  # few have one

        need_reader()
        asyncio.run(Provider(policy, time.time).reach())
    except ModuleNotFoundError as error:
        return make_finding("team.provider", "missing", package=error.name, **about)
    except CrabhookError as error:
        return make_finding("team.provider", "dead", error=error, **about)
    return make_finding("team.provider", "fine", **about)


def _name(policy: OidcPolicy | None) -> str:
    return policy.issuer if policy else "no provider"
