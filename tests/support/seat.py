"""The desk of the operator who sits at a server's own terminal."""

from crabhook.model.actor import OWNER, Actor
from crabhook.server.localdesk import LocalDesk
from crabhook.server.runner import Runner


def seat(runner: Runner, by: Actor = OWNER) -> LocalDesk:
    """Return a desk on the runner, at which `by` sits."""
    return LocalDesk(runner, by)
