"""What the server needs again after it was killed: requests that wait, and answers just given."""

from dataclasses import dataclass, field

from crabhook.broker.tickets import ANSWER_KEPT_FOR

__all__ = ["ANSWER_KEPT_FOR", "Answer", "Halt", "Recovered", "Waiting"]


@dataclass(frozen=True, slots=True)
class Waiting:
    """A request that waits, whole, so that it can be put back on its card.

    `payload` is the hook's standard input verbatim, secrets and all: the
    decision has to be made, and the input changed, on what was really asked.
    Times are wall seconds; `gives_up_at` is when the hook itself does, 0 if it
    has not said; `note` goes to the model with whatever is answered.
    """

    request_id: str
    secret: str = field(repr=False)
    platform: str
    payload: bytes = field(repr=False)
    stance: str
    asked: float
    wait_until: float
    card: int
    host: str = ""
    pid: int = 0
    user: str = ""
    gives_up_at: float = 0.0
    note: str = ""

    def remaining(self, now: float) -> float:
        """Return how many seconds it may still wait; a clock set back gives it no more."""
        return min(max(0.0, self.wait_until - now), self.wait_until - self.asked)

    def waited(self, now: float) -> float:
        """Return how many seconds it has waited; by no clock less than none, or past its end."""
        return min(max(0.0, now - self.asked), max(0.0, self.wait_until - self.asked))


@dataclass(frozen=True, slots=True)
class DecidedCall:
    """What an operator decided about a call, whole, until it is known that the client has it.

    `payload` is as in `Waiting`; `decision` is JSON.
    """

    card: int
    platform: str
    payload: bytes = field(repr=False)
    decision: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply that was decided, for a client that may not have got it.  `decided`: wall seconds.

    `call`: what it says, None where nobody waits for a receipt, or it has come.
    `delivered`: whether the client has it, None while nobody knows.
    """

    request_id: str
    secret: str = field(repr=False)
    stdout: bytes = field(repr=False)
    stderr: str
    exit_code: int
    decided: float
    call: DecidedCall | None = None
    delivered: bool | None = None

    @property
    def owed(self) -> bool:
        """Whether the record does not say yet what became of it."""
        return self.call is not None and self.delivered is None


@dataclass(frozen=True, slots=True)
class Halt:
    """A session that the operator halted, and why."""

    session: str
    why: str


@dataclass(frozen=True, slots=True)
class Recovered:
    """What a server that starts finds: requests by card and age, answers by age, the last card."""

    waiting: tuple[Waiting, ...] = ()
    answers: tuple[Answer, ...] = ()
    last_card: int = 0
    halts: tuple[Halt, ...] = ()
