"""A person who is invited signs in at the team's identity provider: `team invite NAME --oidc`.

The command that invites asks the provider itself, and gets the token itself. So the other end has
nothing to show that could be another person's, another client's, or used before.
"""

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

from crabhook.model.errors import CrabhookError
from crabhook.team import edit_team
from crabhook.team.folder import Folder
from crabhook.team.invitation import Joining
from crabhook.team.looks import LastLook, keep_looks, looks_in
from crabhook.team.membership import Device, Member, Team
from crabhook.team.provider import Confirmed, DeviceCode, Provider, client_secret_in, need_reader
from crabhook.ui.console import say

Compare = Callable[[str, Joining], Awaitable[bool]]


class SigningIn:
    """The sign-in of an invited person: begun, waited for, and then kept beside the team."""

    def __init__(self, folder: Folder, team: Team, member: Member) -> None:
        """Raises ChangeError where the team asks no provider."""
        if team.oidc is None:
            raise edit_team.ChangeError(
                "the team asks no identity provider: write [oidc] into the settings, then "
                "`crabhook team oidc use`"
            )
        need_reader()
        self._policy, self._invited = team.oidc, member
        self._is_new = all(member.id != other.id for other in team.members)
        self._provider = Provider(team.oidc, time.time, client_secret_in(folder))
        self._code: DeviceCode | None = None
        self._confirmed: Confirmed | None = None

    async def reach(self) -> None:
        """Read what the provider publishes; raises ProviderError."""
        await self._provider.reach()

    async def begin(self) -> tuple[str, str]:
        """Begin the sign-in; return the page and the code. Raises ProviderError."""
        self._code = code = await self._provider.begin()
        say(f"{self._invited.name} signs in at {code.page} with the code {code.user_code} ...")
        return code.page, code.user_code

    async def compare(self, compare: Compare, words: str, who: Joining) -> bool:
        """Wait for the sign-in, then ask for the words; raises CrabhookError."""
        assert self._code is not None  # noqa: S101 - `begin` came before the words
        self._confirmed = confirmed = await self._provider.signed_in(self._code)
        entitled, identity = confirmed.entitled, confirmed.identity
        groups = "".join(f", @{group}" for group in entitled.groups)
        say(f"Signed in: {identity}, {entitled.role}{groups} by their groups there.")
        if self._is_named_so() is False:
            say(f"The provider calls them {identity.label}, and you invited {self._invited.name}.")
        return await compare(words, who)

    def _is_named_so(self) -> bool | None:
        """Whether the provider's name for the person is like the invited; None for no name."""
        label = self._signed_in().identity.label.casefold()
        return self._invited.name.casefold() in label if label else None

    def _signed_in(self) -> Confirmed:
        if self._confirmed is None:
            raise CrabhookError("nobody has signed in")
        return self._confirmed

    @property
    def member(self) -> Member:
        """The person as they come into the team; raises CrabhookError if nobody signed in."""
        confirmed, invited = self._signed_in(), self._invited
        role = confirmed.entitled.role if self._is_new else invited.role
        return replace(invited, role=role, identity=confirmed.identity)

    def enters(self, folder: Folder) -> Callable[[Team, Member, Device], Team]:
        """Return what puts the person's device into the team."""
        look = looks_in(folder).get(self._invited.id)
        ended = look.ended_at if look and look.ended else 0
        groups = self._signed_in().entitled.groups
        return partial(edit_team.with_identity, groups=groups, ended=ended)

    def keep(self, folder: Folder) -> None:
        """Keep what the provider said, by which a server looks again; raises TeamError."""
        confirmed, now = self._signed_in(), int(time.time())
        entitled, token = confirmed.entitled, (confirmed.token, confirmed.nonce)
        about = self._invited.id, confirmed.identity, now, entitled.role, entitled.groups
        keep_looks(folder, [(LastLook(*about, *token), None)])
