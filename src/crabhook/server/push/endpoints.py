"""Where messages may go: a browser names the address, and the server posts there.

So the address is a browser's word, and one of ours would be a way into this network. It is read
strictly, by one pattern, and its host must be on the list: what is not plainly allowed is refused.
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from crabhook.data_files import tables
from crabhook.model.errors import CrabhookError

LONGEST = 1024  # letters of an address; Microsoft's have some 500

# No user, no trailing dot, no letter beyond ASCII, no percent in the host, nothing after a `#`.
_ENDPOINT = re.compile(
    r"(?P<scheme>https?)://(?P<host>[a-z0-9-]+(?:\.[a-z0-9-]+)*|\[::1\])(?::(?P<port>[0-9]{1,5}))?"
    r"/[A-Za-z0-9/._~:?&=%+,;!$'()*@-]*",
    re.ASCII,
)
_LOOPBACK = ("127.0.0.1", "[::1]", "localhost")
_NUMBER = re.compile(r"[0-9.]+")


class EndpointError(CrabhookError):
    """An address that no message may go to."""


class Endpoint(NamedTuple):
    """A browser's address at a push service. It is a secret: who knows it may send there."""

    url: str
    origin: str
    service: str

    def __repr__(self) -> str:
        return f"<Endpoint at {self.service}>"


class Services:
    """The push services that messages may go to; `more` are those of the settings.

    Each is a host, a host with all names below it (`*.push.example`), or a port of this machine
    (`127.0.0.1:8030`), which alone needs no TLS.
    """

    def __init__(self, more: Iterable[str] = ()) -> None:
        self._owners: dict[str, str] = {}
        by_owner: Mapping[str, list[str]] = tables(__file__, "services")["services"]
        for owner, hosts in by_owner.items():
            self._owners |= dict.fromkeys(hosts, owner)
        self._owners |= {service: service for service in more}

    def endpoint(self, url: str) -> Endpoint:
        """Return an address that may be sent to; raises EndpointError."""
        match = _ENDPOINT.fullmatch(url) if len(url) <= LONGEST else None
        if match is None:
            raise EndpointError("this is no address of a push service")
        host, port = match["host"], match["port"]
        origin = f"{match['scheme']}://{host}" + (f":{port}" if port else "")
        if host in _LOOPBACK:
            service = self._owners.get(f"{host}:{port}")
        elif match["scheme"] != "https" or port or _NUMBER.fullmatch(host):
            service = None
        else:
            owners = (self._owners.get(pattern) for pattern in _patterns(host))
            service = next(filter(None, owners), None)
        if service is None:
            raise EndpointError(
                f"{origin} is no push service that is known here. `[push] services` adds one"
            )
        return Endpoint(url, origin, service)


def _patterns(host: str) -> Iterable[str]:
    """Yield what on the list would take in this host."""
    yield host
    above = host
    while "." in above:
        above = above.partition(".")[2]
        yield f"*.{above}"
