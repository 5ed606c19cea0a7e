"""The default profile's rules about configurations: what today's agents do with an entry."""

from crabhook.lint.finding import Rule, Severity
from crabhook.lint.rules import setups
from crabhook.lint.rules.judged import SetupRule

_CRITICAL, _HIGH = Severity.CRITICAL, Severity.HIGH
_MEDIUM, _LOW = Severity.MEDIUM, Severity.LOW

SETUPS: tuple[SetupRule, ...] = (
    SetupRule(
        Rule(
            "CH102",
            _CRITICAL,
            "malformed entry",
            "An entry that cannot be loaded is dropped; under PreToolUse or PermissionRequest "
            "Claude Code refuses the part of the file it is in, permissions included.",
            "Three levels: an event, a list of matcher groups, in each a list of handlers under "
            '"hooks", each with its "type".',
        ),
        setups.malformed,
    ),
    SetupRule(
        Rule(
            "CH103",
            _HIGH,
            "unknown event",
            "The agent drops the entry, at the most with a warning: the hook never runs.",
            "Write the event's name as the agent does, capitals too.",
        ),
        setups.unknown_event,
    ),
    SetupRule(
        Rule(
            "CH104",
            _HIGH,
            "matcher that matches nothing",
            "The hook never runs for this name.",
            "Write a tool's name as the agent does, or a pattern such as mcp__server__.*",
        ),
        setups.matches_nothing,
    ),
    SetupRule(
        Rule(
            "CH105",
            _HIGH,
            "matcher that cannot be read",
            "A pattern that is no regular expression matches nothing that is meant.",
            "Mend the pattern; for every tool leave the matcher out, or write *.",
        ),
        setups.broken_matcher,
    ),
    SetupRule(
        Rule(
            "CH106",
            _LOW,
            "matcher that is ignored",
            "The event has nothing to match: the hook is run every time.",
            "Leave the matcher out, and tell cases apart in the hook.",
        ),
        setups.ignored_matcher,
    ),
    SetupRule(
        Rule(
            "CH107",
            _HIGH,
            "seconds and milliseconds mixed up",
            "Claude Code and Codex count a timeout in seconds, Gemini CLI in milliseconds. Too "
            "long, and a hook that hangs holds the agent; too short, and it is cut off and the "
            "action goes ahead.",
            "Write the timeout in the agent's own unit.",
        ),
        setups.other_unit,
    ),
    SetupRule(
        Rule(
            "CH108",
            _HIGH,
            "timeout shorter than the hook's own wait",
            "The agent cuts the hook off while it still waits, and goes ahead without its answer.",
            "Register a longer timeout, or have the script wait less.",
        ),
        setups.too_short,
    ),
    SetupRule(
        Rule(
            "CH109",
            _HIGH,
            "two hooks rewrite the same input",
            "Hooks run side by side, each on the original input; the last answer wins and "
            "the other's changes are lost.",
            "Rewrite in one hook, or give them matchers that never meet.",
        ),
        setups.two_rewriters,
    ),
    SetupRule(
        Rule(
            "CH110",
            _HIGH,
            "script that is not there",
            "A hook that cannot start blocks nothing: Claude Code and Codex go ahead, Gemini CLI "
            "denies everything.",
            "Mend the path; $CLAUDE_PROJECT_DIR is the project's folder.",
        ),
        setups.missing_script,
    ),
    SetupRule(
        Rule(
            "CH111",
            _HIGH,
            "script that cannot be started",
            "A hook that cannot start blocks nothing: Claude Code and Codex go ahead, Gemini CLI "
            "denies everything.",
            "chmod +x the script, or name its interpreter before it.",
        ),
        setups.not_executable,
    ),
    SetupRule(
        Rule(
            "CH112",
            _MEDIUM,
            "path that depends on where the agent is",
            "Hooks run in the session's current folder: after a cd the script is not found, and "
            "the action goes ahead.",
            'Write "$CLAUDE_PROJECT_DIR"/… ($GEMINI_PROJECT_DIR there), or the whole path.',
        ),
        setups.relative_path,
    ),
    SetupRule(
        Rule(
            "CH113",
            _HIGH,
            "handler that its event never runs",
            "The handler is there and is never run.",
            'Leave "if" to tool events, http off SessionStart and Setup, agent off '
            "PermissionRequest.",
        ),
        setups.never_runs,
    ),
    SetupRule(
        Rule(
            "CH114",
            _HIGH,
            "decides in the background",
            "An asynchronous hook is not waited for, so its decision changes nothing.",
            'Leave "async" out where the hook decides.',
        ),
        setups.decides_too_late,
    ),
    SetupRule(
        Rule(
            "CH115",
            _MEDIUM,
            "onFailure that is ignored",
            "What reads as fail-closed is not: a failure of this hook blocks nothing.",
            "Put the guard on an event that heeds onFailure, such as PreToolUse.",
        ),
        setups.ignored_failure,
    ),
    SetupRule(
        Rule(
            "CH116",
            _MEDIUM,
            "hooks that are switched off",
            "None of the file's hooks runs.",
            "Take the switch out, or the hooks.",
        ),
        setups.switched_off,
    ),
    SetupRule(
        Rule(
            "CH117",
            _HIGH,
            "environment that moves a hook",
            "A hook of crabhook's that does not name its server itself asks another, or nobody; "
            "what the linker is told runs in every hook.",
            "Take the variable out of env; say --server to `crabhook install`.",
        ),
        setups.moved_away,
    ),
    SetupRule(
        Rule(
            "CH118",
            _LOW,
            "environment that moves hooks started in some ways",
            "A hook that is found on PATH, goes through a shell or starts Python without -I can "
            "be made to run something else. What `crabhook install` writes cannot.",
            "Take the variable out of env, or start each hook by an absolute path and Python "
            "with -I.",
        ),
        setups.moved_by_its_start,
    ),
)
