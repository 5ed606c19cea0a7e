"""Presence shown by a person's SSH key: `ssh-keygen` has it sign each command of a desk."""

import asyncio
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import grpc

from crabhook.cli.team.asking import with_passphrase, yours
from crabhook.model.errors import CrabhookError
from crabhook.remote.desk import RemoteDesk
from crabhook.team.desk_keys import Credentials, DeskFolder
from crabhook.team.membership import fingerprint_of
from crabhook.team.presence import HEADER, NAMESPACE, WITHIN, Call, Sign, bare
from crabhook.ui.text.safe import safe
from crabhook.v1 import operator_pb2 as pb

if TYPE_CHECKING:
    _Interceptor: TypeAlias = grpc.aio.UnaryUnaryClientInterceptor[Any, Any]
else:  # at run time it takes no types
    _Interceptor = grpc.aio.UnaryUnaryClientInterceptor

_SIGN = ("ssh-keygen", "-Y", "sign", "-n", NAMESPACE, "-f")


class SigningError(CrabhookError):
    """The key did not sign; nothing was sent."""


def opening_keys(folder: DeskFolder, why: str = "") -> Credentials:
    """Return what opens gates, after a word of why: a key that signs, or what a passphrase opens.

    Raises CrabhookError.
    """
    key, closing = folder.signing_key(), folder.closing()
    if key is not None and closing is not None:
        return closing._replace(sign=partial(_signed, key))
    prompt = yours(folder.facts().team)
    return with_passphrase(f"{why}.  {prompt}" if why else prompt, folder.opened)


async def _signed(key: Path, text: bytes) -> bytes:
    """Have ssh-keygen sign, by the ssh-agent or the key's file; a key may ask its holder first."""
    sys.stderr.write(f"Touch or confirm the key {safe(str(key))} ...\n")
    try:
        signing = await asyncio.create_subprocess_exec(
            *_SIGN,
            str(key),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except OSError as error:
        raise SigningError(f"ssh-keygen cannot be run: {error.strerror}") from error
    try:
        made, complaint = await asyncio.wait_for(signing.communicate(text), WITHIN)
    except TimeoutError:
        raise SigningError(f"the key did not sign within {WITHIN:g} s; nothing was sent") from None
    finally:
        if signing.returncode is None:
            signing.kill()
            await signing.wait()
    if signing.returncode != 0:
        why = complaint.decode("utf-8", "replace").strip().rpartition("\n")[2]
        other = "to type the passphrase instead: crabhook desk use-key --none"
        raise SigningError(f"the key did not sign ({why}); nothing was sent; {other}")
    return bare(made.decode("ascii", "replace"))


class Signing(_Interceptor):
    """Has each command signed on its way; `desk` returns the desk that gives it."""

    def __init__(self, keys: Credentials, sign: Sign, desk: Callable[[], RemoteDesk]) -> None:
        self._team = fingerprint_of(keys.authority)
        self._sign, self._desk = sign, desk

    def __repr__(self) -> str:
        return f"<Signing for the team {self._team[:16]}>"

    async def intercept_unary_unary(self, go_on: Any, call: Any, request: Any) -> Any:  # noqa: ANN401 - gRPC's own
        """Add the signature of the request as it is sent."""
        desk, at = self._desk(), self._desk().now()
        rpc = bytes(call.method).decode() if isinstance(call.method, bytes) else call.method
        about = (desk.hello.operator, desk.hello.challenge, rpc.rpartition("/")[2])
        signed = Call(self._team, *about, request.SerializeToString(), at)
        shown = pb.SignedPresence(at=at, signature=await self._sign(signed.text))
        call.metadata.add(HEADER, shown.SerializeToString())
        return await go_on(call, request)
