"""The HTTP door: hooks that an agent sends by itself, with no process started for them.

docs/how-to/http.md is for its users; what waits here waits with the same broker as
what comes over gRPC.  Only `serve --http` imports what is in here, since
aiohttp's import costs more than all else of a server's start.
"""
