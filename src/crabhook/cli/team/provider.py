"""`crabhook team oidc`: which identity provider a team asks, and what it said last."""

import argparse
import asyncio
import time
from collections.abc import Iterator
from functools import partial

from crabhook import config
from crabhook.cli.team.asking import with_passphrase, yours
from crabhook.cli.team.inviting import change, team_folder, team_now
from crabhook.model.errors import CrabhookError
from crabhook.team import edit_team
from crabhook.team.identity import OidcPolicy
from crabhook.team.looking import LooksAgain
from crabhook.team.looks import Looks, confirmed, looks_in, moment
from crabhook.team.membership import Member
from crabhook.team.team_file import authority_of
from crabhook.ui.console import say, say_below


def use_provider(_: argparse.Namespace) -> None:
    """Sign what the settings say of a provider into the team's file."""
    folder, policy = team_folder(), config.load(None).oidc
    team = team_now(folder)
    edit_team.with_policy(team, policy)  # what is no change needs no passphrase to be told
    for line in described(policy):
        say(line)
    authority = with_passphrase(yours(team.name), partial(authority_of, folder))
    change(folder, authority, partial(edit_team.with_policy, policy=policy))
    say("It is in force." if policy else "Who joined by a provider may look and close from now on.")


def show_provider(_: argparse.Namespace) -> None:
    """Show the provider of the team's file, and each person's last look."""
    folder = team_folder()
    team = team_now(folder)
    for line in described(team.oidc):
        say(line)
    if team.oidc != config.load(None).oidc:
        say("The settings here say otherwise: `crabhook team oidc use` puts them in force.")
    looks = looks_in(folder)
    for member in confirmed(team, looks, time.time())[0].members:
        if member.identity:
            say(f"{member.name}  {member.role}")
            for line in looked_at(member, looks):
                say_below(line)


def look_now(arguments: argparse.Namespace) -> None:
    """Look at the provider now, as the server does at its interval."""
    folder = team_folder()
    team = team_now(folder)
    if team.oidc is None:
        raise CrabhookError("the team asks no identity provider")
    looking = LooksAgain(folder, lambda: team)
    if not asyncio.run(looking.round()):
        raise CrabhookError("the server is looking just now: `crabhook team oidc show` has it")
    if looking.trouble:
        say(looking.trouble, warning=True)
    show_provider(arguments)


def described(policy: OidcPolicy | None) -> Iterator[str]:
    """Say which provider is asked, and what its groups mean."""
    if policy is None:
        yield "The team asks no identity provider."
        return
    yield f"Identity provider: {policy.issuer}, as its client {policy.client}"
    if policy.audience != policy.client:
        yield f"  for the audience {policy.audience}"
    yield from (f"  {policy.claim} {value}: {role}" for value, role in policy.roles)
    yield from (f"  {policy.claim} {value}: @{group}" for value, group in policy.groups)
    yield (
        f"  It is asked every {policy.every} s. Without an answer for {policy.bound} s, people may "
        "look and close."
    )


def looked_at(member: Member, looks: Looks) -> Iterator[str]:
    """Say who a person is by the provider, and what it said last."""
    if member.identity is None:
        return
    yield f"by OIDC: {member.identity}"
    look = looks.get(member.id)
    if look is not None and not look.ended:
        trouble = f". Since then: {look.trouble}" if look.trouble else ""
        yield f"last looked {moment(look.at)}: {look.role}{trouble}"
    if member.doubt:
        yield member.doubt.why
