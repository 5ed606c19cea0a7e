"""Whether a browser runs on the machine of the server, where agents may run."""

import socket
from ipaddress import IPv4Address, IPv6Address, ip_address


def runs_here(address: str, forwarded_for: str) -> bool:
    """Whether the browser of a request runs on this machine, as far as addresses tell.

    Behind a proxy on this machine the last address of `X-Forwarded-For` is the browser's: the proxy
    itself wrote it. An address that cannot be read counts as this machine's.
    """
    if forwarded_for and _is_own(address):
        address = forwarded_for.rpartition(",")[2].strip()
    return _is_own(address)


def _is_own(address: str) -> bool:
    try:
        place = ip_address(address.strip("[]"))
    except ValueError:
        return True
    place = getattr(place, "ipv4_mapped", None) or place
    return place.is_loopback or _can_be_bound(place)


def _can_be_bound(place: IPv4Address | IPv6Address) -> bool:
    """Whether a socket can have this address, as only one of this machine's can."""
    family = socket.AF_INET if isinstance(place, IPv4Address) else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as bare:
            bare.bind((str(place), 0))
    except OSError:
        return False
    return True
