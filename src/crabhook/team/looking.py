"""Looks at the identity provider again and again: who is out there, is out here.

This closes alone, so it takes no passphrase. What a look says stands in `looks`, and every use of
the team reads it.
"""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from time import monotonic, time
from typing import TYPE_CHECKING

from crabhook.model.errors import CrabhookError
from crabhook.team.folder import Folder
from crabhook.team.identity import OidcPolicy
from crabhook.team.looks import LastLook, forget_looks, keep_looks, looks_in, moment, one_round
from crabhook.team.membership import Team, TeamRefusal

if TYPE_CHECKING:
    from crabhook.team.provider import Provider

TICK = 1.0  # seconds between two looks at whether a round is due
AGAIN_AFTER = 60.0  # seconds after a round with a trouble, at most
AT_ONCE = 4  # people

NOT_INSTALLED = "PyJWT is not installed, so nobody looks at the identity provider"


class LooksAgain:
    """Looks at all people of a team who joined by the provider; `trouble` is the last, in words."""

    def __init__(self, folder: Folder, team: Callable[[], Team | TeamRefusal]) -> None:
        self._folder, self._team = folder, team
        self.trouble = ""

    def __repr__(self) -> str:
        return f"<LooksAgain {self._folder.path} {self.trouble!r}>"

    async def keep(self) -> None:
        """Look at the policy's interval, until cancelled."""
        due = 0.0
        while True:
            team = self._team()
            policy = team.oidc if isinstance(team, Team) else None
            if policy is not None and monotonic() >= due:
                await self.round()
                pause = min(policy.every, AGAIN_AFTER) if self.trouble else policy.every
                due = monotonic() + pause
            await asyncio.sleep(TICK)

    async def round(self) -> bool:
        """Look at each person once; return whether nobody else looked meanwhile."""
        try:
            with one_round(self._folder) as alone:
                if alone:
                    await self._round()
        except ModuleNotFoundError:
            self.trouble, alone = NOT_INSTALLED, True
        except (CrabhookError, OSError) as error:
            self.trouble, alone = f"nobody looks at the identity provider: {error}", True
        return alone

    async def _round(self) -> None:
        self.trouble = ""
        team = self._team()
        if not isinstance(team, Team) or team.oidc is None:
            return
        forget_looks(self._folder, {member.id for member in team.members})
        looks = looks_in(self._folder)
        due = [
            look
            for member in team.members
            if member.identity and (look := looks.get(member.id))
            if look.identity.is_same(member.identity) and not look.ended
            if look.identity.issuer == team.oidc.issuer
        ]
        if not due:
            return
        from crabhook.team.provider import (  # few have one
            Provider,
            ProviderError,
            client_secret_in,
            need_reader,
        )

        need_reader()
        provider = Provider(team.oidc, time, client_secret_in(self._folder))
        try:
            await provider.reach()
        except ProviderError as error:
            looked = [replace(look, trouble=str(error)) for look in due]
            keep_looks(self._folder, zip(looked, due, strict=True))
        else:
            looked = await self._looked(provider, due)
        self.trouble = _trouble(looked, team.oidc)

    async def _looked(self, provider: "Provider", due: Iterable[LastLook]) -> list[LastLook]:
        room = asyncio.Semaphore(AT_ONCE)

        async def look_at(look: LastLook) -> LastLook:
            async with room:
                after = await looked_again(provider, look)
                # At once: a provider takes most refresh tokens a single time.
                keep_looks(self._folder, [(after, look)])
                return after

        return list(await asyncio.gather(*map(look_at, due)))


async def looked_again(provider: "Provider", look: LastLook) -> LastLook:
    """Return what a look says now of the person of the look before."""
    from crabhook.team.provider import EndedError, ProviderError  # as above

    began = int(time())
    try:
        confirmed = await provider.looked(look.token, look.identity, look.nonce)
    except EndedError as error:
        return replace(look, ended=str(error), ended_at=began, token="", trouble="")
    except ProviderError as error:
        return replace(look, trouble=str(error))
    entitled = confirmed.entitled
    now = replace(look, at=began, role=entitled.role, groups=entitled.groups, trouble="")
    return replace(now, token=confirmed.token)


def _trouble(looks: Iterable[LastLook], policy: OidcPolicy) -> str:
    """Say whom the provider did not confirm, and until when they may open."""
    failed = [look for look in looks if look.trouble]
    if not failed:
        return ""
    until = min(look.at for look in failed) + policy.bound
    people = "1 person" if len(failed) == 1 else f"{len(failed)} people"
    return f"{failed[0].trouble}. {people} may open until {moment(until)}, and then look and close"
