"""The inviting end: the service of an invitation, for a single client.

Anybody may reach the port. A client must prove the secret, and a person must compare the words.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from hmac import compare_digest
from typing import Any, TypeAlias

import grpc

from crabhook.datatypes import frozen
from crabhook.model.errors import CrabhookError
from crabhook.team.invitation import (
    LONGEST_NAME,
    TRIES,
    VALID,
    Joined,
    Joining,
    Joins,
    proof,
    proves,
    six_words,
)
from crabhook.v1 import enrol_pb2 as pb
from crabhook.v1.enrol_pb2_grpc import EnrolServiceServicer

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
_Code = grpc.StatusCode


@frozen
class Inviting:
    """The purpose of an invitation, and its callbacks.

    `check` raises CrabhookError for a key that cannot be used. `compare` asks a person if the
    device shows these words. `grant` changes the team, once, and returns what the other end gets.
    `tell` hears of refused attempts. `sign_in` begins a sign-in at the team's identity provider,
    where there is one: it returns the page and the code.
    """

    joins: Joins
    check: Callable[[Joining], object]
    compare: Callable[[str, Joining], Awaitable[bool]]
    grant: Callable[[Joining], Joined]
    tell: Callable[[str], object]
    sign_in: Callable[[], Awaitable[tuple[str, str]]] | None = None


class InvitingError(CrabhookError):
    """Nobody was let in; says why, to who invited."""


class JoinPort(EnrolServiceServicer):
    """Admits one client by one secret; `kept` stores what remains of it.

    `over` has the outcome: what was granted, or InvitingError.
    """

    def __init__(self, inviting: Inviting, secret: bytes, pin: bytes) -> None:
        self._inviting, self._secret, self._pin = inviting, secret, pin
        self._wrong = 0
        self._joining: Joining | None = None
        self._nonce = b""
        self._compared: asyncio.Task[bool] | None = None
        self._finishing = False
        self.over: asyncio.Future[Joined] = asyncio.get_running_loop().create_future()

    async def BeginJoin(  # noqa: N802 - the wire's name
        self, request: pb.BeginJoinRequest, context: Context
    ) -> pb.BeginJoinResponse:
        """Reserve the invitation for a client who proves the secret."""
        if refusal := self._taken(request):
            await context.abort(*refusal)
        assert self._joining is not None  # noqa: S101 - it was taken a line ago
        page, code = "", ""
        if self._inviting.sign_in is not None:
            try:
                page, code = await self._inviting.sign_in()
            except CrabhookError as error:
                self._end(f"{error}; nobody joined")
                await context.abort(_Code.FAILED_PRECONDITION, f"the other end said: {error}")
        fields = self._joining.fields
        compare = self._inviting.compare(six_words(self._pin, self._nonce, *fields), self._joining)
        self._compared = asyncio.ensure_future(compare)
        self._compared.add_done_callback(self._not_the_same)
        return pb.BeginJoinResponse(nonce=self._nonce, sign_in_page=page, sign_in_code=code)

    def _taken(self, request: pb.BeginJoinRequest) -> tuple[grpc.StatusCode, str] | None:
        """Return why this client may not use the invitation, or mark it used, in one step.

        A wrong secret never tells whether the invitation was used.
        """
        fields = (bytes((request.joins & 0xFF,)), request.key, request.closing_key)
        if not proves(self._secret, request.proof, *fields, request.name.encode()):
            return self._guessed()
        if self._joining is not None or self.over.done():
            self._inviting.tell(SECOND_TIME)
            return (
                _Code.FAILED_PRECONDITION,
                "this invitation was used, or is over: ask for another",
            )
        if int(request.joins) != self._inviting.joins:
            return _Code.INVALID_ARGUMENT, _FOR[self._inviting.joins]
        if not 0 < len(request.name) <= LONGEST_NAME or not request.name.isprintable():
            return _Code.INVALID_ARGUMENT, f"a name has 1 to {LONGEST_NAME} letters"
        who = Joining(self._inviting.joins, request.key, request.closing_key, request.name)
        try:
            self._inviting.check(who)
        except CrabhookError as error:
            return _Code.INVALID_ARGUMENT, str(error)
        self._joining, self._nonce = who, secrets.token_bytes(16)
        return None

    def _guessed(self) -> tuple[grpc.StatusCode, str]:
        self._wrong += 1
        if self._wrong <= TRIES:
            self._inviting.tell(wrong_secret(self._wrong))
        if self._wrong >= TRIES and self._joining is None:
            self._end(f"{TRIES} wrong secrets were shown: the invitation is over, nobody joined")
        return _Code.PERMISSION_DENIED, "that is not the invitation's secret"

    async def FinishJoin(  # noqa: N802 - the wire's name
        self, request: pb.FinishJoinRequest, context: Context
    ) -> pb.FinishJoinResponse:
        """Wait for the words to be compared; then let them in, once."""
        began = proof(self._secret, self._nonce)
        if self._compared is None or not compare_digest(began, request.proof) or self._finishing:
            await context.abort(_Code.PERMISSION_DENIED, "no such attempt waits to be finished")
        assert self._joining is not None  # noqa: S101 - or nothing would be compared
        self._finishing = True
        try:
            if not await asyncio.shield(self._compared):
                self._end(NOT_THE_SAME)  # the inviting end reads other words than the joining end
                raise InvitingError(
                    "the words were not said to be the same. Ask for a new invitation"
                )
            if self.over.done():
                raise InvitingError("the invitation is over")
            joined = self._inviting.grant(self._joining)
        except CrabhookError as error:
            self._end(f"{error}; nobody joined")
            await context.abort(_Code.FAILED_PRECONDITION, f"the other end said: {error}")
        except asyncio.CancelledError:
            self._end("the other end hung up before the words were compared: nobody joined")
            raise
        if not self.over.done():
            self.over.set_result(joined)
        return pb.FinishJoinResponse(**asdict(joined))

    def _not_the_same(self, compared: "asyncio.Task[bool]") -> None:
        """End the invitation even if nobody waits for the words."""
        if compared.cancelled():
            return
        error = compared.exception()
        if isinstance(error, CrabhookError):
            self._end(f"{error}; nobody joined")
        elif error is not None or not compared.result():
            self._end(NOT_THE_SAME)

    def _end(self, why: str) -> None:
        if not self.over.done():
            self.over.set_exception(InvitingError(why))

    def fail(self, error: CrabhookError) -> None:
        """End the invitation, since nobody can come by it any more."""
        self._end(f"{error}; nobody joined")

    def stop(self) -> None:
        """Stop asking."""
        if self._compared is not None:
            self._compared.cancel()
        if self.over.done():
            self.over.exception()  # somebody was told, or nobody wants to know
        self.over.cancel()


SECOND_TIME = "somebody came with the invitation a second time: refused"
NOT_THE_SAME = "the words were not said to be the same: nobody joined. Invite again"


def wrong_secret(number: int) -> str:
    """Say that somebody showed a wrong secret, for the admin and the record."""
    return f"a wrong secret was shown ({number} of {TRIES}): refused"


_FOR = {
    Joins.DESK: "this invitation is for a person: `crabhook team join crab1…`",
    Joins.MACHINE: "this invitation is for a machine: `crabhook install AGENT --join crab1…`",
}


async def outcome(port: JoinPort, within: float = VALID) -> Joined:
    """Return what was granted; raises InvitingError when the invitation ended otherwise."""
    try:
        async with asyncio.timeout(within):
            return await asyncio.shield(port.over)
    except TimeoutError:
        raise InvitingError("nobody came in time: the invitation is over") from None
