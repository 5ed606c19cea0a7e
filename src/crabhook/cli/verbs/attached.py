"""A desk for the length of one verb: what it tells is awaited, and what became of a command."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from time import monotonic, time

from crabhook import config
from crabhook.cli.team.attaching import connected, place_of
from crabhook.desk.commands import AskDesks, Command, Done, Outcome
from crabhook.desk.replica import Replica
from crabhook.desk.updates import AttachedDesk, Desk, News, Snapshot
from crabhook.hook.servers import listed
from crabhook.model.errors import CrabhookError
from crabhook.store.record import iso
from crabhook.team.desk_keys import Credentials, desk_folders
from crabhook.team.membership import fingerprint_of

LISTENS_WITHIN = 2.0  # seconds
TOLD_WITHIN = 10.0  # seconds a server has to tell all there is, or what became of a command


class UnheardError(CrabhookError):
    """The server did not answer in time; whether a command was carried out is not known."""


class Attached:
    """A desk whose first snapshot has come; `changed` is set whenever it tells more.

    `patience` is for how many seconds longer a command may take, as where a key is touched first.
    """

    def __init__(self, desk: Desk, patience: float = 0.0) -> None:
        self._patience = patience
        self.replica = Replica(desk, monotonic)
        self.changed = asyncio.Event()
        self._begun = asyncio.Event()

    def _hear(self, news: News) -> None:
        if isinstance(news, Snapshot):
            self._begun.set()
        self.changed.set()

    async def begin(self) -> None:
        """Wait until the desk has told all there is; raises UnheardError."""
        self.replica.follow(self._hear)
        try:
            async with asyncio.timeout(TOLD_WITHIN):
                await self._begun.wait()
        except TimeoutError:
            raise UnheardError(f"the server told nothing within {TOLD_WITHIN:g} s") from None

    async def submit(self, command: Command) -> Outcome:
        """Return what became of a command; raises UnheardError."""
        settled: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()

        def then(outcome: Outcome) -> None:
            if not settled.done():
                settled.set_result(outcome)

        self.replica.submit(command, then)
        try:
            async with asyncio.timeout(TOLD_WITHIN + self._patience):
                return await settled
        except TimeoutError:
            told = f"the server did not say what became of it within {TOLD_WITHIN:g} s"
            raise UnheardError(f"{told}; see: crabhook history") from None


async def who_is_attached(server: str, keys: Credentials) -> tuple[Sequence[AttachedDesk], float]:
    """Return the desks that are attached to a server, and the time on its clock.

    Raises CrabhookError, at once where nobody listens.
    """
    for one in (addresses := listed(server)):
        host, _, port = one.rpartition(":")
        try:
            async with asyncio.timeout(LISTENS_WITHIN):
                _, line = await asyncio.open_connection(host.strip("[]"), int(port))
        except (OSError, ValueError) as error:  # and TimeoutError
            if one == addresses[-1]:
                raise UnheardError(f"nobody listens at {server}") from error
        else:
            line.close()
            break
    async with connected(server, keys) as desk, attached(desk) as here:
        outcome = await here.submit(AskDesks())
        if not isinstance(outcome, Done):
            raise UnheardError(outcome.why)
        return here.replica.attached(), here.replica.now()


def attached_of(team: str) -> Mapping[str, Sequence[Mapping[str, object]]]:
    """Return which desks are attached to a team's server, by their operators' ids.

    This device's open key asks for it: where there is none, or no server, nobody is known.
    """
    found: dict[str, list[Mapping[str, object]]] = {}
    for folder in desk_folders(config.config_folder()):
        with suppress(CrabhookError):
            keys = folder.closing()
            if keys is None or fingerprint_of(keys.authority) != team:
                continue
            desks, now = asyncio.run(who_is_attached(place_of(folder), keys))
            for one in desks[:-1]:  # the last to come is who asks
                since = iso(round(time() - (now - one.since)))
                by, beside = one.by, {"since": since, "closing": one.closing}
                told = {"device": by.desk, "address": by.address, "role": by.role, **beside}
                found.setdefault(by.id, []).append(told)
    return found


@asynccontextmanager
async def attached(desk: Desk, patience: float = 0.0) -> AsyncIterator[Attached]:
    """Give a desk that has told all there is; raises UnheardError."""
    here = Attached(desk, patience)
    try:
        await here.begin()
        yield here
    finally:
        here.replica.leave()
