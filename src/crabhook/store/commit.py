"""What becomes of a write: one value, whether the storage is done at once or later."""

from asyncio import Event
from collections.abc import Callable
from typing import Self


class Commit:
    """The end of a write, which may be still to come; until then nothing of it may be released.

    `recorded`: it is on record, else it waits in memory. `error`: it is neither, and what depends
    on it must not be released. A storage on this machine is done when it returns this; a storage
    that answers later ends it then.
    """

    def __init__(self) -> None:
        self.over = self.recorded = False
        self.error: BaseException | None = None
        self._on_end: list[Callable[[], object]] = []

    def __repr__(self) -> str:
        return f"<Commit over={self.over} recorded={self.recorded} error={self.error!r}>"

    @classmethod
    def ended(cls, *, recorded: bool = True) -> Self:
        """Return a commit that is over."""
        commit = cls()
        commit.end(recorded=recorded)
        return commit

    @classmethod
    def refused(cls, error: BaseException) -> Self:
        """Return a commit that is over by an error."""
        commit = cls()
        commit.refuse(error)
        return commit

    def end(self, *, recorded: bool = True) -> None:
        """End it, once: on record, or kept in memory."""
        self.recorded = recorded
        self._end()

    def refuse(self, error: BaseException) -> None:
        """End it, once, by an error."""
        self.error = error
        self._end()

    def _end(self) -> None:
        self.over = True
        for hear in self._on_end:
            hear()
        self._on_end.clear()

    def on_end(self, hear: Callable[[], object]) -> None:
        """Call `hear` when it is over, which may be now."""
        if self.over:
            hear()
        else:
            self._on_end.append(hear)

    def checked(self) -> Self:
        """Return it; raises its error where it is over by one."""
        if self.error is not None:
            raise self.error
        return self

    async def wait(self) -> bool:
        """Return whether it is on record, once it is over; raises its error."""
        if not self.over:
            over = Event()
            self.on_end(over.set)
            await over.wait()
        return self.checked().recorded
