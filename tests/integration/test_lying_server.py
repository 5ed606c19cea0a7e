"""A strict hook as an agent starts it, against a server that lies on the real wire."""

import json
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from crabhook.v1 import permission_pb2 as pb
from tests.support.hostile_answers import ALLOW, ANN, ATTACKS, BOB, TEAM, allowed
from tests.support.rows import every_row
from tests.support.signing_people import TWO
from tests.unit.hook.peers import Operator, run_hook, serving, short_folder, start_hook

pytestmark = pytest.mark.process

CHOSEN = (
    *("nobody signed", "another input was shown", "an earlier invocation", "another stdout"),
    *("another stderr", "another exit code", "a truncated quorum", "a quorum of one person"),
    *(
        "a rule's people left out",
        "one person for two groups",
        "a rule's people left out of one list",
    ),
    *("fewer people than were signed", "other people than were signed"),
    *("a person who left", "a revoked device", "a viewer", "a software key", "an older team file"),
    *("a passkey that verified nobody", "a newer team file that has revoked"),
)


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as path:
        yield path


def hook(folder: Path, *options: str) -> subprocess.CompletedProcess[bytes]:
    return run_hook(f"--server=unix:{folder}/s", *TEAM.options(folder / "team", *options))


@every_row("name", CHOSEN)
def test_no_lie_of_a_server_becomes_an_allow(name: str) -> None:
    attack = ATTACKS[name]
    with short_folder() as folder:
        (folder / "team").write_bytes(attack.content())
        operator = Operator(lambda request, _: attack.answer(request))
        with serving(operator, f"unix:{folder}/s"):
            done = hook(folder, *attack.options, "--when-unsigned=deny")
        answer = json.loads(done.stdout)["hookSpecificOutput"]
        assert answer["permissionDecision"] == "deny"
        assert attack.why in done.stderr.decode()
        assert (done.returncode, operator.confirmed) == (0, [])


def test_what_two_people_signed_while_the_hook_waited_is_printed_and_confirmed(
    folder: Path,
) -> None:
    def answer(
        request: pb.PermissionRequest, context: grpc.ServicerContext
    ) -> pb.PermissionResponse:
        operator.hold(context)
        response = allowed(request, ANN, BOB, kind="passkey", terms=TWO)
        response.confirm = True
        return response

    operator = Operator(answer)
    with serving(operator, f"unix:{folder}/s"):
        options = TEAM.options(folder / "team", "--need=2")
        with start_hook(f"--server=unix:{folder}/s", *options) as waiting:
            assert waiting.stdin is not None
            waiting.stdin.write(b'{"hook_event_name": "PreToolUse"}')
            waiting.stdin.close()
            waiting.stdin = None
            assert operator.accepted.acquire(timeout=60)
            operator.released.set()
            stdout, stderr = waiting.communicate(timeout=60)
    assert (stdout, stderr, waiting.returncode) == (ALLOW, b"", 0)
    assert len(operator.confirmed) == 1
    (request,) = operator.requests
    assert request.strict.team_id.hex() == TEAM.team.id
    assert request.strict.need == 2


def test_a_list_of_servers_is_asked_for_the_same_signatures(folder: Path) -> None:
    operator = Operator(lambda request, _: allowed(request, ANN))
    with serving(operator, f"unix:{folder}/s"):
        servers = f"--server=unix:{folder}/none,unix:{folder}/s"
        done = run_hook(servers, *TEAM.options(folder / "team"))
        assert done.stdout == ALLOW
        operator.answer = lambda request, _: allowed(request)
        assert run_hook(servers, *TEAM.options(folder / "team")).stdout == b""


def test_a_swapped_team_file_ends_the_hook_before_a_person_is_bothered_for_long(
    folder: Path,
) -> None:
    (folder / "team").write_bytes(ATTACKS["another team's file"].content())
    left = threading.Event()

    def answer(
        request: pb.PermissionRequest, context: grpc.ServicerContext
    ) -> pb.PermissionResponse:
        context.add_callback(left.set)
        operator.hold(context)
        return allowed(request, ANN)

    operator = Operator(answer)
    with serving(operator, f"unix:{folder}/s"):
        began = time.monotonic()
        done = hook(folder, "--when-unsigned=deny")
        assert time.monotonic() - began < 30
        assert b"has not signed it" in done.stderr
        assert b'"deny"' in done.stdout
        assert left.wait(60)
