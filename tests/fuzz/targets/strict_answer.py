"""A hostile server's answer to a strict hook: it prints what a person signed, or nothing of it."""

from __future__ import annotations

from functools import cache

from crabhook.hook import Unanswered, read_options
from crabhook.hook.strict import StrictCheck
from crabhook.hook.wire import MalformedBytes, read_reply
from crabhook.v1 import permission_pb2 as pb
from tests.fuzz.folder import own_folder
from tests.fuzz.mutation import plain
from tests.fuzz.target import Target
from tests.support.hostile_answers import ALLOW, ANN, TEAM, allowed

PAYLOAD = b'{"hook_event_name":"PreToolUse","cwd":"/srv/shop"}'


def law(data: bytes) -> None:
    """An answer is printed as Ann signed it, is silent, or is refused in words."""
    check, _ = _checking()
    try:
        reply = check.checked(read_reply(data), data)
    except (Unanswered, MalformedBytes):
        return
    whole = reply.stdout, reply.stderr, reply.exit_code
    assert whole == (ALLOW, b"", 0) or (reply.stdout in (b"", b"{}\n") and whole[1:] == (b"", 0))


@cache
def _checking() -> tuple[StrictCheck, pb.PermissionRequest]:
    options = read_options(TEAM.options(own_folder() / "team-of-a-hook"), {})
    check = StrictCheck(options, "id", "secret", PAYLOAD)
    while check.work_ahead():
        pass
    strict = pb.StrictHook.FromString(check.wish)
    asked = pb.PermissionRequest(request_id="id", secret="secret", platform="claude")
    asked.payload, asked.stance = PAYLOAD, pb.STANCE_GATE
    asked.strict.CopyFrom(strict)
    return check, asked


@cache
def seeds() -> tuple[bytes, ...]:
    """What Ann signed by each of her keys, with and without a newer team file."""
    _, asked = _checking()
    signed = [allowed(asked, ANN, kind=kind) for kind in ("desk", "ssh", "passkey")]
    newer = allowed(asked, ANN)
    newer.team_file = TEAM.file(members=(ANN.member,), version=6)
    return *(each.SerializeToString() for each in signed), newer.SerializeToString()


TARGET = Target(law, plain.mutated, seeds, longest=8192)
