"""Floor 4: the permission port, and the only place with a clock and tasks."""

import os

# gRPC's core writes its own remarks to standard error, which is the operator's
# screen; whoever wants to read them sets the variable.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
