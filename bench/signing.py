"""What a strict hook costs beside the same hook that checks nothing, and beside starting Python.

A server of our own answers at once, or after a person's moment to think. It signs by a desk's key
or a passkey's. Run as a process with a folder it is that server, and says when it answers.
"""

import asyncio
import hashlib
import json
import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import grpc
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from bench.figures import Goal, Measured, ms, ms_quartiles, paired_ratios, spread, table
from bench.home import installed_command
from bench.inputs import DECIDED_EVENT, new_call, sized
from bench.process import BenchError, Child, child, plain_environment, run_whole, say
from crabhook.hook.statement import SignedVote, of_call, of_reply, statement, ticket_digest
from crabhook.install import program
from crabhook.install.strict import authority_in
from crabhook.model.actor import Role
from crabhook.model.card import Stance
from crabhook.platforms.installation import Installation, StrictHooks
from crabhook.team.certificates import Authority, new_key, signing_key_of
from crabhook.team.membership import Device, Member, Passkey, Team, fingerprint_of
from crabhook.team.passkeys import to_text
from crabhook.team.team_file import written
from crabhook.v1 import permission_pb2 as pb
from crabhook.v1.permission_pb2_grpc import (
    PermissionServiceServicer,
    add_PermissionServiceServicer_to_server,
)

ROUNDS = sized(60, 2)
_THINKING = 0.1  # seconds: longer than a hook works ahead
_FAR = 1 << 40  # seconds since 1970
_HOST = "desk.example"
_STDOUT = (
    b'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow",'
    b'"permissionDecisionReason":"looked at"}}\n'
)
NOTHING = "python -c pass"
PLAIN, DESK, PASSKEY = "plain hook", "strict hook, a desk's key", "strict hook, a passkey"
WHOLE = Goal(f"{DESK} / {NOTHING}, without the thinking", 1.35)
LATER = Goal(f"{DESK} - {PLAIN}, answer to end", 1.5, "ms")
LATER_PASSKEY = Goal(f"{PASSKEY} - {PLAIN}, answer to end", 1.5, "ms")
GOALS = (WHOLE, LATER, LATER_PASSKEY)


@dataclass(frozen=True, slots=True)
class _Took:
    """Seconds of a hook: whole but for the thinking, and from the answer to its end."""

    whole: float
    later: float


def measure() -> Measured:
    """Run every hook in every round, in an order drawn anew."""
    program.compile_hook()
    with TemporaryDirectory(prefix="bench-", dir="/tmp") as name:
        folder = Path(name)
        with child("bench.signing", name) as server:
            server.line("ready")
            authority = (folder / "authority").read_text()
            strict = StrictHooks(str(folder / "team"), authority, 1)
            acts: dict[str, Callable[[], _Took]] = {NOTHING: _nothing}
            for kind, how in ((PLAIN, None), (DESK, strict), (PASSKEY, strict)):
                for thinking in (False, True):
                    address = folder / f"{'passkey' if kind == PASSKEY else 'desk'}-{thinking:d}"
                    acts[_named(kind, thinking=thinking)] = _hook(server, address, how)
            took: dict[str, list[_Took]] = {name: [] for name in acts}
            for number in range(ROUNDS + 2):
                for act in random.sample(list(acts), len(acts)):
                    run = acts[act]()
                    if number > 1:
                        took[act].append(run)
    figures = {
        WHOLE: _ratio(took, _named(DESK, thinking=True)),
        LATER: _later(took, DESK),
        LATER_PASSKEY: _later(took, PASSKEY),
    }
    return Measured(_table_of(took), figures)


def _named(kind: str, *, thinking: bool) -> str:
    return f"{kind}, answered {'later' if thinking else 'at once'}"


def _nothing() -> _Took:
    run = run_whole((sys.executable, "-c", "pass"), b"", plain_environment())
    return _Took(run.wall, 0)


def _hook(server: Child, address: Path, strict: StrictHooks | None) -> Callable[[], _Took]:
    """Return what runs a hook that asks at an address, whose server says when it answers."""
    how = Installation(
        program.interpreter(), program.stub(), Stance.GATE, server=f"unix:{address}", strict=strict
    )
    command, environment = installed_command("PreToolUse", how), plain_environment()

    def run() -> _Took:
        done = run_whole(command, new_call(DECIDED_EVENT), environment)
        ended = perf_counter()  # of the same clock in every process
        if done.stdout != _STDOUT or done.stderr:
            raise BenchError(f"the hook printed {done.stdout!r} {done.stderr!r}")
        thought, answered = map(float, server.line("answered"))
        return _Took(done.wall - thought, ended - answered)

    return run


def _ratio(took: dict[str, list[_Took]], name: str) -> float:
    whole = [run.whole for run in took[name]]
    return spread(paired_ratios(whole, [run.whole for run in took[NOTHING]])).median


