"""Which of Claude Code's events get our hook, as data.

The events are those of Claude Code 2.1.330 (33 of them).  Each is decided,
observed or left out; a version that does not know an event drops its entry
with a warning, except under the two deciding ones, which are the oldest.
"""

from dataclasses import dataclass

from crabhook.model.request import Stance


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a hook may take, in seconds.

    `client` is our client's own limit and always the shorter one, so that it
    is the client that gives up, in good order, and not Claude Code that kills it.
    """

    timeout: float
    client: int


# Event -> the tools it is for (None: all of them).
#
# In the companion's stance Claude Code asks its own user and the operator may
# be faster: that is PermissionRequest.  The two tools that ask the user fire
# no PermissionRequest in the mode dontAsk, so they are seen before as well;
# the server leaves them alone in every other mode.  The gate holds each call
# before Claude Code's own rules see it.  PermissionRequest is no part of it:
# what still asks after that is the agent's own question to its own user.
DECIDED: dict[Stance, dict[str, str | None]] = {
    Stance.COMPANION: {"PreToolUse": "AskUserQuestion|ExitPlanMode", "PermissionRequest": None},
    Stance.GATE: {"PreToolUse": None},
}

# A server that answers late must not hold the agent up for something that was
# only shown to it.  PreModelSwitch is why the client's limit matters here: a
# hook that Claude Code has to time out blocks the switch.
_PROMPT = Patience(timeout=10, client=5)

# All SessionEnd hooks share 1.5 s, and the longest timeout written in settings
# raises that for everybody's: exactly 1.5 leaves the budget as it is.
_AT_THE_DOOR = Patience(timeout=1.5, client=1)

OBSERVED: dict[str, Patience] = {
    "SessionStart": _PROMPT,
    "SessionEnd": _AT_THE_DOOR,
    "Setup": _PROMPT,
    "InstructionsLoaded": _PROMPT,
    "ConfigChange": _PROMPT,
    "CwdChanged": _PROMPT,
    "DirectoryAdded": _PROMPT,
    # Without a matcher it watches no file, and reports those that others watch.
    "FileChanged": _PROMPT,
    "UserPromptSubmit": _PROMPT,
    "UserPromptExpansion": _PROMPT,
    "PreModelSwitch": _PROMPT,
    "PostModelSwitch": _PROMPT,
    "PostToolUse": _PROMPT,
    "PostToolUseFailure": _PROMPT,
    "PostToolBatch": _PROMPT,
    "PermissionDenied": _PROMPT,
    "Notification": _PROMPT,
    "Elicitation": _PROMPT,
    "ElicitationResult": _PROMPT,
    "SubagentStart": _PROMPT,
    "SubagentStop": _PROMPT,
    "TaskCreated": _PROMPT,
    "TaskCompleted": _PROMPT,
    "TeammateIdle": _PROMPT,
    "PreCompact": _PROMPT,
    "PostCompact": _PROMPT,
    "WorktreeRemove": _PROMPT,
    "Stop": _PROMPT,
    "StopFailure": _PROMPT,
}

LEFT_OUT: dict[str, str] = {
    "WorktreeCreate": "its hook must print the worktree's path: to say nothing is to fail it",
    "MessageDisplay": "it fires for every piece of a message: a process each, to learn nothing",
}
