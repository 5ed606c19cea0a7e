"""Proof that a person is there: a passphrase typed on the terminal, or an SSH key's signature.

The terminal is the only way to give a passphrase; with a key, `ssh-keygen` signs each command.
"""

import asyncio
import ctypes
import resource
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import grpc

from crabhook.cli.terminal import ask
from crabhook.hook.statement import NAMESPACE as DECISION
from crabhook.model.errors import CrabhookError
from crabhook.present.safe import safe
from crabhook.remote.desk import RemoteDesk
from crabhook.remote.signing import Signatory, StatementSigner
from crabhook.team.call_signature import (
    HEADER,
    NAMESPACE,
    WITHIN,
    Sign,
    SignedCall,
    bare,
    public_half,
)
from crabhook.team.certificates import (
    SHORTEST,
    CertificateError,
    WrongPassphraseError,
    device_in,
    fair,
    normal,
    opened,
    signing_key_of,
)
from crabhook.team.decision_signatures import DESK, SSH
from crabhook.team.desk_keys import Credentials, DeskFolder
from crabhook.team.membership import fingerprint_of
from crabhook.v1 import operator_pb2 as pb

if TYPE_CHECKING:
    _Interceptor: TypeAlias = grpc.aio.UnaryUnaryClientInterceptor[Any, Any]
else:  # at run time it takes no types
    _Interceptor = grpc.aio.UnaryUnaryClientInterceptor


TRIES = 3
NEW = f"Your new passphrase, {SHORTEST} characters or more: "
AGAIN = "The same again: "

T = TypeVar("T")


class PassphrasesError(CrabhookError):
    """Nobody typed the passphrase; nothing was changed."""


_SET_DUMPABLE = 4  # prctl's, of Linux alone


def unread_by_others() -> None:
    """Keep our memory from this user's other processes and core dumps, where the system can."""
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0)


def yours(team: str) -> str:
    """Return the prompt for the passphrase of a person's desk, and of a team that they founded."""
    return f"Your passphrase for the team {safe(team)}: "


def new_passphrase() -> str:
    """Return a passphrase that was typed twice the same, which is asked for three times at most."""
    unread_by_others()
    prompt = NEW
    for left in reversed(range(TRIES)):
        try:
            new = fair(ask(prompt))
            if normal(ask(AGAIN)) == new:
                return new
            why = "The two differ"
        except CertificateError as error:
            why = f"{str(error)[0].upper()}{str(error)[1:]}"
        prompt = f"{why} ({left} more). {NEW}"
    raise PassphrasesError(f"no passphrase was chosen in {TRIES} tries: nothing was changed")


def with_passphrase(prompt: str, opened: Callable[[str], T], why: str = "") -> T:
    """Return what a passphrase opens, which is asked for three times at most.

    `why` is a sentence, without its full stop, before the prompt.
    """
    unread_by_others()
    for left in reversed(range(TRIES)):
        try:
            return opened(ask(f"{why}. {prompt}" if why else prompt))
        except WrongPassphraseError:
            why = f"That is not it ({left} more)"
    raise PassphrasesError(f"{TRIES} wrong passphrases: nothing was changed")


_SIGN = ("ssh-keygen", "-Y", "sign", "-n")


def opening_keys(folder: DeskFolder, why: str = "") -> Credentials:
    """Return the keys that open gates, by signature or passphrase; the prompt begins with `why`."""
    key, closing = folder.signing_key(), folder.closing()
    if key is not None and closing is not None:
        sign_as = _decision_key(key)
        return closing._replace(sign=partial(_signed, key), sign_as=sign_as)
    return with_passphrase(yours(folder.facts().team), folder.opened, why)


def _decision_key(key: Path) -> tuple[str, int, Sign] | None:
    """Return the id, the kind and the signing of a key for decisions; None where it is gone."""
    if (public := public_half(key)) is None:
        return None
    return public.fingerprint, SSH, partial(_signed, key, purpose=DECISION)


async def _signed(key: Path, text: bytes, purpose: str = NAMESPACE) -> bytes:
    """Let ssh-keygen sign, by the ssh-agent or a key file; a key may ask its holder first."""
    sys.stderr.write(f"Touch or confirm the key {safe(str(key))} ...\n")
    try:
        signing = await asyncio.create_subprocess_exec(
            *(*_SIGN, purpose, "-f", str(key)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except OSError as error:
        raise CrabhookError(f"ssh-keygen cannot be run: {error.strerror}") from error
    try:
        made, complaint = await asyncio.wait_for(signing.communicate(text), WITHIN)
    except TimeoutError:
        raise CrabhookError(f"the key did not sign within {WITHIN:g} s: nothing was sent") from None
    finally:
        if signing.returncode is None:
            signing.kill()
            await signing.wait()
    if signing.returncode != 0:
        why = complaint.decode("utf-8", "replace").strip().rpartition("\n")[2]
        other = "To type the passphrase instead: `crabhook team keys use --none`"
        raise CrabhookError(f"the key did not sign ({why}), nothing was sent. {other}")
    return bare(made.decode("ascii", "replace"))


def signer_of(keys: Credentials) -> StatementSigner | None:
    """Return what signs decisions for strict hooks: a desk's own key, or an SSH key in its place.

    None where the keys only close gates, or the SSH key's public half is not there. Without a
    certificate nothing signs either: then no server takes the desk.
    """
    try:
        operator, device, closing = device_in(keys.certificate)
    except CertificateError:
        return None
    team = fingerprint_of(keys.authority)
    if keys.sign_as is not None:
        key, kind, sign_by = keys.sign_as
        return StatementSigner(Signatory(team, operator, key, kind), sign_by)
    if closing or keys.sign is not None:
        return None
    private = signing_key_of(opened(keys.key))

    async def sign(statement: bytes) -> bytes:
        return private.sign(statement)

    return StatementSigner(Signatory(team, operator, device, DESK), sign)


class Signing(_Interceptor):
    """Has each command signed on its way; `desk` returns the desk that gives it."""

    def __init__(self, keys: Credentials, sign: Sign, desk: Callable[[], RemoteDesk]) -> None:
        self._team = fingerprint_of(keys.authority)
        self._sign, self._desk = sign, desk

    async def intercept_unary_unary(self, go_on: Any, call: Any, request: Any) -> Any:  # noqa: ANN401 - gRPC's own
        """Add the signature of the request as it is sent, unless it has signatures of its own."""
        if getattr(request, "signed", ()):
            return await go_on(call, request)
        desk, at = self._desk(), self._desk().now()
        rpc = bytes(call.method).decode() if isinstance(call.method, bytes) else call.method
        about = (desk.hello.operator, desk.hello.challenge, rpc.rpartition("/")[2])
        signed = SignedCall(self._team, *about, request.SerializeToString(), at)
        shown = pb.SignedPresence(at=at, signature=await self._sign(signed.text))
        call.metadata.add(HEADER, shown.SerializeToString())
        return await go_on(call, request)
