"""An operator's server that can be killed: `python -m ... PATH hold|answer`.

Prints "ready", then a line with the id and the secret of each request it has
accepted. With `hold` it answers none of them, with `answer` all of them.
"""

import sys
import threading

import grpc

from crabhook.v1 import permission_pb2 as pb
from tests.unit.hook.peers import Operator, replying, serving


def main(path: str, manner: str) -> None:
    def answer(
        request: pb.PermissionRequest, context: grpc.ServicerContext
    ) -> pb.PermissionResponse:
        context.send_initial_metadata(())
        print(request.request_id, request.secret, flush=True)
        if manner == "hold":
            threading.Event().wait()
        return replying(b"decided")

    with serving(Operator(answer), f"unix:{path}"):
        print("ready", flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
