"""DeskService: the operator says in another terminal that they are away, or here again.

A client that reaches the Unix socket may close the gates.  To open them takes the
passphrase (docs/decisions/0006): an agent can say that word too, but does not know it.
"""

import asyncio
import hashlib
import secrets
import stat
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hmac import compare_digest
from pathlib import Path
from typing import Self, TypeAlias

import grpc

from crabhook.broker.messages import Commanded
from crabhook.desk.commands import EndOrders, GiveOrder
from crabhook.model.actor import ELSEWHERE, OWNER, OrderKind
from crabhook.model.errors import CrabhookError, DecisionError
from crabhook.model.order import Order
from crabhook.ownfile import open_own, write_own
from crabhook.server.core.runner import Runner
from crabhook.server.token import Context
from crabhook.v1 import desk_pb2 as pb
from crabhook.v1.desk_pb2_grpc import DeskServiceServicer

SHORTEST, LONGEST = 8, 1024  # characters
TRIES = 5  # wrong ones in a row, after which none is looked at for a while
PAUSE = 60.0  # seconds of that while

# About 50 ms and 16 MiB a guess, for whoever has the hash.
_N, _R, _P = 1 << 14, 8, 1
_KIND = f"scrypt-{_N}-{_R}-{_P}"
_SALT_BYTES, _HASH_BYTES = 16, 32
_ANEW = ": remove it, and set one anew"


class PassphraseError(CrabhookError):
    """A passphrase, or what is kept of one, that cannot be used."""


@dataclass(frozen=True, slots=True)
class Passphrase:
    """What is kept of a passphrase: enough to know it again, not to say it."""

    salt: bytes
    hash: bytes = field(repr=False)

    @classmethod
    def of(cls, typed: str) -> Self:
        """Return what is to be kept of it, salted anew; raises PassphraseError for a poor one.

        Takes about 50 ms of a processor, as `matches` does.
        """
        if not SHORTEST <= len(_normal(typed)) <= LONGEST:
            raise PassphraseError(f"a passphrase has {SHORTEST} to {LONGEST} characters")
        salt = secrets.token_bytes(_SALT_BYTES)
        return cls(salt, _hash(typed, salt))

    @classmethod
    def parse(cls, line: str) -> Self:
        """Read what `str` wrote; raises PassphraseError for anything else.

        Its cost is ours to say, so that no file can make the server work for an hour.
        """
        try:
            kind, salt, known = line.split()
            kept = cls(bytes.fromhex(salt), bytes.fromhex(known))
        except ValueError:
            raise PassphraseError(f"it is not what `crabhook passphrase` writes{_ANEW}") from None
        sizes = (len(kept.salt), len(kept.hash))
        if kind != _KIND or sizes != (_SALT_BYTES, _HASH_BYTES):
            raise PassphraseError(f"it was written by another version of crabhook{_ANEW}")
        return kept

    def __str__(self) -> str:
        return f"{_KIND} {self.salt.hex()} {self.hash.hex()}"

    def matches(self, typed: str) -> bool:
        """Whether this is the passphrase; for at most LONGEST characters."""
        return compare_digest(_hash(typed, self.salt), self.hash)


def _hash(typed: str, salt: bytes) -> bytes:
    data = _normal(typed).encode("utf-8", "surrogatepass")
    room = 256 * _N * _R  # bytes; scrypt takes half of it, and OpenSSL allows less unless told
    return hashlib.scrypt(data, salt=salt, n=_N, r=_R, p=_P, maxmem=room, dklen=_HASH_BYTES)


def _normal(typed: str) -> str:
    """Return the text as any keyboard would have sent it: é is one letter, or two."""
    return unicodedata.normalize("NFC", typed)


