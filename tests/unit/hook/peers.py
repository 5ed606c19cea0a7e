"""Who a hook meets in these tests: real gRPC servers, peers that speak anything, and agents."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent import futures
from contextlib import closing, contextmanager
from pathlib import Path

import grpc

import crabhook
from crabhook.hook import Options
from crabhook.hook.client import HookRequest
from crabhook.hook.wire import WireReply
from crabhook.v1 import permission_pb2 as pb
from crabhook.v1 import permission_pb2_grpc as rpc

STUB = str(Path(crabhook.__file__).parent / "hook" / "run.py")
INSTALLED = (sys.executable, "-I", "-S", STUB)
CONSOLE = (str(Path(sys.executable).parent / "crabhook"),)
PAYLOAD = b'{"hook_event_name": "PreToolUse", "tool_name": "Bash"}'

Answer = Callable[[pb.PermissionRequest, grpc.ServicerContext], pb.PermissionResponse]
Script = Callable[[socket.socket], None]


def replying(
    stdout: bytes = b"", stderr: bytes = b"", exit_code: int = 0, *, confirm: bool = False
) -> pb.PermissionResponse:
    reply = pb.Reply(stdout=stdout, stderr=stderr, exit_code=exit_code)
    return pb.PermissionResponse(reply=reply, confirm=confirm)


class Operator(rpc.PermissionServiceServicer):
    """A server that answers with a function of the test's, and keeps what it was asked."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.requests: list[pb.PermissionRequest] = []
        self.metadata: list[dict[str, str]] = []
        self.confirmed: list[pb.ConfirmReplyRequest] = []
        self.callers: list[str] = []
        self.on_confirm: Callable[[], object] = lambda: None
        self.accepted = threading.Semaphore(0)
        self.released = threading.Event()

    def RequestPermission(  # noqa: N802 - grpc's name
        self, request: pb.PermissionRequest, context: grpc.ServicerContext
    ) -> pb.PermissionResponse:
        self.requests.append(request)
        self._note(context)
        return self.answer(request, context)

    def ConfirmReply(  # noqa: N802 - grpc's name
        self, request: pb.ConfirmReplyRequest, context: grpc.ServicerContext
    ) -> pb.ConfirmReplyResponse:
        self.confirmed.append(request)
        self._note(context)
        self.on_confirm()
        return pb.ConfirmReplyResponse()

    def _note(self, context: grpc.ServicerContext) -> None:
        self.callers.append(context.peer())
        self.metadata.append({key: str(value) for key, value in context.invocation_metadata()})

    def hold(self, context: grpc.ServicerContext) -> None:
        """Accept, and wait until the test lets go."""
        context.send_initial_metadata(())
        self.accepted.release()
        self.released.wait(60)


@contextmanager
def serving(
    operator: Operator,
    address: str,
    *,
    options: Sequence[tuple[str, int]] = (),
    credentials: grpc.ServerCredentials | None = None,
) -> Iterator[tuple[grpc.Server, int]]:
    """Serve on `unix:PATH` or HOST:PORT; give the server and its port."""
    server = grpc.server(
        futures.ThreadPoolExecutor(8),
        options=[
            ("grpc.max_receive_message_length", -1),
            ("grpc.max_send_message_length", -1),
            ("grpc.so_reuseport", 0),
            *options,
        ],
    )
    rpc.add_PermissionServiceServicer_to_server(operator, server)
    if credentials:
        port = server.add_secure_port(address, credentials)
    else:
        port = server.add_insecure_port(address)
    server.start()
    try:
        yield server, port
    finally:
        operator.released.set()
        server.stop(0).wait(60)


@contextmanager
def short_folder() -> Iterator[Path]:
    """A folder whose name leaves room for a socket's."""
    folder = Path(tempfile.mkdtemp(prefix="cb-", dir="/tmp"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@contextmanager
def listening(path: Path, *scripts: Script, backlog: int = 8) -> Iterator[None]:
    """Play one script to each caller in turn, then stop listening."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(backlog)
        listener.settimeout(60)
        problems: list[BaseException] = []

        def play() -> None:
            try:
                for script in scripts:
                    line, _ = listener.accept()
                    with line:
                        line.settimeout(60)
                        script(line)
            except BaseException as problem:  # noqa: BLE001 - raised where the test sees it
                problems.append(problem)

        thread = threading.Thread(target=play)
        thread.start()
        yield
        thread.join(60)
        assert not thread.is_alive()
        if problems:
            raise problems[0]


def environment(**more: str) -> dict[str, str]:
    """What an agent's environment has, and nothing of crabhook's or of the test runner's."""
    return {"PATH": os.environ["PATH"], "LOGNAME": "ada", **more}


def ask(options: Options, payload: bytes = PAYLOAD) -> WireReply:
    """Ask with the hook's own client in this process, and leave the reply unconfirmed."""
    with closing(HookRequest(options)) as request:
        return request.ask(payload)


def start_hook(
    *options: str,
    door: Sequence[str] = INSTALLED,
    env: Mapping[str, str] | None = None,
    stdin: int = subprocess.PIPE,
    stdout: int = subprocess.PIPE,
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*door, *options],
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.PIPE,
        env=environment() if env is None else dict(env),
    )


def run_hook(
    *options: str,
    payload: bytes = PAYLOAD,
    door: Sequence[str] = INSTALLED,
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Be the agent: start the hook, hand it the payload, wait for it."""
    with start_hook(*options, door=door, env=env) as hook:
        try:
            stdout, stderr = hook.communicate(payload, timeout=60)
        finally:
            hook.kill()
    return subprocess.CompletedProcess(hook.args, hook.returncode, stdout, stderr)
