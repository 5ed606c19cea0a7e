"""What watches a runner and is no screen: it hears of all that is done, and has no part in it."""

from collections.abc import Sequence

from crabhook.broker.messages import Effect, Fact, Refusal


class Witness:
    """A witness that takes no note of anything; `server.metrics.tally` counts in its place.

    The facts and effects that it hears of may be hostile, and must not be changed.
    """

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def handled(self, fact: Fact, effects: Sequence[Effect]) -> None:
        """Hear of a fact, in the order they came, and of what will be done about it."""

    def unread(self, platform: str) -> None:
        """Hear of a hook's input that nobody could read."""

    def refused(self, refusal: Refusal) -> None:
        """Hear of a request that was turned away at the door."""

    def stranger(self) -> None:
        """Hear of somebody who showed no token, or a wrong one."""
