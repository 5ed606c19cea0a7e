"""The profile `standard`: the hook standard's checks under its own ids and severities."""

from crabhook.lint.finding import Rule, Severity
from crabhook.lint.rules import standard
from crabhook.lint.rules.judged import ScriptRule, SetupRule

_CRITICAL, _HIGH, _MEDIUM = Severity.CRITICAL, Severity.HIGH, Severity.MEDIUM

_TIMEOUT = Rule(
    "HP-007",
    _MEDIUM,
    "timeout under 60 000 ms, and within its event's",
    "The standard wants every hook done within a minute, and these sooner: PreToolUse and "
    "PostToolUse within 30 s, SessionStart 10 s, Stop and Notification 5 s.",
    "Wait less, and register less: in Claude Code's settings 30 is 30 s.",
)

SCRIPTS: tuple[ScriptRule, ...] = (
    ScriptRule(
        Rule(
            "HP-001",
            _CRITICAL,
            "`#!/usr/bin/env python3`",
            "The standard's hooks are Python 3, found on the PATH.",
            "Make `#!/usr/bin/env python3` the first line.",
        ),
        standard.shebang,
    ),
    ScriptRule(
        Rule(
            "HP-002",
            _CRITICAL,
            "JSON read from standard input",
            "The input is one JSON object on standard input; input(), argv and files have nothing.",
            "Read it with json.load(sys.stdin) or json.loads(sys.stdin.read()).",
        ),
        standard.reads_json,
    ),
    ScriptRule(
        Rule(
            "HP-003",
            _CRITICAL,
            "JSON printed to standard output",
            "The standard's answer is one JSON object on standard output.",
            "print(json.dumps(answer)).",
        ),
        standard.prints_json,
    ),
    ScriptRule(
        Rule(
            "HP-004",
            _HIGH,
            "errors handled",
            "An error that nobody handles ends the hook with a traceback.",
            "Read the input inside try, with an except for what may go wrong.",
        ),
        standard.handles_errors,
    ),
    ScriptRule(
        Rule(
            "HP-005",
            _HIGH,
            "`sys.exit(0)` on error",
            "The standard's hooks never fail their agent: on an error they exit with 0.",
            "sys.exit(0) at the end of every except that ends the script. Today's Claude Code "
            "reads exit code 1 as a notice, and 0 as no opinion: neither blocks.",
        ),
        standard.exits_with_zero,
    ),
    ScriptRule(
        Rule(
            "HP-006",
            _MEDIUM,
            "messages on standard error",
            "Standard output is for the answer alone.",
            "print(…, file=sys.stderr).",
        ),
        standard.speaks_on_stderr,
    ),
    ScriptRule(_TIMEOUT, standard.waits_too_long),
    ScriptRule(
        Rule(
            "HP-008",
            _CRITICAL,
            "output has `action`, and with block a `message`",
            "The standard's answer says continue or block in `action`, and why it blocks in "
            "`message`. Today's agents read neither: see CH001.",
            "Add them, for readers of the standard, beside what the agent reads.",
        ),
        standard.has_action,
    ),
)

SETUPS: tuple[SetupRule, ...] = (
    SetupRule(_TIMEOUT, standard.timeout_too_long),
    SetupRule(
        Rule(
            "HP-EVENT",
            _HIGH,
            "event names",
            "An event of another name is never run.",
            "Write the event's name as the agent does, capitals too.",
        ),
        standard.event_names,
    ),
)
