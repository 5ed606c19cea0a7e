"""A server whose operator allows every card at once, without a record; run as a process.

`hooks` measures hooks, and no person is as quick as that. Started with its folder, which is also
its XDG_RUNTIME_DIR, so that hooks find its socket by themselves. It says `ready TLS-PORT HTTP-PORT`
on standard output, and after its standard input has ended `decided N delivered N`.
"""

import asyncio
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import trustme

from bench.process import Child, child, plain_environment, say
from crabhook.desk.commands import Decide
from crabhook.desk.updates import Desk, Update
from crabhook.model.actor import OWNER
from crabhook.model.card import Card, State
from crabhook.model.decision import Decision, Verdict
from crabhook.platforms import PLATFORMS
from crabhook.server.address import TcpAddress, Tls, Tokens, default_address, load_or_make
from crabhook.server.core.anonymous_intake import AnonymousIntake
from crabhook.server.core.local_desk import LocalDesk
from crabhook.server.core.parts import Parts
from crabhook.server.core.runner import Runner
from crabhook.server.grpc.listener import open_port
from crabhook.server.grpc.permission import PermissionPort
from crabhook.server.http.listener import NAMED, Opening, open_http
from crabhook.server.ndjson import bridge

_TOKEN, _CERTIFICATE, _KEY, _AUTHORITY = "token", "server.pem", "server.key", "ca.pem"
_BRIDGE = "ndjson.sock"
_WAIT = 3600.0  # seconds; the server's own default


@dataclass(frozen=True, slots=True)
class AllowingServer:
    """Such a server, while it runs, and every way to it.

    `environment` is what a hook needs to find its socket, which gRPC writes as `address`; `bridge`
    is the path of the harness bridge's socket. Beyond the socket clients show the token, and know
    the server by the certificate in `authority`.
    """

    process: Child
    folder: Path
    environment: Mapping[str, str]
    address: str
    bridge: str
    tls_port: int
    http_port: int
    token_file: str
    authority: str

    @property
    def authorization(self) -> str:
        """What HTTP clients show in the header `Authorization`."""
        return f"Bearer {Path(self.token_file).read_text(encoding='ascii').strip()}"

    def decided(self) -> tuple[int, int]:
        """End it; return how many calls its operator decided, and how many replies arrived."""
        self.process.end()
        decided, _, delivered = self.process.line("decided")
        return int(decided), int(delivered)


@contextmanager
def allowing_server() -> Iterator[AllowingServer]:
    """Start a server and end it with the context; nothing of it is left."""
    with TemporaryDirectory(prefix="bench-", dir="/tmp") as name:
        folder = Path(name)
        _certify(folder)
        environment = plain_environment() | {"XDG_RUNTIME_DIR": name}
        with child("bench.allowing", name, environment=environment) as process:
            tls_port, http_port = map(int, process.line("ready"))
            yield AllowingServer(
                process=process,
                folder=folder,
                environment=environment,
                address=f"unix:{folder}/crabhook/crabhook.sock",
                bridge=str(folder / _BRIDGE),
                tls_port=tls_port,
                http_port=http_port,
                token_file=str(folder / _TOKEN),
                authority=str(folder / _AUTHORITY),
            )


def _certify(folder: Path) -> None:
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1")
    authority.cert_pem.write_to_path(folder / _AUTHORITY)
    certificate.private_key_pem.write_to_path(folder / _KEY)
    for pem in certificate.cert_chain_pems:
        pem.write_to_path(folder / _CERTIFICATE, append=True)


class _PromptOperator:
    """Allows every card when the desk's loop next turns."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.decided = 0
        self.delivered = 0
        desk.subscribe(self._on_news)

    def _on_news(self, update: Update) -> None:
        card = update.news
        if not isinstance(card, Card):
            return
        if card.state is State.WAITING:
            asyncio.get_running_loop().call_soon(self._allow, card.number, card.revision)
        elif card.delivered:
            self.delivered += 1

    def _allow(self, number: int, revision: int) -> None:
        self._desk.submit(Decide(number, revision, Decision(Verdict.ALLOW)))
        self.decided += 1


async def _serve(folder: Path) -> None:
    """Serve every way there is until standard input ends: socket, TLS, harness bridge, HTTP."""
    runner = Runner(Parts(PLATFORMS))
    operator = _PromptOperator(LocalDesk(runner, OWNER))
    token = load_or_make(folder / _TOKEN)
    service = PermissionPort(runner, wait=_WAIT, tokens=Tokens(token))
    harness = AnonymousIntake(runner, wait=_WAIT, named=bridge.NAMED)
    posted = AnonymousIntake(runner, wait=_WAIT, named=NAMED)
    addresses = (default_address(), TcpAddress("127.0.0.1", 0))
    async with (
        open_port(service, addresses, Tls(folder / _CERTIFICATE, folder / _KEY)) as bound,
        bridge.open_bridge(harness, f"unix:{folder / _BRIDGE}"),
        open_http(Opening("127.0.0.1:0", Tokens(token)), runner, posted) as http,
    ):
        say("ready", *(str(place).rpartition(":")[2] for place in (bound[1], http)))
        input_ended = asyncio.Event()
        asyncio.get_running_loop().add_reader(sys.stdin, input_ended.set)
        await input_ended.wait()
        asyncio.get_running_loop().remove_reader(sys.stdin)
        runner.close()
    say("decided", operator.decided, "delivered", operator.delivered)


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1])))
