"""The proof: the real agent does what our server allows, and not what it denies.

It runs in its own folder, with its own home, rules, server and hooks. A scripted model has two
commands run in turn.
"""

import json
import os
import shlex
import socket
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Self

from crabhook.datatypes import frozen
from crabhook.doctor.facts import Case
from crabhook.doctor.finding import Finding, make_finding
from crabhook.doctor.processes import ProgramError, ask, end, run
from crabhook.hook import Options
from crabhook.install.program import own_command
from crabhook.platforms import HOOKED
from crabhook.platforms.installation import Transport
from crabhook.platforms.interface import ModelAnswer, ScriptedSession, Turn

ALLOWED, DENIED = "allowed-by-crabhook-doctor", "denied-by-crabhook-doctor"
"""The files that the agent is to make: one may be made, the other may not."""

REASON = "crabhook doctor has denied this, to prove that it can"

RULES = f"""\
[[rule]]
verdict = "allow"
match = "Bash(touch {ALLOWED})"

[[rule]]
verdict = "deny"
match = "Bash(touch {DENIED})"
note = "{REASON}"
"""

WHERE = "/tmp"  # noqa: S108 - made for us alone; elsewhere a socket's path may be too long
_BEGINS = 20.0  # seconds for the server to listen
_INSTALLS = 20.0

_LARGEST = 32 << 20  # bytes of a request
_MISSING = ModelAnswer('{"error": {"type": "not_found_error", "message": "not here"}}')

WITHIN = 60.0  # seconds for the whole proof

COMMANDS = tuple(f"touch {name}" for name in (ALLOWED, DENIED))


@frozen
class Stage:
    """A folder for the proof; `environment` is for all its programs."""

    folder: Path

    @property
    def project(self) -> Path:
        """Where the agent works."""
        return self.folder / "project"

    @property
    def server(self) -> str:
        """The server's address."""
        return f"unix:{self.folder}/s"

    @property
    def environment(self) -> Mapping[str, str]:
        """Nothing of the user's but where programs are, and where Python finds us."""
        own = {
            "HOME": str(self.folder),
            "TMPDIR": str(self.folder / "tmp"),
            "XDG_RUNTIME_DIR": str(self.folder),
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
        }
        path = os.environ.get("PYTHONPATH")
        return own | {"PYTHONPATH": path} if path else own

    def write(self, name: str, content: str | Mapping[str, object]) -> None:
        """Write a file of the home: a text, or members that are added to a JSON file."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not isinstance(content, str):
            there = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
            content = json.dumps({**there, **content})
        path.write_text(content, encoding="utf-8")


@contextmanager
def stage(agent: str) -> Iterator[Stage]:
    """Start server and hooks for an agent, and remove all at the end; raises ProgramError."""
    with TemporaryDirectory(prefix="crabhook-live-", dir=WHERE, ignore_cleanup_errors=True) as name:
        house = Stage(Path(name))
        for folder in (house.project, house.folder / "tmp"):
            folder.mkdir()
        house.write(".config/crabhook/rules.toml", RULES)
        here = agent in HOOKED
        sent = here and Transport.COMMAND not in HOOKED[agent].settings.transports
        address = f"127.0.0.1:{_free_port()}" if sent else ""
        with _serving(house, address):
            words = ["install", agent, "--gate", "--fail-closed", "--server", house.server]
            words += ["--url", f"http://{address}"] if address else []
            done = run(own_command(*words), seconds=_INSTALLS, environment=house.environment)
            if done.code:
                raise ProgramError(f"the hooks could not be installed: {done.first_words}")
            yield house


def _free_port() -> int:
    """Return a port of the loopback where nobody listens at the moment."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


@contextmanager
def _serving(house: Stage, address: str = "") -> Iterator[None]:
    """Have a server run; `address`: where it takes hooks by HTTP too."""
    words = ["serve", "--headless", "--otherwise", "deny", "--listen", house.server]
    words += ["--http", address] if address else []
    log = house.folder / "serve.log"
    with log.open("wb") as file:
        process = subprocess.Popen(  # noqa: S603 - ourselves
            own_command(*words),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            env=dict(house.environment),
            start_new_session=True,
        )
        try:
            _await(house, process, log)
            yield
        finally:
            end(process)


