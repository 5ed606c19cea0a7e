"""The least a server made with grpc.aio does: it reads the request and allows it, always the same.

Run as a process with the path to listen on; it says `ready`, and ends when its standard input does.
Nothing is judged, recorded or shown.
"""

import asyncio
import sys

import grpc

from bench.process import say
from crabhook.v1.permission_pb2 import (
    ConfirmReplyRequest,
    ConfirmReplyResponse,
    PermissionRequest,
    PermissionResponse,
    Reply,
)
from crabhook.v1.permission_pb2_grpc import (
    PermissionServiceServicer,
    add_PermissionServiceServicer_to_server,
)

_ALLOWED = PermissionResponse(
    reply=Reply(stdout=b'{"hookSpecificOutput":{"permissionDecision":"allow"}}')
)


class _Port(PermissionServiceServicer):
    async def RequestPermission(  # noqa: N802 - the wire's name
        self, _request: PermissionRequest, _context: object
    ) -> PermissionResponse:
        return _ALLOWED

    async def ConfirmReply(  # noqa: N802 - the wire's name
        self, _request: ConfirmReplyRequest, _context: object
    ) -> ConfirmReplyResponse:
        return ConfirmReplyResponse()


async def _serve(path: str) -> None:
    server = grpc.aio.server()
    add_PermissionServiceServicer_to_server(_Port(), server)
    server.add_insecure_port(f"unix:{path}")
    await server.start()
    say("ready")
    input_ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(sys.stdin, input_ended.set)
    await input_ended.wait()
    await server.stop(None)


if __name__ == "__main__":
    asyncio.run(_serve(sys.argv[1]))
