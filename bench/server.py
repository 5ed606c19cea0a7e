"""The real server, with an operator who decides at once; run as a process of its own.

Started with its folder as the argument and `XDG_RUNTIME_DIR` naming the same
one, so that hooks find its socket without being told.  It says on standard
output `ready PORT`, for a watched session `waits TIME` and `left TIME`
(monotonic nanoseconds, one clock for all processes of the machine), and after
its standard input has ended `decided N delivered N`.
"""

import asyncio
import sys
from pathlib import Path
from time import monotonic_ns

from bench.events import LEFT_WAITING, WATCHED
from crabhook.desk.commands import Decide
from crabhook.desk.updates import Desk, Update
from crabhook.model.actor import OWNER
from crabhook.model.card import Card, State
from crabhook.model.decision import Decision, Verdict
from crabhook.platforms import PLATFORMS
from crabhook.server.address import TcpAddress, Tls, Tokens, default_address, load_or_make
from crabhook.server.core.intake import AnonymousIntake
from crabhook.server.core.parts import Parts
from crabhook.server.core.runner import Runner
from crabhook.server.grpc.listener import open_port
from crabhook.server.grpc.permission import PermissionPort
from crabhook.server.http.listener import NAMED, Opening, open_http
from crabhook.server.ndjson import bridge

TOKEN, CERTIFICATE, KEY, AUTHORITY = "token", "server.pem", "server.key", "ca.pem"
BRIDGE = "ndjson.sock"
WAIT = 3600.0  # seconds; the server's own default


class PromptOperator:
    """Allows every card when the desk's loop next turns, but for the sessions left waiting."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.decided = 0
        self.delivered = 0
        desk.subscribe(self._on_news)

    def _on_news(self, update: Update) -> None:
        news = update.news
        if not isinstance(news, Card):
            return
        session = news.event.session
        if session.startswith(WATCHED):
            say("waits" if news.state is State.WAITING else "left", monotonic_ns())
        elif session.startswith(LEFT_WAITING):
            return
        elif news.state is State.WAITING:
            asyncio.get_running_loop().call_soon(self._allow, news.number, news.revision)
        elif news.delivered:
            self.delivered += 1

    def _allow(self, number: int, seen: int) -> None:
        self._desk.submit(Decide(number, seen, Decision(Verdict.ALLOW)))
        self.decided += 1


def say(*words: object) -> None:
    """Tell the process that started us."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


async def serve(folder: Path) -> None:
    """Serve every way there is until standard input ends.

    On the user's socket; with TLS on a port of loopback; on the harness
    bridge's socket; by HTTP.
    """
    runner = Runner(Parts(PLATFORMS))
    operator = PromptOperator(runner.desk(OWNER))
    token = load_or_make(folder / TOKEN)
    service = PermissionPort(runner, wait=WAIT, tokens=Tokens(token))
    intake = AnonymousIntake(runner, wait=WAIT, named=bridge.NAMED)
    way = AnonymousIntake(runner, wait=WAIT, named=NAMED)
    addresses = (default_address(), TcpAddress("127.0.0.1", 0))
    async with (
        open_port(service, addresses, Tls(folder / CERTIFICATE, folder / KEY)) as bound,
        bridge.open_bridge(intake, f"unix:{folder / BRIDGE}"),
        open_http(Opening("127.0.0.1:0", Tokens(token)), runner, way) as http,
    ):
        say("ready", *(str(place).rpartition(":")[2] for place in (bound[1], http)))
        told_to_end = asyncio.Event()
        asyncio.get_running_loop().add_reader(sys.stdin, told_to_end.set)
        await told_to_end.wait()
        asyncio.get_running_loop().remove_reader(sys.stdin)
        runner.close()
    say("decided", operator.decided, "delivered", operator.delivered)


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1])))
