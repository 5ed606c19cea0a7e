"""The client one would write first: grpcio, the generated stub, the reply printed, the receipt."""

import secrets
import sys

import grpc

from crabhook.v1.permission_pb2 import STANCE_GATE, ConfirmReplyRequest, PermissionRequest
from crabhook.v1.permission_pb2_grpc import PermissionServiceStub

if __name__ == "__main__":
    with grpc.insecure_channel(sys.argv[1]) as channel:
        service = PermissionServiceStub(channel)
        request_id, secret = secrets.token_hex(16), secrets.token_hex(16)
        response = service.RequestPermission(
            PermissionRequest(
                request_id=request_id,
                secret=secret,
                platform="claude",
                payload=sys.stdin.buffer.read(),
                stance=STANCE_GATE,
            )
        )
        sys.stdout.buffer.write(response.reply.stdout)
        sys.stdout.buffer.flush()
        if response.confirm:
            service.ConfirmReply(ConfirmReplyRequest(request_id=request_id, secret=secret))
    sys.exit(response.reply.exit_code)
