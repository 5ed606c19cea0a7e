"""DeskService: the operator says in another terminal that they are away, or here again.

Whoever reaches the Unix socket may close the gates.  To open them takes the
passphrase, as it was when the server started (docs/decisions/0006).
"""

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import grpc

from crabhook.broker.messages import Ordered, Revoked
from crabhook.model.actor import ELSEWHERE, OWNER, OrderKind
from crabhook.model.errors import DecisionError
from crabhook.model.order import Order
from crabhook.server.passphrase import LONGEST, PAUSE, TRIES, Lockout, PassphraseError, load
from crabhook.server.runner import Runner
from crabhook.v1 import desk_pb2 as pb
from crabhook.v1.desk_pb2_grpc import DeskServiceServicer

_Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
_Code = grpc.StatusCode

LONGEST_AWAY = 100 * 3600  # seconds, as at the desk
OWNER_ELSEWHERE = replace(OWNER, desk=ELSEWHERE)

_NOT_SET = "no passphrase was set when the server started"
_INSTEAD = (
    "set one with `crabhook passphrase` and start the server anew, "
    "or be away at the desk itself: b on the full screen, away on the plain desk"
)


@dataclass(frozen=True, slots=True)
class _Refusal:
    """Why the operator is not taken to be away: a status, and words for a person."""

    code: grpc.StatusCode
    words: str


class PresencePort(DeskServiceServicer):
    """Takes the operator's word for one runner.

    The passphrase's hash at `kept` is read here, once: whoever changes the
    file later changes nothing until a person starts the server again.
    """

    def __init__(self, runner: Runner, kept: Path) -> None:
        self._runner = runner
        self._lockout = Lockout(runner.now)
        self._turn = asyncio.Lock()  # one is looked at at a time, so that each is counted
        self._told_at: float | None = None
        self._missing = _NOT_SET
        try:
            self._passphrase = load(kept)
        except PassphraseError as error:
            self._passphrase, self._missing = None, str(error)

    async def SetPresence(  # noqa: N802 - the wire's name
        self,
        request: pb.SetPresenceRequest,
        context: _Context,
    ) -> pb.SetPresenceResponse:
        """Do what the operator says, once it is clear that they may."""
        if not context.peer().startswith("unix:"):
            words = "being here or away is said on the server's Unix socket, never over TCP"
            await context.abort(_Code.PERMISSION_DENIED, words)
        if fault := _fault(request):
            await context.abort(_Code.INVALID_ARGUMENT, fault)
        if request.presence == pb.PRESENCE_HERE:
            return self._here()
        # Shielded: who hangs up meanwhile has had a look all the same, and it counts.
        if refusal := await asyncio.shield(self._look_at(request.passphrase)):
            await context.abort(refusal.code, refusal.words)
        try:
            return self._away(request)
        except DecisionError as error:
            await context.abort(_Code.FAILED_PRECONDITION, str(error))

    def _here(self) -> pb.SetPresenceResponse:
        changed = self._is_away()
        if changed:
            self._runner.tell("crabhook here (said in another terminal)")
            now = self._runner.now()
            self._runner.handle(Revoked(_is_away, OWNER_ELSEWHERE, now))
        return pb.SetPresenceResponse(presence=pb.PRESENCE_HERE, changed=changed)

    def _away(self, request: pb.SetPresenceRequest) -> pb.SetPresenceResponse:
        changed, waiting = not self._is_away(), len(self._runner.waiting())
        seconds = request.seconds if request.HasField("seconds") else None
        now = self._runner.now()
        order = Order(OrderKind.AWAY, until=None if seconds is None else now + seconds)
        self._runner.handle(Ordered(order, OWNER_ELSEWHERE, now))
        return pb.SetPresenceResponse(
            presence=pb.PRESENCE_AWAY,
            changed=changed,
            seconds=seconds,
            released=waiting - len(self._runner.waiting()),
        )

    def _is_away(self) -> bool:
        return any(map(_is_away, self._runner.orders()))

    # The passphrase.

    async def _look_at(self, typed: str) -> _Refusal | None:
        """Return why this one opens nothing; None for the right one.  All is told at the desk."""
        async with self._turn:
            if refusal := self._refusal_unseen(typed):
                return refusal
            if not typed:
                return _Refusal(_Code.UNAUTHENTICATED, "being away needs the passphrase")
            assert self._passphrase is not None  # noqa: S101 - else it was refused unseen
            loop = asyncio.get_running_loop()  # which must not stand still for 50 ms
            right = await loop.run_in_executor(None, self._passphrase.matches, typed)
            self._lockout.count(right=right)
            self._runner.tell(f"crabhook away: {self._outcome(right=right)}")
            return None if right else _Refusal(_Code.UNAUTHENTICATED, self._outcome(right=False))

    def _refusal_unseen(self, typed: str) -> _Refusal | None:
        """Return why nobody looks at any passphrase now."""
        if self._passphrase is None:
            refusal = _Refusal(_Code.FAILED_PRECONDITION, f"{self._missing}; {_INSTEAD}")
        elif left := self._lockout.left:
            words = (
                f"{TRIES} wrong passphrases or more in a row: none is looked at for {left:.0f} s"
            )
            refusal = _Refusal(_Code.RESOURCE_EXHAUSTED, words)
        else:
            return None
        if typed:
            self._tell_seldom(f"crabhook away: a passphrase was refused unseen: {refusal.words}")
        return refusal

    def _tell_seldom(self, text: str) -> None:
        """Tell the desk, once in a while: whoever goes on and on must not flush the feed."""
        now = self._runner.now()
        if self._told_at is None or now - self._told_at >= PAUSE:
            self._told_at = now
            self._runner.tell(text)

    def _outcome(self, *, right: bool) -> str:
        if right:
            return "the right passphrase"
        so_far = f"wrong passphrase ({self._lockout.wrong} in a row)"
        return f"{so_far}; none is looked at for {PAUSE:.0f} s" if self._lockout.left else so_far


def _is_away(order: Order) -> bool:
    return order.kind is OrderKind.AWAY


def _fault(request: pb.SetPresenceRequest) -> str:
    """Say what is wrong with a request, empty if nothing is."""
    if request.presence not in (pb.PRESENCE_HERE, pb.PRESENCE_AWAY):
        return "presence is neither here nor away"
    if request.HasField("seconds") and not 0 < request.seconds <= LONGEST_AWAY:
        return f"seconds must be 1 to {LONGEST_AWAY}"
    if len(request.passphrase) > LONGEST:
        return f"no passphrase has more than {LONGEST} characters"
    return ""
