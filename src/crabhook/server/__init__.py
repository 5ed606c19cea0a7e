"""Floor 4: the permission port, and the only place with a clock and tasks."""

import os

# gRPC's core writes its log to standard error, which is the operator's screen; a person who
# wants this log sets the variable.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
