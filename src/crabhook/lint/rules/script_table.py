"""The default profile's rules about scripts: what today's agents do with a hook's answer."""

from crabhook.lint.finding import Rule, Severity
from crabhook.lint.rules import answers, scripts
from crabhook.lint.rules.judged import ScriptRule

_CRITICAL, _HIGH, _MEDIUM = Severity.CRITICAL, Severity.HIGH, Severity.MEDIUM

SCRIPTS: tuple[ScriptRule, ...] = (
    ScriptRule(
        Rule(
            "CH001",
            _CRITICAL,
            "answers with `action`",
            "No agent reads a top-level `action`: whatever it says, the action goes ahead.",
            "On PreToolUse print hookSpecificOutput with hookEventName, permissionDecision and "
            "permissionDecisionReason; for Gemini CLI, and for Claude Code's other events, "
            "decision and reason. Or exit with 2, the reason on standard error.",
        ),
        answers.action,
    ),
    ScriptRule(
        Rule(
            "CH002",
            _MEDIUM,
            "answers with `message`",
            "No agent reads a top-level `message`: nobody sees it.",
            "For the agent's user write systemMessage; for the model additionalContext inside "
            "hookSpecificOutput; for a refusal its reason.",
        ),
        answers.message,
    ),
    ScriptRule(
        Rule(
            "CH003",
            _HIGH,
            "refuses with the wrong exit code",
            "Only 2 blocks. With 1 the agent shows a notice, at the most, and goes ahead.",
            "Exit with 2, the reason on standard error.",
        ),
        scripts.refuses_with_the_wrong_code,
    ),
    ScriptRule(
        Rule(
            "CH004",
            _HIGH,
            "wrong hookEventName",
            "An answer whose hookEventName is missing, unknown or another event's is an error: the "
            "agent drops it and goes ahead.",
            "Write the event's own name; a hook of several events repeats the hook_event_name it "
            "was given.",
        ),
        answers.event_name,
    ),
    ScriptRule(
        Rule(
            "CH005",
            _HIGH,
            "rewritten input drops fields",
            "The rewritten input replaces the whole one: a field not sent back is lost, and "
            "where the tool needs it the call is refused.",
            "Begin with the input as it came: {**tool_input, …}, or in jq .tool_input + {…}.",
        ),
        answers.dropped_fields,
    ),
    ScriptRule(
        Rule(
            "CH006",
            _HIGH,
            "unknown decision",
            "A decision in a word that the agent does not know is an error: the action goes ahead.",
            "Use the agent's own words; for Claude Code's PreToolUse permissionDecision is allow, "
            "deny, ask or defer, and elsewhere decision is block.",
        ),
        answers.unknown_values,
    ),
    ScriptRule(
        Rule(
            "CH007",
            _HIGH,
            "key outside hookSpecificOutput",
            "Beside hookSpecificOutput the key is dropped without a word.",
            "Put it inside hookSpecificOutput, together with hookEventName.",
        ),
        answers.misplaced,
    ),
    ScriptRule(
        Rule(
            "CH008",
            _HIGH,
            "key that its event does not read",
            "The event of this answer does not read the key: it has no effect, or makes the answer "
            "fail.",
            "Answer the event in its own words: PermissionRequest takes a decision object, "
            "PreToolUse permissionDecision, PostToolUse a top-level decision.",
        ),
        answers.unread_on_event,
    ),
    ScriptRule(
        Rule(
            "CH009",
            _HIGH,
            "exit code 2 where it blocks nothing",
            "On this event exit code 2 stops nothing.",
            "On PermissionRequest print a decision object with behavior deny; other events cannot "
            "be stopped, so register the hook on one that can.",
        ),
        scripts.refuses_where_it_cannot,
    ),
    ScriptRule(
        Rule(
            "CH010",
            _HIGH,
            "text before the answer",
            "Standard output that does not begin with { is plain text: no answer is read in it.",
            "Print nothing but the answer to standard output; the rest goes to standard error.",
        ),
        answers.behind_text,
    ),
    ScriptRule(
        Rule(
            "CH011",
            _HIGH,
            "answer that is not JSON",
            "Text that begins and ends like JSON and is not is an error: the agent goes ahead.",
            "Print json.dumps(…); in a shell build the answer with jq -n.",
        ),
        answers.not_json,
    ),
    ScriptRule(
        Rule(
            "CH012",
            _HIGH,
            "input from where it is not",
            "The input is one JSON object on standard input. A hook that looks elsewhere sees "
            "nothing, and lets everything pass.",
            "Read it with json.load(sys.stdin), or in a shell INPUT=$(cat) and jq.",
        ),
        scripts.no_such_variable,
    ),
    ScriptRule(
        Rule(
            "CH013",
            _MEDIUM,
            "input field that does not exist",
            "The field is never there, so the hook always takes the way of its absence.",
            "Ask for the field that the agent sends.",
        ),
        scripts.no_such_field,
    ),
    ScriptRule(
        Rule(
            "CH014",
            _MEDIUM,
            "keeps the agent going without end",
            "A hook on Stop that blocks every time makes a loop; Claude Code breaks it off after "
            "eight rounds.",
            "Let it stop where stop_hook_active is true.",
        ),
        scripts.endless_stop,
    ),
    ScriptRule(
        Rule(
            "CH015",
            _HIGH,
            "answer that Codex throws away",
            "Codex drops an answer whole for one key or value that it does not know, and the call "
            "runs.",
            "For Codex print permissionDecision deny with its reason, or allow with updatedInput, "
            "and nothing else beside it.",
        ),
        answers.void_to_codex,
    ),
    ScriptRule(
        Rule(
            "CH016",
            _HIGH,
            "Claude Code's words to Gemini CLI",
            "Gemini CLI ignores permissionDecision and updatedInput: the tool runs as called.",
            "For Gemini CLI print a top-level decision and reason; a rewritten input is the whole "
            "hookSpecificOutput.tool_input.",
        ),
        answers.claudes_words_to_gemini,
    ),
    ScriptRule(
        Rule(
            "CH017",
            _HIGH,
            "refuses without a word",
            "Codex and Gemini CLI take exit code 2 for a refusal only where something is said.",
            "Write the reason to standard error before exit code 2.",
        ),
        scripts.refuses_in_silence,
    ),
)
