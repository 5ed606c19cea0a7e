"""How many connections a process may hold."""

import resource

_OTHERS = 100  # files a process has open beside its connections


def raise_file_limit() -> None:
    """Let this process open as many files as the system lets it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def connections_that_fit(wanted: int) -> int:
    """Return `wanted`, or as many connections as the hard limit leaves one process."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard == resource.RLIM_INFINITY:
        return wanted
    return min(wanted, hard - _OTHERS)
