"""The least a server made with grpc.aio does: it reads the request and allows it, always the same.

Started with the path to listen on; says `ready`, and ends when its standard
input does.  Nothing is judged, recorded or shown.
"""

import asyncio
import sys

import grpc

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


async def serve(path: str) -> None:
    """Serve until standard input ends."""
    server = grpc.aio.server()
    add_PermissionServiceServicer_to_server(_Port(), server)
    server.add_insecure_port(f"unix:{path}")
    await server.start()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    told_to_end = asyncio.Event()
    asyncio.get_running_loop().add_reader(sys.stdin, told_to_end.set)
    await told_to_end.wait()
    await server.stop(None)


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1]))
