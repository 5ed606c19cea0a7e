"""The only way to serve gRPC: grpcio's server, which no request's path can end.

grpcio 1.85 decodes the path of a call of no registered method in the loop that serves all calls
(`_server_main_loop` of grpc/_cython/_cygrpc/aio/server.pyx.pxi). A path that is no UTF-8 raises
there, and the whole server ends. So such calls never reach that loop: a loop of our own takes them,
reads no byte of them, and answers UNIMPLEMENTED. Each method that we serve must be registered.

This uses names of grpcio that are not public. Where another grpcio lacks them, its own server
serves, and `crabhook.server.watch` opens a listener again that ended.
"""

import asyncio
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import grpc
    from grpc.aio import Server

    _INNER: Any
else:
    from grpc._cython import cygrpc as _INNER  # noqa: N812 - a name of a module of theirs
    from grpc.aio._server import Server
_NEEDED = ("_handle_rpc", "_schedule_rpc_coro", "_MethodResolver")
_METHODS = ("_make_request_call_future", "_request_call", "_request_registered_call", "is_running")


def _can_keep_paths_out() -> bool:
    """Whether this grpcio has the names that `_Inner` uses."""
    inner = getattr(_INNER, "AioServer", None)
    return all(hasattr(_INNER, name) for name in _NEEDED) and all(
        hasattr(inner, name) for name in _METHODS
    )


class _Inner(getattr(_INNER, "AioServer", object)):  # type: ignore[misc]  # it is written in Cython
    """grpcio's server, whose main loop gets the calls of registered methods alone."""

    taken = 0

    def _make_request_call_future(self, method: bytes | None) -> "asyncio.Future[Any]":
        """Return the next call of a registered method, or, for None, what never has one."""
        if method is None:
            return asyncio.get_running_loop().create_task(self._turn_away())
        return super()._make_request_call_future(method)  # type: ignore[no-any-return]

    async def _request_registered_call(self, method: bytes) -> Any:  # noqa: ANN401 - grpcio's
        state = await super()._request_registered_call(method)
        self.taken += 1
        return state

    async def _turn_away(self) -> None:
        """Answer calls of no registered method, until the server ends."""
        loop, nothing = asyncio.get_running_loop(), _INNER._MethodResolver([], {})  # noqa: SLF001 - see above
        # The loop itself keeps no task from the garbage collector.
        answers = set[asyncio.Task[None]]()
        while True:
            state = await self._request_call()
            answer = _INNER._handle_rpc("", nothing, (), state, loop, False)  # noqa: FBT003, SLF001 - see above
            task = loop.create_task(_INNER._schedule_rpc_coro(answer, state, loop, "no method"))  # noqa: SLF001 - see above
            answers.add(task)
            task.add_done_callback(answers.discard)


class _ClientsFaults(logging.Filter):
    """Keeps clients' faults from looking like the server's own.

    grpcio reports as an error, with a traceback, that a client did not take its reply. The client
    went, or its library takes no message of that length: the log says so in words. A client that
    waits for a receipt learns of it by the receipt. The library also writes out each header that is
    no UTF-8, before anybody asks for a token. A stranger could fill the log with bytes of their
    own.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to log the record, which may be changed."""
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, UnicodeDecodeError) and record.msg == _NO_UTF_8:
            return False
        if type(error).__name__ != "ExecuteBatchError":
            return True
        method = record.getMessage().rpartition("[")[2].rstrip("]")
        record.msg = "a client did not take the whole reply to its call of %s"
        record.args = (method,)
        record.levelno, record.levelname = logging.INFO, "INFO"
        record.exc_info = record.exc_text = None
        return logging.getLogger(record.name).isEnabledFor(logging.INFO)


_NO_UTF_8 = "Invalid encoding on %s"  # grpcio's words for a header's bytes

logging.getLogger("grpc._cython.cygrpc").addFilter(_ClientsFaults())


class CallServer(Server):
    """A gRPC server of registered methods.

    `options` are gRPC's; `most` is how many calls it takes at once, None for any number.
    """

    def __init__(self, options: Sequence[tuple[str, Any]], most: int | None = None) -> None:
        if not _can_keep_paths_out():
            theirs: Any = super().__init__
            theirs(None, [], [], options, most, None)
            return
        self._loop = _INNER.get_working_loop()
        self._server = _Inner(self._loop, None, [], [], tuple(options), most)

    @property
    def taken(self) -> int:
        """How many calls it has taken, where this grpcio shows that."""
        return getattr(self._server, "taken", 0)

    @property
    def running(self) -> bool:
        """Whether it was started, and has neither ended nor been stopped."""
        return bool(self._server.is_running())

    def serve(self, service: str, methods: dict[str, "grpc.RpcMethodHandler[Any, Any]"]) -> None:
        """Serve these methods, by their names, of a service."""
        ours: Any = self
        ours.add_registered_method_handlers(service, methods)
