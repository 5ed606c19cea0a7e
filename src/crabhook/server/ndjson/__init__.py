"""The harness bridge: hook inputs in envelopes, a JSON object a line, over a Unix socket.

docs/reference/ndjson.md is the protocol; what waits here waits with the same broker as
what comes over gRPC.
"""
