"""Whether the agent waits for its hooks as long as they wait for the operator."""

import math
from collections.abc import Iterator

from crabhook import config
from crabhook.doctor.facts import Case
from crabhook.doctor.finding import Finding, Status, several
from crabhook.model.errors import CrabhookError
from crabhook.platforms.installation import MAX_WAIT


def patient(case: Case) -> Iterator[Finding]:
    """Whether the timeout that is registered leaves a hook the time it takes."""
    if not case.entries:
        return
    short = [one for one in case.entries if case.patience(one) <= one.options.wait]
    worst = max(short or case.entries, key=lambda one: one.options.wait)
    agents, ours = case.patience(worst), worst.options.wait
    figures = {"timeout_s": agents, "wait_s": ours}
    waits = f"{case.title} waits {agents:g} s for a hook that waits {ours:g} s for the operator"
    if short:
        yield Finding(
            "hook.timeout",
            Status.FAULT,
            f"{several([one.event for one in short])}: {waits}",
            "the hook is ended before its time is over, and the call goes on without an answer",
            case.reinstalling(worst),
            figures=figures,
        )
        return
    yield from _server_waits_longer(case) or (
        Finding("hook.timeout", Status.OK, waits, figures=figures),
    )


def _server_waits_longer(case: Case) -> list[Finding]:
    """Say so where the owner's own settings let a question stand longer than its hook does."""
    try:
        server = config.load().wait
    except CrabhookError:
        return []  # which is a finding of its own
    longest = max(case.entries, key=lambda one: one.options.wait)
    if server in (config.Settings().wait, config.NEVER) or server <= longest.options.wait:
        return []
    return [
        Finding(
            "hook.timeout",
            Status.WARNING,
            f"the server lets a question stand {server:g} s, and the hook waits "
            f"{longest.options.wait:g} s",
            "a question ends when its hook gives up, sooner than the server's settings say",
            case.reinstalling(longest, wait=min(math.ceil(server), MAX_WAIT)),
        )
    ]
