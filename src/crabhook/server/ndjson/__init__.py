"""The harness bridge: hook inputs in envelopes, a JSON object a line, over a Unix socket.

docs/reference/ndjson.md is the protocol. Its requests wait in the same broker as those over gRPC.
"""