def _later(took: dict[str, list[_Took]], kind: str) -> float:
    pairs = zip(took[_named(kind, thinking=True)], took[_named(PLAIN, thinking=True)], strict=True)
    return spread([strict.later - plain.later for strict, plain in pairs]).median * 1e3


def _table_of(took: dict[str, list[_Took]]) -> str:
    rows = []
    for name, runs in took.items():
        whole, later = spread([run.whole for run in runs]), spread([run.later for run in runs])
        ratio = f"{_ratio(took, name):.3f}"
        rows.append((name, ms(whole.median), ms_quartiles(whole), ratio, ms(later.median)))
    heads = ("hook", "whole ms", "quartiles", f"/ {NOTHING}", "answer to end ms")
    return table(heads, rows)


class _Signers:
    """A person with a desk and a passkey, in a team of one."""

    def __init__(self, folder: Path) -> None:
        authority = Authority.new("bench", time.time())
        self._desk, self._phone = signing_key_of(new_key()), new_key()
        signing = self._desk.public_key().public_bytes_raw().hex()
        point = self._phone.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        cose = bytes.fromhex("a5010203262001215820") + point[1:33]
        cose += bytes.fromhex("225820") + point[33:]
        device = Device("d-1", "laptop", "", 0, _FAR, signing=signing)
        passkey = Passkey("p-1", "", to_text(cose), _HOST, "phone", 0, _FAR)
        ann = Member("o-1", "ann", Role.DECIDER, devices=(device,), passkeys=(passkey,))
        team = Team(fingerprint_of(authority.certificate), "bench", 1, (ann,))
        (folder / "team").write_bytes(written(team, authority))
        (folder / "authority").write_text(authority_in(authority.certificate))

    def sign(self, request: pb.PermissionRequest, kind: str) -> pb.DecisionSignature:
        """Sign an allow of the request as a desk or a page does."""
        vote = SignedVote(
            verdict="allow",
            card=1,
            terms=b"",
            operator="o-1",
            key="d-1" if kind == "desk" else "p-1",
            signed_at_ms=round(time.time() * 1000),
        )
        call = of_call(
            team=request.strict.team_id,
            request_id=request.request_id,
            ticket=ticket_digest(request.secret),
            platform=request.platform,
            stance=request.stance,
            payload=hashlib.sha256(request.payload).digest(),
        )
        text = statement(call, of_reply(_STDOUT, b"", 0), vote)
        made = pb.DecisionSignature(
            operator_id=vote.operator,
            key_id=vote.key,
            signed_at_ms=vote.signed_at_ms,
            verdict=vote.verdict,
            card=vote.card,
            terms=vote.terms,
        )
        if kind == "desk":
            made.kind = pb.SIGNATURE_KIND_DESK
            made.signature = self._desk.sign(text)
            return made
        made.kind = pb.SIGNATURE_KIND_PASSKEY
        made.client_data_json = json.dumps(
            {
                "type": "webauthn.get",
                "challenge": to_text(hashlib.sha256(text).digest()),
                "origin": f"https://{_HOST}",
                "crossOrigin": False,
            }
        ).encode()
        made.authenticator_data = hashlib.sha256(_HOST.encode()).digest() + b"\x05\0\0\0\0"
        signed = made.authenticator_data + hashlib.sha256(made.client_data_json).digest()
        made.signature = self._phone.sign(signed, ec.ECDSA(SHA256()))
        return made


class _SigningPort(PermissionServiceServicer):
    def __init__(self, signers: _Signers, kind: str, thinking: float) -> None:
        self._signers, self._kind, self._thinking = signers, kind, thinking

    async def RequestPermission(  # noqa: N802 - the wire's name
        self, request: pb.PermissionRequest, context: "grpc.aio.ServicerContext[object, object]"
    ) -> pb.PermissionResponse:
        response = pb.PermissionResponse(reply=pb.Reply(stdout=_STDOUT))
        if request.HasField("strict"):
            response.signatures.append(self._signers.sign(request, self._kind))
        began = perf_counter()
        if self._thinking:
            await context.send_initial_metadata(())
            await asyncio.sleep(self._thinking)
        say("answered", perf_counter() - began, perf_counter())
        return response


async def _serve(folder: Path) -> None:
    signers, servers = _Signers(folder), []
    for kind in ("desk", "passkey"):
        for thinking in (False, True):
            server = grpc.aio.server()
            port = _SigningPort(signers, kind, _THINKING if thinking else 0)
            add_PermissionServiceServicer_to_server(port, server)  # type: ignore[no-untyped-call]
            server.add_insecure_port(f"unix:{folder}/{kind}-{thinking:d}")
            await server.start()
            servers.append(server)
    say("ready")
    input_ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(sys.stdin, input_ended.set)
    await input_ended.wait()
    await asyncio.gather(*(server.stop(None) for server in servers))


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1])))
