"""The HTTP door: hooks that an agent sends itself, without a process of their own.

docs/how-to/http.md is for its users. Its requests wait in the same broker as those over gRPC. Only
`serve --http` imports this package: the import of aiohttp costs more than the rest of a start.
"""
