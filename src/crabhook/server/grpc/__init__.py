"""The gRPC port, for hooks and for health checks."""