def _await(house: Stage, process: "subprocess.Popen[bytes]", log: Path) -> None:
    options = Options()
    options.server, until = house.server, monotonic() + _BEGINS
    while not ask(options).there:
        if process.poll() is not None or monotonic() > until:
            last_line = log.read_text("utf-8", "replace").strip().splitlines()[-1:]
            raise ProgramError(
                f"our own server did not begin: {' '.join(last_line) or 'no word why'}"
            )
        sleep(0.05)


class ScriptedModel(ThreadingHTTPServer):
    """The model of an agent; it answers inside `with`.

    The n-th request runs the n-th of `commands`. `asked` counts requests, `heard` has what they
    told of calls, oldest first.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(self, agent: ScriptedSession, commands: Sequence[str]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.agent = agent
        self.asked = 0
        self.heard: tuple[str, ...] = ()
        self._commands = commands
        self._lock = threading.Lock()

    @property
    def address(self) -> str:
        """The base URL that the agent is given."""
        return f"http://127.0.0.1:{self.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def handle_error(self, *_: object) -> None:
        """Say nothing: an agent that was ended leaves its connections."""

    def say(self, heard: Sequence[str]) -> Turn:
        """Return what comes next in the conversation."""
        with self._lock:
            place, self.asked, self.heard = self.asked, self.asked + 1, tuple(heard)
        return Turn(place, self._commands[place] if place < len(self._commands) else None)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ScriptedModel

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Have nothing to look at."""
        self._send(404, _MISSING)

    do_HEAD = do_GET  # noqa: N815 - the name that http.server looks for

    def do_POST(self) -> None:
        """Answer a request to the model."""
        size = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(min(size, _LARGEST)) or b"{}")
        server = self.server
        answer = server.agent.answer(self.path.partition("?")[0], body, server.say)
        self._send(404 if answer is None else 200, answer or _MISSING)

    def _send(self, status: int, answer: ModelAnswer) -> None:
        body = answer.text.encode()
        self.send_response(status)
        self.send_header("Content-Type", answer.kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def prove(case: Case) -> Finding:
    """Start the agent and see that an allowed call happens, a denied call not, and it hears why."""
    return replace(_proven(case), agent=case.agent.name)


def _proven(case: Case) -> Finding:
    if case.program is None:
        return make_finding("live.denial", "absent", case=case)
    agent, until = case.agent.scripted_session, monotonic() + WITHIN
    try:
        with stage(case.agent.name) as house, ScriptedModel(agent, COMMANDS) as model:
            for name, content in agent.home(house.project, model.address).items():
                house.write(name, content)
            address = model.address
            own = {key: value.format(model=address) for key, value in agent.environment.items()}
            ran = run(
                (str(case.program), *agent.command, "Make two files."),
                seconds=max(1.0, until - monotonic()),
                environment={**house.environment, **own},
                folder=house.project,
            )
            wrong = list(_wrong(house, model))
    except ProgramError as error:
        return make_finding("live.denial", "failed", error=error)
    if model.asked < (wanted := len(COMMANDS) + 1):
        return make_finding("live.denial", "ended", case=case, model=model, wanted=wanted, ran=ran)
    if wrong:
        return make_finding("live.denial", "wrong", wrong="; ".join(wrong), case=case)
    return make_finding("live.denial", "fine", case=case, reason=REASON)


def _wrong(house: Stage, model: ScriptedModel) -> Iterator[str]:
    """Yield how the agent disobeyed."""
    heard = model.heard[-1] if model.heard else ""
    if (house.project / DENIED).exists():
        yield "a call was made that the server had denied"
    if REASON not in heard:
        yield f"the model was not told why: {shlex.quote(heard[:200])}"
    if not (house.project / ALLOWED).exists():
        yield "a call was not made that it had allowed"
