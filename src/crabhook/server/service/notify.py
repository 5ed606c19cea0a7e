"""What a service manager is told: sd_notify(3), datagrams to the socket in NOTIFY_SOCKET.

Without that variable nobody is told anything, and nothing else differs.  A
datagram that cannot be sent is lost: whatever becomes of the manager, agents
are served.
"""

import asyncio
import logging
import socket
from collections.abc import Callable, MutableMapping
from contextlib import suppress
from os import getpid
from typing import Self

_LOG = logging.getLogger(__name__)

_LOOK_EVERY = 1.0  # seconds between two looks at what there is to say
_VARIABLES = ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID")


class ServiceManager:
    """Whoever started us and wants to know how we are.

    `address` is the manager's socket, a path or `@` and an abstract name;
    empty for nobody.  `watchdog` is after how many seconds of silence it ends
    us, 0 for never.
    """

    def __init__(self, address: str = "", watchdog: float = 0.0) -> None:
        self._address = f"\0{address[1:]}" if address.startswith("@") else address
        self.watchdog = watchdog if address else 0.0
        self._status = ""
        self._line: socket.socket | None = None
        if address:
            self._line = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            self._line.setblocking(False)  # noqa: FBT003 - the standard library's

    def __repr__(self) -> str:
        return f"<ServiceManager {self._address!r} watchdog={self.watchdog}>"

    @classmethod
    def named_in(cls, environment: MutableMapping[str, str]) -> Self:
        """Return the manager that the variables name, and take them out: they are for us alone."""
        address, usec, pid = (environment.pop(name, "") for name in _VARIABLES)
        if address and not address.startswith(("/", "@")):
            _LOG.warning("the service manager is not told: %s is no Unix socket", address)
            return cls()
        ours = pid in ("", str(getpid()))
        return cls(address, int(usec) / 1e6 if ours and usec.isdecimal() else 0.0)

    def ready(self, status: str) -> None:
        """Say that requests are taken from now on."""
        self._status = status
        self._say("READY=1", f"STATUS={_one_line(status)}")

    def stopping(self, status: str) -> None:
        """Say that no more requests are taken."""
        self._say("STOPPING=1", f"STATUS={_one_line(status)}")

    async def keep_told(self, status: Callable[[], str]) -> None:
        """Say how things are when that has changed, and that we live; until cancelled.

        It runs where requests are served, so that a server that serves nobody
        any more is silent.
        """
        loop = asyncio.get_running_loop()
        half = self.watchdog / 2 or float("inf")
        alive_at = loop.time() if self.watchdog else half
        while self._line is not None:
            await asyncio.sleep(min(_LOOK_EVERY, half))
            if (now := status()) != self._status:
                self._status = now
                self._say(f"STATUS={_one_line(now)}")
            if loop.time() >= alive_at:
                alive_at = loop.time() + half - min(_LOOK_EVERY, half)
                self._say("WATCHDOG=1")

    def close(self) -> None:
        """Say nothing more."""
        if self._line is not None:
            self._line.close()
            self._line = None

    def _say(self, *assignments: str) -> None:
        if self._line is not None:
            with suppress(OSError):
                self._line.sendto("\n".join(assignments).encode(), self._address)


def _one_line(text: str) -> str:
    return " ".join(text.split("\n"))
