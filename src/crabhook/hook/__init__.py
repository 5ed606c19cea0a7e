"""The thin client: an island that costs about what starting Python costs.

It imports nothing of the house, and of the standard library only what a bare
interpreter has loaded already, with one exception made here, in one place: the
C module under `socket`, which costs a twentieth of `socket` itself.  Where a
Python has none, the public module does the same.
"""

try:
    import _socket as sockets
except ImportError:
    import socket as sockets  # type: ignore[no-redef]

__all__ = ["sockets"]
