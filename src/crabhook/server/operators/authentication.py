"""Identifies callers: each call is checked by what its transport can prove of it."""

import secrets
from collections import Counter
from collections.abc import Callable, Container, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from time import time
from typing import NamedTuple, Protocol

from crabhook.datatypes import frozen
from crabhook.model.actor import Operator, ShownBy
from crabhook.model.errors import CrabhookError
from crabhook.model.jsontext import compact
from crabhook.model.proof import CallProof
from crabhook.model.signing import DecisionSignature
from crabhook.server.core.runner import Runner
from crabhook.server.metrics.tally import TurnedAway
from crabhook.server.operators.refusals import Forbidden, NeedsPresence, NoRoom
from crabhook.server.repeats import Repeats
from crabhook.team.call_signature import TOO_LONG_AGO, SignedCall, opened_by
from crabhook.team.decision_signatures import DESK, SIGNED_WITHIN, check_signature
from crabhook.team.membership import (
    ClosedKey,
    Identified,
    Permission,
    Principal,
    Target,
    Team,
    TeamRefusal,
)
from crabhook.team.passkeys import Assertion, opened_by_passkey

OF_DEVICE, FROM_ADDRESS = 256, 1024  # open calls at once; many devices may share an address

_LATEST = 1e11  # seconds that fit the signed bytes


class Sent(NamedTuple):
    """A call's name and raw request: the signature of presence covers both.

    `signed`: what the call's decision was signed by, for strict hooks.
    """

    rpc: str
    request: bytes
    signed: tuple[DecisionSignature, ...] = ()


class Signature(NamedTuple):
    """A signature of presence, and when it was asked for, by the server's clock."""

    at: float
    signature: bytes


class Asserted(NamedTuple):
    """A passkey's assertion, and when it was asked for, by the server's clock."""

    at: float
    assertion: Assertion


class Caller(Protocol):
    """Who calls, as far as a transport can prove it. Each way to prove it has a class.

    `address` is the network address. Calls of one `device` share its places.
    """

    @property
    def address(self) -> str:
        """The network address."""

    @property
    def device(self) -> Hashable:
        """What the places of this caller's device are counted by, for any caller."""

    def identify(self, team: Team, now: float) -> Identified:
        """Return who calls, `now` in seconds since 1970, or why it is nobody in the team."""

    def opened(
        self, principal: Principal, team: Team, sent: Sent, challenge: bytes, now: float
    ) -> Identified:
        """Return the principal as far as a proof of presence opens this one call.

        That is the same principal without a proof, and the reason for a proof that is wrong. `now`
        is on the server's clock.
        """

    def attends(self, principal: Principal) -> bool:
        """Whether a person is there while the caller watches, as far as that is shown."""

    def shown_by(self, principal: Principal) -> ShownBy:
        """Return how the principal showed who they are, for the record."""

    def proof(self, team: Team, sent: Sent, challenge: bytes) -> CallProof | None:
        """Return what was signed to open this call, for the record; None where nothing is kept."""


@frozen
class CertificateCaller:
    """A caller with a device's certificate in PEM, and perhaps a signature by an SSH key."""

    certificate: bytes
    signature: Signature | None
    address: str

    @property
    def device(self) -> Hashable:
        """The certificate."""
        return self.certificate

    def identify(self, team: Team, now: float) -> Identified:
        """Return whose certificate it is; see `Caller`."""
        return team.identify(self.certificate, now)

    def opened(
        self, principal: Principal, team: Team, sent: Sent, challenge: bytes, now: float
    ) -> Identified:
        """Return a principal with a closing key as a principal that opens, by the signature."""
        signed = self.signature
        if sent.signed:
            return _by_statements(sent.signed, team, principal, ())
        if signed is None or not principal.closing or not _can_be_signed(signed.at):
            return principal
        about = sent.rpc, sent.request
        call = SignedCall(team.id, principal.operator, challenge, *about, signed.at)
        return opened_by(signed.signature, call, team, principal, now)

    def attends(self, principal: Principal) -> bool:
        """Whether the passphrase was given: any program of that user can read a closing key."""
        return not principal.closing

    def shown_by(self, principal: Principal) -> ShownBy:
        """Return which key showed the principal."""
        if principal.closing:
            return ShownBy.OPEN_KEY
        return ShownBy.SIGNATURE if principal.signed else ShownBy.PASSPHRASE

    def proof(self, _team: Team, _sent: Sent, _challenge: bytes) -> CallProof | None:
        """Return nothing: a signature by an SSH key is not kept."""
        return None