class Lockout:
    """Counts wrong passphrases; `clock` gives monotonic seconds.

    After five in a row none is looked at for a minute, and again after each further wrong one.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock, self._until = clock, 0.0
        self.wrong = 0

    @property
    def left(self) -> float:
        """How many seconds none is looked at any more; 0 when one is."""
        return max(0.0, self._until - self._clock()) if self.wrong >= TRIES else 0.0

    def count(self, *, right: bool) -> None:
        """Take in how a passphrase that was looked at turned out."""
        self.wrong = 0 if right else self.wrong + 1
        if self.wrong >= TRIES:
            self._until = self._clock() + PAUSE


NAME = "passphrase"
"""Its name in the state folder."""

_LARGEST = 1024  # bytes; what we write has 115


def load(path: Path) -> Passphrase | None:
    """Return what is kept at `path`; None where there is nothing.

    Raises PassphraseError for a file that is not ours alone, or that we did not write.
    """
    try:
        with open_own(path) as (file, found):
            text = file.read(_LARGEST).decode("ascii", "replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise PassphraseError(f"{path} cannot be read: {error.strerror}") from error
    if stat.S_IMODE(found.st_mode) & 0o077:
        raise PassphraseError(f"{path} cannot be used: others can reach it: chmod 600 {path}")
    try:
        return Passphrase.parse(text)
    except PassphraseError as error:
        raise PassphraseError(f"{path} cannot be used: {error}") from error


def keep(path: Path, passphrase: Passphrase) -> None:
    """Write a passphrase over the one before; raises PassphraseError, and then nothing changed."""
    with _spoken_of(path, "written"):
        write_own(path, f"{passphrase}\n".encode("ascii"))


def remove(path: Path) -> None:
    """Keep no passphrase any more; raises PassphraseError."""
    with _spoken_of(path, "removed"):
        path.unlink(missing_ok=True)


@contextmanager
def _spoken_of(path: Path, done: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise PassphraseError(f"{path} cannot be {done}: {error.strerror}") from error


_Code = grpc.StatusCode

LONGEST_AWAY = 100 * 3600  # seconds, as at the desk
OWNER_ELSEWHERE = replace(OWNER, desk=ELSEWHERE)

_NOT_SET = "no passphrase was set when the server started"
_INSTEAD = (
    "set one with `crabhook passphrase` and start the server anew, "
    "or be away at the desk itself: b on the full screen, away on the plain desk"
)


_Refusal: TypeAlias = tuple[grpc.StatusCode, str]
"""Why the operator is not taken to be away: a status, and words for a person."""


class PresencePort(DeskServiceServicer):
    """Takes the operator's word for one runner.

    The passphrase's hash at `kept` is read here, once: what is written to the file later
    changes nothing until a person starts the server again.
    """

    def __init__(self, runner: Runner, kept: Path) -> None:
        self._runner = runner
        self._turn = asyncio.Lock()  # one is looked at at a time, so that each is counted
        self._lockout = Lockout(runner.now)
        self._told_at = float("-inf")
        self._missing = _NOT_SET
        try:
            self._passphrase = load(kept)
        except PassphraseError as error:
            self._passphrase, self._missing = None, str(error)

    async def SetPresence(  # noqa: N802 - the wire's name
        self,
        request: pb.SetPresenceRequest,
        context: Context,
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
            await context.abort(*refusal)
        try:
            return self._away(request)
        except DecisionError as error:
            await context.abort(_Code.FAILED_PRECONDITION, str(error))

    def _here(self) -> pb.SetPresenceResponse:
        if away := self._orders():
            self._runner.tell("crabhook here (said in another terminal)")
            self._runner.handle(Commanded(EndOrders(away), OWNER_ELSEWHERE, self._runner.now()))
        return pb.SetPresenceResponse(presence=pb.PRESENCE_HERE, changed=bool(away))

    def _away(self, request: pb.SetPresenceRequest) -> pb.SetPresenceResponse:
        changed, waiting = not self._orders(), len(self._runner.broker.waiting())
        seconds = request.seconds if request.HasField("seconds") else None
        now = self._runner.now()
        order = Order(OrderKind.AWAY, until=None if seconds is None else now + seconds)
        self._runner.handle(Commanded(GiveOrder(order), OWNER_ELSEWHERE, now))
        return pb.SetPresenceResponse(
            presence=pb.PRESENCE_AWAY,
            changed=changed,
            seconds=seconds,
            released=waiting - len(self._runner.broker.waiting()),
        )

    def _orders(self) -> frozenset[int]:
        """Return the ids of the orders by which the operator is away."""
        orders = self._runner.broker.orders()
        return frozenset(order.id for order in orders if order.kind is OrderKind.AWAY)

    async def _look_at(self, typed: str) -> _Refusal | None:
        """Return why this one opens nothing; None for the right one.  All is told at the desk."""
        async with self._turn:
            if self._passphrase is None:
                return self._unseen(
                    typed, _Code.FAILED_PRECONDITION, f"{self._missing}; {_INSTEAD}"
                )
            if left := self._lockout.left:
                many = f"{TRIES} wrong passphrases or more in a row"
                words = f"{many}: none is looked at for {left:.0f} s"
                return self._unseen(typed, _Code.RESOURCE_EXHAUSTED, words)
            if not typed:
                return _Code.UNAUTHENTICATED, "being away needs the passphrase"
            loop = asyncio.get_running_loop()  # which must not stand still for 50 ms
            right = await loop.run_in_executor(None, self._passphrase.matches, typed)
            self._lockout.count(right=right)
            outcome = "the right passphrase" if right else self._wrong()
            self._runner.tell(f"crabhook away: {outcome}")
            return None if right else (_Code.UNAUTHENTICATED, outcome)

    def _unseen(self, typed: str, code: grpc.StatusCode, words: str) -> _Refusal:
        """Tell the desk, once in a while: attempts without end must not flush the feed."""
        now = self._runner.now()
        if typed and now - self._told_at >= PAUSE:
            self._told_at = now
            self._runner.tell(f"crabhook away: a passphrase was refused unseen: {words}")
        return code, words

    def _wrong(self) -> str:
        so_far = f"wrong passphrase ({self._lockout.wrong} in a row)"
        return f"{so_far}; none is looked at for {PAUSE:.0f} s" if self._lockout.left else so_far


def _fault(request: pb.SetPresenceRequest) -> str:
    """Say what is wrong with a request, empty if nothing is."""
    if request.presence not in (pb.PRESENCE_HERE, pb.PRESENCE_AWAY):
        return "presence is neither here nor away"
    if request.HasField("seconds") and not 0 < request.seconds <= LONGEST_AWAY:
        return f"seconds must be 1 to {LONGEST_AWAY}"
    if len(request.passphrase) > LONGEST:
        return f"no passphrase has more than {LONGEST} characters"
    return ""
