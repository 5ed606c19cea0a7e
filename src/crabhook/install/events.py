"""Which of Claude Code's events get our hook, as data.

The events are those of Claude Code 2.1.330 (33 of them).  Each is decided,
observed or left out; a version that does not know an event drops its entry
with a warning, except under the two deciding ones, which are the oldest.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a hook may take, in seconds.

    `client` is our client's own limit and always the shorter one, so that it
    is the client that gives up, in good order, and not Claude Code that kills it.
    """

    timeout: float
    client: int


# The events that decide a call, each for every tool and in every stance.
#
# In the companion's stance Claude Code asks its own user and the operator may
# be faster: that is PermissionRequest.  PreToolUse comes before every call, and
# in auto and bypass modes nothing else does, so the rules are asked there; a
# call of which none speaks passes at once.  The gate holds each call at
# PreToolUse, before Claude Code's own rules see it.  One of those may still
# want to ask about a call that was allowed there: then its PermissionRequest
# is told the same, and nobody is asked twice.
DECIDED: tuple[str, ...] = ("PreToolUse", "PermissionRequest")

# A server that answers late must not hold the agent up for something that can
# only be shown to it.
_PROMPT = Patience(timeout=10, client=5)

# All SessionEnd hooks share 1.5 s, and the longest timeout written in settings
# raises that for everybody's: exactly 1.5 leaves the budget as it is.
_AT_THE_DOOR = Patience(timeout=1.5, client=1)

# An operator may ask to hold these, so their hooks can wait as long as those
# that decide; without such a wish the server answers at once.
HOLDABLE: tuple[str, ...] = (
    "UserPromptSubmit",
    "UserPromptExpansion",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "PermissionDenied",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "TeammateIdle",
    "TaskCreated",
    "TaskCompleted",
    "Elicitation",
    "ElicitationResult",
    "Setup",
    "SessionStart",
    "PreCompact",
    "PreModelSwitch",
    "PostModelSwitch",
    "ConfigChange",
)

OBSERVED: dict[str, Patience] = {
    "SessionEnd": _AT_THE_DOOR,
    "InstructionsLoaded": _PROMPT,
    "CwdChanged": _PROMPT,
    "DirectoryAdded": _PROMPT,
    # Without a matcher it watches no file, and reports those that others watch.
    "FileChanged": _PROMPT,
    "Notification": _PROMPT,
    "PostCompact": _PROMPT,
    "WorktreeRemove": _PROMPT,
    "StopFailure": _PROMPT,
}

LEFT_OUT: dict[str, str] = {
    "WorktreeCreate": "its hook must print the worktree's path: to say nothing is to fail it",
    "MessageDisplay": "it fires for every piece of a message: a process each, to learn nothing",
}
