"""The port of desks elsewhere: a gRPC server of its own, for devices of the team alone."""