@frozen
class PasskeyCaller:
    """A person who signed in on a page by a passkey, and perhaps its assertion for this call.

    `operator` and `passkey` are ids in the team, `origins` are where this server shows its pages.
    """

    operator: str
    passkey: str
    asserted: Asserted | None
    origins: Container[str]
    address: str

    @property
    def device(self) -> Hashable:
        """The passkey, in however many sessions."""
        return "passkey", self.passkey

    def identify(self, team: Team, now: float) -> Identified:
        """Return whose passkey it is, who may look and close; see `Caller`."""
        return team.by_passkey(self.operator, self.passkey, now)

    def opened(
        self, principal: Principal, team: Team, sent: Sent, challenge: bytes, now: float
    ) -> Identified:
        """Return the principal with the right to open, by the assertion."""
        if sent.signed:
            return _by_statements(sent.signed, team, principal, self.origins)
        if (call := self._signed(team, sent, challenge)) is None or self.asserted is None:
            return principal
        assertion, origins = self.asserted.assertion, self.origins
        return opened_by_passkey(assertion, call, team, principal, now, origins=origins)

    def attends(self, principal: Principal) -> bool:  # noqa: ARG002 - as every caller has it
        """Whether a person is there: a page watches only while somebody looks at it."""
        return True

    def _signed(self, team: Team, sent: Sent, challenge: bytes) -> SignedCall | None:
        """Return what an assertion of this call signs; None without an assertion."""
        if self.asserted is None or not _can_be_signed(self.asserted.at):
            return None
        about = sent.rpc, sent.request
        return SignedCall(team.id, self.operator, challenge, *about, self.asserted.at)

    def shown_by(self, principal: Principal) -> ShownBy:
        """Return whether the passkey signed this call, or a session's cookie was shown alone."""
        return ShownBy.PASSKEY if principal.signed else ShownBy.OPEN_KEY

    def proof(self, team: Team, sent: Sent, challenge: bytes) -> CallProof | None:
        """Return what the passkey signed, with its assertion; see `Caller`."""
        if (call := self._signed(team, sent, challenge)) is None or self.asserted is None:
            return None
        return CallProof(call.text, sent.request, compact(dict(self.asserted.assertion.json)))


def _by_statements(
    signed: tuple[DecisionSignature, ...],
    team: Team,
    principal: Principal,
    origins: Container[str],
) -> Identified:
    """Return the principal with the right to open, by what was signed for strict hooks.

    Each statement is of one decision of one card, so it proves as much as a signature of the call.
    """
    now, presence = time(), True
    for each in signed:
        try:
            check_signature(each, team, now, origins)
        except CrabhookError as error:
            return TeamRefusal(str(error))
        if each.operator != principal.operator:
            return TeamRefusal("somebody else signed this decision")
        if abs(now - each.signed_at / 1000) > SIGNED_WITHIN:
            return TeamRefusal(TOO_LONG_AGO)
        own = each.kind == DESK
        if own and (principal.closing or each.key != principal.device):
            return TeamRefusal("another device signed this decision")
        presence = presence and not own
    return replace(principal, closing=False, signed=True) if presence else principal


def _can_be_signed(at: float) -> bool:
    """Whether a time can be written into what is signed; not a number can not."""
    return 0 <= at < _LATEST


