"""Whether this server is fit to serve, and if not, why: what each of its doors tells who asks."""

from enum import StrEnum

from crabhook.server.runner import Runner


class Fitness(StrEnum):
    """How a server is, in a word."""

    SERVING = "serving"
    HANDED_OVER = "handed-over"  # to the next server; what waits is asked again there
    CLOSING = "closing"
    UNRECORDED = "unrecorded"  # what is decided could not be recorded, so nothing is taken in


class Health:
    """How one runner and its record are.  It tells nothing else, so anybody may be told."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def __repr__(self) -> str:
        return f"<Health {self.reason}>"

    @property
    def serving(self) -> bool:
        """Whether a request that comes now is taken in, as the operator wishes it to be."""
        return self.reason is Fitness.SERVING

    @property
    def reason(self) -> Fitness:
        """How it is; what lasts before what may pass."""
        runner, recorder = self._runner, self._runner.recorder
        ways = (  # the first that holds
            (runner.handed_over, Fitness.HANDED_OVER),
            (runner.closed, Fitness.CLOSING),
            (recorder is not None and recorder.refusal, Fitness.UNRECORDED),
        )
        return next((fitness for holds, fitness in ways if holds), Fitness.SERVING)
