"""The gRPC port: what hooks ask on, and what watches the server."""
