"""What runs beside us: programs, which are started for a look, and servers, which are knocked at.

A program is bounded in time, and gone afterwards with all it started. How long a hook call takes is
measured beside the bare start of the interpreter that runs it. Both are measured in turn, so that
other work of the machine meets both alike.

A server is asked whether it is there as a hook would ask. By the hook's own client the request
names a platform that no server knows. By HTTP its body is not JSON. A server looks at the token
first and at that next, and refuses before there is an event: nothing is recorded or decided. Where
the token is wrong, the desk shows that a hook came without it. The refusal of a platform names the
platforms that the server knows, and so tells whether it knows this agent.
"""

import os
import re
import signal
import ssl
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from enum import Enum
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from statistics import median
from time import monotonic, perf_counter
from urllib.parse import SplitResult, urlsplit

from crabhook.datatypes import frozen
from crabhook.hook import Options, Unanswered
from crabhook.hook.call import UNAVAILABLE
from crabhook.hook.client import HookRequest
from crabhook.model.errors import CrabhookError
from crabhook.model.marked_call import PROVES
from crabhook.platforms.sending import path_of

_TOLD = 300  # characters of what a program said that are repeated

_PAYLOAD = (
    b'{"session_id":"crabhook-doctor","cwd":"/","hook_event_name":"Notification",'
    b'"message":"crabhook doctor measures how long a hook takes"}'
)
_ONE = 10.0  # seconds one run may take
_ALL = 15.0  # seconds for all rounds
_FEWEST = 3


class ProgramError(CrabhookError):
    """A program that could not be run, or did not end in time."""


@frozen
class Ran:
    """What a program said, and its exit code."""

    code: int
    stdout: str
    stderr: str

    @property
    def first_words(self) -> str:
        """Its first line, on standard error if there is one."""
        return self._lines()[0][:_TOLD]

    @property
    def last_words(self) -> str:
        """Its last line, on standard error if there is one."""
        return self._lines()[-1][:_TOLD]

    def _lines(self) -> Sequence[str]:
        output = self.stderr.strip() or self.stdout.strip() or "it said nothing"
        return output.splitlines()


def run(
    command: Sequence[str],
    *,
    seconds: float,
    environment: Mapping[str, str],
    folder: Path | None = None,
    stdin: bytes = b"",
) -> Ran:
    """Run a program to its end; ProgramError if it fails or takes too long."""
    try:
        process = subprocess.Popen(  # noqa: S603 - what is looked at is what the agent would run
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=dict(environment),
            start_new_session=True,
        )
    except OSError as error:
        raise ProgramError(f"{command[0]} cannot be started: {error.strerror}") from error
    except ValueError as error:  # a null byte in a word
        raise ProgramError(f"{command[0]!r} cannot be started: {error}") from error
    with process:
        try:
            stdout, stderr = process.communicate(stdin, timeout=seconds)
        except subprocess.TimeoutExpired:
            raise ProgramError(f"{command[0]} did not end within {seconds:.0f} s") from None
        finally:
            end(process)
    return Ran(process.returncode, *(text.decode("utf-8", "replace") for text in (stdout, stderr)))