class Authenticator:
    """Looks callers up; `team` returns the current team, `runner` takes reports of refusals."""

    def __init__(self, team: Callable[[], Team | TeamRefusal], runner: Runner) -> None:
        self._team, self.runner = team, runner
        self._open = Counter[tuple[str, Hashable]]()  # calls, by device and by address
        self._refused = Repeats()
        self.challenge = secrets.token_bytes(16)

    def identified(
        self,
        caller: Caller,
        permission: Permission,
        target: Target | None = None,
        sent: Sent | None = None,
    ) -> Identified:
        """Return the permitted caller, or the reason of a refusal; `sent` may be signed."""
        team = self._team()
        if isinstance(team, TeamRefusal):
            return team
        principal = caller.identify(team, time())
        if sent is not None and isinstance(principal, Principal):
            principal = caller.opened(principal, team, sent, self.challenge, self.runner.now())
        if isinstance(principal, TeamRefusal):
            return principal
        return team.may(principal, permission, target) or principal

    def admit(
        self,
        caller: Caller,
        permission: Permission,
        target: Target | None = None,
        sent: Sent | None = None,
    ) -> Principal | Forbidden:
        """Return the permitted caller; a refusal is counted and recorded."""
        principal = self.identified(caller, permission, target, sent)
        if isinstance(principal, TeamRefusal):
            refusal = self.turn_away(caller, principal.why)
            closed = isinstance(principal, ClosedKey)
            return NeedsPresence(principal.why) if closed else refusal
        return principal

    def proof(self, caller: Caller, principal: Principal, sent: Sent) -> CallProof | None:
        """Return what opened an admitted call, for the record."""
        team = self._team()
        if isinstance(team, TeamRefusal) or not principal.signed:
            return None
        return caller.proof(team, sent, self.challenge)

    def turn_away(self, caller: Caller, why: str) -> Forbidden:
        """Return a refusal: each is counted, and one of many similar refusals is recorded."""
        self._report(self._counted_as(caller), caller.address, why)
        return Forbidden(why)

    def crowded(self, address: str) -> None:
        """Report that an address had a connection ended before TLS, for want of places."""
        self._report(TurnedAway.ROOM, address, "too many of its connections do not finish TLS")

    def no_room(self, caller: Caller, why: str) -> NoRoom:
        """Return the refusal of a call beyond a limit, counted and recorded in the same way."""
        who = self.identified(caller, Permission.WATCH)
        whose = f"{who.device_name} of {who.name}: " if isinstance(who, Principal) else ""
        self._report(TurnedAway.ROOM, caller.address, f"{whose}{why}")
        return NoRoom(why)

    @contextmanager
    def room(self, caller: Caller) -> Iterator[NoRoom | None]:
        """Count a call as open; yield a refusal beyond the limit of its device or its address.

        A device must not take the places of the others: a card being sent is in memory until it is
        read.
        """
        limits = {("device", caller.device): OF_DEVICE, ("address", caller.address): FROM_ADDRESS}
        if any(self._open[place] >= most for place, most in limits.items()):
            yield self.no_room(caller, "too many of its calls are open")
            return
        self._open.update(limits.keys())
        try:
            yield None
        finally:
            self._open.subtract(limits.keys())
            for place in limits:
                if not self._open[place]:
                    del self._open[place]

    def _report(self, why: TurnedAway, address: str, words: str) -> None:
        self.runner.witness.turned_away(why)
        if self._refused.is_news(words):
            text = f"a desk at {address} was refused: {words}"
            self.runner.warn(text, alarm=why is not TurnedAway.RIGHTS)

    def _counted_as(self, caller: Caller) -> TurnedAway:
        team = self._team()
        if isinstance(team, TeamRefusal):
            return TurnedAway.TEAM
        nobody = isinstance(caller.identify(team, time()), TeamRefusal)
        return TurnedAway.CERTIFICATE if nobody else TurnedAway.RIGHTS


def operator_of(principal: Principal, caller: Caller) -> Operator:
    """Return the operator at a calling desk."""
    shown = caller.shown_by(principal).value
    beside = caller.address, principal.role.value, shown
    return Operator(principal.operator, principal.name, principal.device_name, *beside)
