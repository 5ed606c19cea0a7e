"""The desk of the operator who sits at a server's own terminal."""

from crabhook.broker.messages import Answered
from crabhook.model.actor import OWNER, Actor
from crabhook.model.decision import Decision
from crabhook.server.core.local_desk import LocalDesk
from crabhook.server.core.runner import Runner


def seat(runner: Runner, by: Actor = OWNER) -> LocalDesk:
    """Return a desk on the runner, at which `by` sits."""
    return LocalDesk(runner, by)


def decide(runner: Runner, number: int, decision: Decision, by: Actor = OWNER) -> None:
    """Decide a card of a runner without rules: they say nothing of a call that is changed."""
    changed = runner.broker.changed(number, decision)
    rulings = dict.fromkeys(changed)
    runner.handle(Answered(number, decision, by, runner.now(), rulings=rulings))
