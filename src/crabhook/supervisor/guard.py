"""The recursion guard: a reviewer that is an agent itself is not reviewed in its turn."""

from collections.abc import Mapping

GUARDS = ("CRABHOOK_SUPERVISOR_HOOK", "CCC_SUPERVISOR_HOOK")
"""Set to 1 in a reviewer's own process and in all that it starts; the second name is an old one."""


def guarded(environment: Mapping[str, str]) -> bool:
    """Whether this process was started by a reviewer."""
    return any(environment.get(name) == "1" for name in GUARDS)


def with_guard(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for a reviewer's process."""
    return {**environment, **dict.fromkeys(GUARDS, "1")}
