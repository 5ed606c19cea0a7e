"""The server: it takes requests in, has the clock, and carries out what the broker decides."""

import os

# gRPC's core writes its log to standard error, which is the operator's screen; a person who
# wants this log sets the variable.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