def end(process: "subprocess.Popen[bytes]") -> None:
    """Kill a program and all that it has started, as far as that is still in its session."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@frozen
class Speed:
    """The medians of both in milliseconds, the median of their ratio, and how often they ran."""

    hook: float
    python: float
    ratio: float
    rounds: int


def measure(
    hook: Sequence[str], python: str, environment: Mapping[str, str], folder: Path, *, rounds: int
) -> Speed:
    """Run the `hook` and a bare `python` in turn, at most `rounds` times; raises ProgramError."""
    bare = (python, "-I", "-S", "-c", "pass")
    took: list[tuple[float, float]] = []
    end = monotonic() + _ALL
    while len(took) < rounds and (len(took) < _FEWEST or monotonic() < end):
        times = []
        for command in (bare, hook):
            began = perf_counter()
            run(command, seconds=_ONE, environment=environment, folder=folder, stdin=_PAYLOAD)
            times.append(1000 * (perf_counter() - began))
        took.append((times[0], times[1]))
    return Speed(
        hook=median(call for _, call in took),
        python=median(start for start, _ in took),
        ratio=median(call / start for start, call in took),
        rounds=len(took),
    )


NO_PLATFORM = "crabhook-doctor"
"""A platform that no server has, and none will ever have."""

WITHIN = 6.0  # seconds, one more than the client gives a server to greet it

_REFUSED = 3  # gRPC's INVALID_ARGUMENT
_TOKEN = 16  # its UNAUTHENTICATED
_KNOWN = re.compile(r"known: ([\w, -]+)")

_NO_JSON, _REFUSES_TOKEN = 415, 401


@frozen
class ServerAnswer:
    """The result of asking a server.

    `there`: a crabhook server refused as it should. `no_token`: it wants another token. `waits`: it
    takes nothing in now, since another does. `kind` is the client's word for another failure, in
    `words`. `platforms`: those the server knows, if it says so; `proves`: it knows marked calls.
    `seconds`: the whole time.
    """

    there: bool
    no_token: bool
    waits: bool
    kind: str
    words: str
    platforms: tuple[str, ...]
    proves: bool
    seconds: float


def ask(options: Options) -> ServerAnswer:
    """Ask the server that a hook with these options would ask."""
    asking = copy(options)
    asking.platform, asking.wait, asking.reconnect = NO_PLATFORM, WITHIN, 0.0
    began, status, kind = monotonic(), None, "foreign"
    words = f"{options.server}: {Knock.FOREIGN.value}"
    try:
        HookRequest(asking).ask(b"")
    except Unanswered as error:
        status, kind, words = error.status, error.kind, str(error)
    platforms_known = _KNOWN.search(words) if status == _REFUSED else None
    return ServerAnswer(
        there=platforms_known is not None,
        no_token=status == _TOKEN,
        waits=status == UNAVAILABLE,
        kind=kind,
        words=words,
        platforms=tuple(platforms_known[1].split(", ")) if platforms_known else (),
        proves=status == _REFUSED and PROVES in words,
        seconds=monotonic() - began,
    )


class Knock(Enum):
    """What came of asking."""

    FITS = "it answers, and takes the token"
    NO_TOKEN = "it answers, and wants another token"  # noqa: S105 - no password
    FOREIGN = "it answers what no crabhook server answers"
    NOBODY = "nobody answers"


def trusting(ca: str) -> ssl.SSLContext:
    """Return what trusts the usual authorities, or the authority of the file `ca` if named."""
    return ssl.create_default_context(cafile=ca or None)


def _line(url: SplitResult, within: float, ca: str) -> HTTPConnection:
    """Return a connection to a URL, by TLS where its scheme says so, with the authority `ca`."""
    if url.scheme == "https":
        return HTTPSConnection(url.netloc, timeout=within, context=trusting(ca))
    return HTTPConnection(url.netloc, timeout=within)


def posted(url: str, payload: bytes, headers: Mapping[str, str], within: float) -> tuple[int, str]:
    """Send JSON to a server, as an agent does; return the status and the body.

    Raises ProgramError where no server answers within so many seconds.
    """
    try:
        parts = urlsplit(url)
        line = _line(parts, within, os.environ.get("NODE_EXTRA_CA_CERTS", ""))
        try:
            sent = {**headers, "Content-Type": "application/json"}
            line.request("POST", parts.path, payload, sent)
            answer = line.getresponse()
            return answer.status, answer.read().decode("utf-8", "replace")
        finally:
            line.close()
    except (OSError, HTTPException, ValueError) as error:
        raise ProgramError(f"{url}: {error}") from error


def knock(url: str, token: str, ca: str = "") -> tuple[Knock, str]:
    """Ask if a server at `url`, known by a file `ca`, takes the token; return what came of it."""
    try:
        parts = urlsplit(url)
        line = _line(parts, WITHIN, ca)
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "text/plain"}
        try:
            line.request("POST", parts.path or path_of("claude"), b"", headers)
            answer = line.getresponse()
            words = answer.read(200).decode("ascii", "replace").strip()
        finally:
            line.close()
    except (OSError, HTTPException, ValueError) as error:
        return Knock.NOBODY, str(error)
    if not words.startswith("crabhook: "):
        return Knock.FOREIGN, f"status {answer.status}"
    knocks = {_NO_JSON: Knock.FITS, _REFUSES_TOKEN: Knock.NO_TOKEN}
    return knocks.get(answer.status, Knock.FOREIGN), words.removeprefix("crabhook: ")
