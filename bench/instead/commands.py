"""What one would use instead, as commands; some ask our own server, some ask nobody.

The forwarder and curl are answered by the same operator as our own hook is,
through the harness bridge and the HTTP door: their figures hold a true round
trip.  The two scripts decide by a pattern of their own.
"""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from shutil import which

from bench import goals
from bench.candidate import Candidate, Command, LeftOut
from bench.events import DECIDED_EVENT, new_call
from bench.serving import Server

HERE = Path(__file__).parent
_SHELL = "/bin/sh"


def instead(server: Server) -> Sequence[Candidate | LeftOut]:
    """Return all of them; one whose program is not on this machine is left out."""
    wanted: Sequence[tuple[str, str, Callable[[str], Command]]] = (
        (goals.NAIVE, sys.executable, partial(_naive, server)),
        (goals.NODE, "node", partial(_forwarder, server)),
        (goals.CURL, "curl", partial(_curl, server)),
        (goals.JQ, "jq", lambda _: (_SHELL, str(HERE / "pattern.sh"))),
        (goals.UV, "uv", partial(_uv, server)),
    )
    return [_candidate(*one) for one in wanted]


def _candidate(name: str, program: str, command: Callable[[str], Command]) -> Candidate | LeftOut:
    found = where(program)
    if found is None:
        return LeftOut(name, f"there is no {program} here")
    return Candidate(name, command(found), partial(new_call, DECIDED_EVENT), "allow")


def where(program: str) -> str | None:
    """Return the program's path: that beside this interpreter, or else the first on the PATH."""
    return which(program, path=str(Path(sys.executable).parent)) or which(program)


def _naive(server: Server, python: str) -> Command:
    return python, str(HERE.with_name("naive.py")), server.socket


def _forwarder(server: Server, node: str) -> Command:
    return node, str(HERE / "forwarder.js"), server.bridge


def _curl(server: Server, _: str) -> Command:
    """Return the line as it stands in an agent's settings: a shell starts it.

    Nothing of this machine's curl settings or proxies counts.
    """
    headers = f"-H 'Content-Type: application/json' -H @{server.header_file}"
    return _SHELL, "-c", f"curl -q -sf --noproxy '*' --data-binary @- {headers} {server.url}"


def _uv(server: Server, uv: str) -> Command:
    """Return it offline, with a cache of its own, which the round that does not count fills."""
    ours = ("--offline", "--no-config", "--cache-dir", str(server.folder / "uv"))
    python = ("--no-python-downloads", "--python", sys.executable)
    return uv, "run", "--quiet", *ours, *python, "--script", str(HERE / "pattern.py")
