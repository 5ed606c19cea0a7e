"""A machine's own token on the agents' port: looked at on every call, over the team's own TLS."""

import asyncio
import time
from pathlib import Path

from crabhook.doctor.processes import ServerAnswer, ask
from crabhook.hook import Options
from crabhook.server.address import TcpAddress, Tls, Tokens
from crabhook.server.grpc.listener import open_port
from crabhook.server.grpc.permission import PermissionPort
from crabhook.team.edit_team import with_machine, without_machine
from crabhook.team.membership import Machine, digest_of
from tests.support.runners import bare_runner
from tests.support.team import Founded, founded


def joined(team: Founded, name: str) -> str:
    token = f"token of {name}"
    machine = Machine(name, digest_of(token), int(team.now))
    team.change(lambda before: with_machine(before, machine))
    return token


async def knock(options: Options, token: str) -> ServerAnswer:
    shown = Options()
    shown.server, shown.tls_ca, shown.token = options.server, options.tls_ca, token
    return await asyncio.to_thread(ask, shown)


async def test_a_hook_with_its_machines_token_is_taken_in_until_that_is_revoked(
    tmp_path: Path,
) -> None:
    team = founded(tmp_path / "team", time.time())
    one, other = joined(team, "build1"), joined(team, "build2")
    reader = team.reader()
    tokens = Tokens("the server's own", reader.machine_of)
    service = PermissionPort(bare_runner(), wait=60.0, tokens=tokens)
    tls = Tls(team.folder.server, team.folder.server_key)
    async with open_port(service, [TcpAddress("127.0.0.1", 0)], tls) as (bound,):
        there = Options()
        there.server, there.tls_ca = str(bound), str(team.folder.authority)
        for token in (one, other, "the server's own"):
            assert (await knock(there, token)).there
        assert (await knock(there, "token of nobody")).no_token
        team.change(lambda before: without_machine(before, "build1", int(team.now)))
        assert (await knock(there, one)).no_token
        assert (await knock(there, other)).there
        team.folder.team.write_bytes(b"spoilt")
        assert (await knock(there, other)).no_token
        assert (await knock(there, "the server's own")).there
