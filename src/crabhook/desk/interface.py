"""The only door between a screen and the broker: commands go in, updates come out."""

from collections.abc import Callable
from typing import Protocol

from crabhook.desk.commands import Command
from crabhook.desk.updates import Update


class Desk(Protocol):
    """The desk of one operator, here or on another machine.

    No exception crosses it: what becomes of a command is an update, `Settled`.
    """

    def submit(self, command: Command) -> None:
        """Have a command carried out, when what was submitted before it is."""

    def subscribe(self, listener: Callable[[Update], None]) -> Callable[[], None]:
        """Tell `listener` a snapshot, then every update; return how to stop.

        An update that comes while the listener acts on another one waits for its turn.
        """
