"""The reply to the agent without a server's answer, and the help text: imported only then.

There are three wishes. `pass` says nothing, so that the agent goes by its own rules. `ask` makes
the agent ask its user. `deny` denies. An event that a denial would block or repeat, as it would
Stop, is passed at every wish.
"""

from crabhook.hook import Options, Unanswered
from crabhook.hook.wire import WireReply, printable

try:
    # The part of json that is written in C; json itself costs half a start of Python.
    from _json import scanstring as _string
except ImportError:  # a Python without that part has json's own reader
    from json.decoder import scanstring as _string  # type: ignore[attr-defined,no-redef]

_STRICT = False  # a raw line break in a string makes no event unknown, and so no call allowed

_START = "open the desk: crabhook"
_NAME = (
    "see that this machine knows the server's name and has a way to it, or install the hook with "
    "the right --server"
)
_LOOK = "look at the desk"
_OPTIONS = "see crabhook --help, and how the hook is installed"
_ADDRESS = "install the hook with the right --server"
_LONGER = "give more time with --wait"
_INVITED = (
    "give the server's token with --token-file or CRABHOOK_TOKEN: a revoked machine has to be "
    "invited again"
)
_ALL = "name all servers of that record in --server, with commas: crabhook doctor says which leads"
_NONE_LEADS = (
    "look at those servers and at their database: `crabhook status` there says what is wrong"
)

# What went wrong, and what a person can do about it.
KINDS = {
    "options": ("crabhook was started with a wrong option", _OPTIONS),
    "input": ("crabhook cannot pass on the hook's input", "let the agent do it in smaller steps"),
    "unreachable": ("crabhook cannot ask the operator", _START),
    "lost": ("crabhook lost the operator while the request waited", _LOOK),
    "late": ("crabhook got no decision from the operator", _LONGER),
    "fault": ("crabhook has a fault of its own", "report it, with this line"),
    "unsigned": (
        "crabhook prints only what people of the team have signed",
        "have a person decide it at a desk or a page whose key is in the team file",
    ),
}

# The gRPC statuses, each in the place of its number: what a person reads where the server says
# nothing, and what a person can do about it.
_BROKE = "the connection broke"
_STATUSES = {
    "OK": ("the answer cannot be read", _LOOK),
    "CANCELLED": (_BROKE, _START),
    "UNKNOWN": ("the server has a fault of its own", _LOOK),
    "INVALID_ARGUMENT": ("the server does not take such a request", _OPTIONS),
    "DEADLINE_EXCEEDED": ("nobody decided in time", _LONGER),
    "NOT_FOUND": ("the desk was closed", _START),
    "ALREADY_EXISTS": ("it was answered at the agent", "there is nothing to do"),
    "PERMISSION_DENIED": ("the server refuses this request", _LOOK),
    "RESOURCE_EXHAUSTED": (
        "too much waits there, or the request is too long",
        "answer what waits at the desk",
    ),
    "FAILED_PRECONDITION": ("the decision could not be recorded", _LOOK),
    "ABORTED": ("the same request came on another connection", _LOOK),
    "OUT_OF_RANGE": ("the answer would be too long", _LOOK),
    "UNIMPLEMENTED": (
        "the server knows no such request",
        "see that a crabhook of this version listens there",
    ),
    "INTERNAL": (_BROKE, _LOOK),
    "UNAVAILABLE": ("the server takes no requests now", _START),
    "DATA_LOSS": ("the server lost what it needs for an answer", _LOOK),
    "UNAUTHENTICATED": (
        "the server does not know this token",
        _INVITED,
    ),
}
# How the texts begin that a library of gRPC writes for a server; they are for programmers.
_OF_GRPC = (
    "Method not found",
    "Unexpected <class",
    "Exception calling application",
    "Received message larger",
    "SERVER: Received message larger",
)

# What a hook's own connection says, and what a person can do about it; else nobody listens.
_CONNECTING = (
    ("--tls-ca", "install the hook with the --tls-ca that the server's certificate comes from"),
    ("in the clear", "install the hook with --tls-ca"),
    ("no TLS", "install the hook without --tls-ca if that server was begun without --tls-cert"),
    ("it speaks TLS", _ADDRESS),
    ("not an address", _ADDRESS),
    ("no host of this name", _NAME),
    ("no name server", _NAME),
    ("its folder", "make that folder yours alone: chmod 700, and its owner you"),
)
_IN_THE_CLEAR = "if that server speaks TLS, install the hook with --tls-ca, else " + _START

_MEANING = {
    "pass": "the agent goes on by its own rules, which may ask its user or run it without asking",
    "ask": "the agent is told to ask its own user",
    "deny": "the agent is told no, as the hook was installed to",
}

# What closes in an answer: in a text of JSON's its quotes would be escaped.
_STOPS = b'"continue":false'
_CLOSES = b'"deny"', b'"block"', _STOPS
_HEEDED = {
    "ask": "that answer has the agent ask its own user, and so it does",
    "deny": "that answer is a no, and so the agent is told no",
}

_LINE_OF_A_SKILL = "PreSkillShellCommand"
# Claude Code's answers, by wish and event; an event that is not here is passed.
_PERMISSION = (
    '{"hookSpecificOutput":{"hookEventName":"%s",'
    '"permissionDecision":"%s","permissionDecisionReason":%%s}}\n'
)
_CLAUDE = {
    ("ask", "PreToolUse"): _PERMISSION % ("PreToolUse", "ask"),
    ("deny", "PreToolUse"): _PERMISSION % ("PreToolUse", "deny"),
    ("deny", _LINE_OF_A_SKILL): _PERMISSION % (_LINE_OF_A_SKILL, "deny"),
    ("deny", "PermissionRequest"): (
        '{"hookSpecificOutput":{"hookEventName":"PermissionRequest",'
        '"decision":{"behavior":"deny","message":%s}}}\n'
    ),
}

# Gemini CLI's. It is never told to ask: that ends a headless run without a word.
_GEMINI_DENIES = '{"decision":"deny","reason":%s}\n'
_GEMINI = {("deny", "BeforeTool"): _GEMINI_DENIES, ("deny", ""): _GEMINI_DENIES}

# Codex's: a denial in Claude Code's words. To ask is void there, and the call would run.
_CODEX = {
    case: words
    for case, words in _CLAUDE.items()
    if case[0] == "deny" and case[1] != _LINE_OF_A_SKILL
}

# Copilot's, which reads a flat answer to the request.
_COPILOT = {
    **{case: words for case, words in _CLAUDE.items() if case[1] == "PreToolUse"},
    ("deny", "PermissionRequest"): '{"behavior":"deny","message":%s}\n',
}

# Qwen Code takes Codex's denials; told to ask, a run without a screen denies there.
_WORDS = {
    "claude": _CLAUDE,
    "gemini": _GEMINI,
    "codex": _CODEX,
    "qwen": _CODEX,
    "copilot": _COPILOT,
}
# The keys by which an agent's events name themselves, or an agent that begins; one has two names.
_NAMES = {"copilot": ("hook_event_name", "hookName", "agentName")}
_RENAMED = {"permissionRequest": "PermissionRequest"}

# What is printed to say nothing: Gemini CLI reads standard error where nothing else is there.
_SILENCE = {"gemini": "{}\n"}


def fall_back(options: Options, payload: bytes, unanswered: Unanswered) -> WireReply:
    """Turn an unanswered request into the reply to the agent."""
    wish = _wish(options, unanswered)
    words = _WORDS.get(options.platform)
    event = _event(options, payload) if wish != "pass" and words is not None else None
    if wish == "ask" and event == _LINE_OF_A_SKILL:
        # Nobody at the agent can be asked about one, and after silence it would run.
        wish = "deny"
    template = _template(options, wish, event)
    # Where nobody can tell what is asked, a no is exit code 2, which every agent heeds.
    blunt = wish == "deny" and event is None and template is None
    if not blunt and unanswered.unsigned is not None and _STOPS in unanswered.unsigned.stdout:
        template = _stopping(template)
    line = _line(options, wish if template or blunt else "pass", unanswered)
    silence = _SILENCE.get(options.platform, "")
    stdout = template.replace("%s", _json(line)) if template else silence
    return WireReply(stdout.encode(), f"{line}\n".encode(), 2 if blunt else 0)


def is_denial(options: Options, payload: bytes, reply: WireReply) -> bool:
    """Whether a reply is a denial of this event and nothing more, but for its words."""
    template = _template(options, "deny", _event(options, payload))
    if template is None or reply.stderr or reply.exit_code:
        return False
    before, after = template.split("%s")
    text = reply.stdout.decode("utf-8", "replace")
    if not text.startswith(before + '"') or not text.endswith(after):
        return False
    try:
        return _string(text, len(before) + 1, True)[1] == len(text) - len(after)  # noqa: FBT003
    except ValueError:
        return False


def _stopping(template: str | None) -> str:
    """Return what also ends the session's turn, which every agent reads in these words."""
    stop = '{"continue":false,"stopReason":%s'
    return f"{stop},{template[1:]}" if template else f"{stop}}}\n"


def can(platform: str, wish: str) -> bool:
    """Whether an agent of that platform can be told this, on some event."""
    return wish == "pass" or any(which == wish for which, _ in _WORDS.get(platform, ()))


def _event(options: Options, payload: bytes) -> str | None:
    return event_name(payload, *_NAMES.get(options.platform, ("hook_event_name",)))


def _template(options: Options, wish: str, event: str | None) -> str | None:
    words = _WORDS.get(options.platform, {})
    return words.get((wish, _RENAMED.get(event or "", event or "")))


def _wish(options: Options, unanswered: Unanswered) -> str:
    kind, strict = unanswered.kind, options.when_unsigned or "pass"
    if kind == "unsigned":
        wishes = [options.when_unsigned or options.when_lost, _least(unanswered.unsigned)]
    elif kind == "fault":  # it is unknown how far the request came
        wishes = [options.when_unreachable, options.when_lost, strict]
    elif kind == "options":  # perhaps of those by which a strict hook checks
        wishes = [options.when_unreachable, strict]
    else:
        return options.when_lost if kind in ("lost", "late") else options.when_unreachable
    return max(wishes, key=("pass", "ask", "deny").index)


def _least(unsigned: WireReply | None) -> str:
    """Return what an unsigned answer says at least: to heed a no is safe, and so is to ask."""
    if unsigned is None:
        return "pass"
    if unsigned.exit_code == 2 or any(no in unsigned.stdout for no in _CLOSES):
        return "deny"
    return "ask" if b'"ask"' in unsigned.stdout else "pass"


def _line(options: Options, wish: str, unanswered: Unanswered) -> str:
    what, remedy = KINDS[unanswered.kind]
    problem = printable(str(unanswered).encode("utf-8", "replace"))
    heeded = _least(unanswered.unsigned) == wish
    meaning = _HEEDED.get(wish, _MEANING[wish]) if heeded else _MEANING[wish]
    if unanswered.status is not None:
        _, remedy = _status(unanswered.status)
        if "stands by" in problem or "none leads" in problem:
            remedy = _NONE_LEADS if "," in options.server else _ALL
    elif unanswered.kind == "unreachable":
        remedy = remedy_of(str(unanswered))
    return f"{what} ({problem}); {meaning}; {remedy}"


def _status(status: int) -> tuple[str, str]:
    """Return what a gRPC status means, and what a person can do about it."""
    new = f"the server refuses, for a reason that is new to this hook ({status})", _LOOK
    return dict(enumerate(_STATUSES.values())).get(status, new)


def why_refused(status: int, detail: str) -> str:
    """Return why a server refused: in its own words where it has any, else in ours."""
    return detail if detail and not detail.startswith(_OF_GRPC) else _status(status)[0]


def remedy_of(problem: str) -> str:
    """Return what a person can do about a failed connection."""
    if problem.endswith("the connection was closed") and not problem.startswith("unix:"):
        return _IN_THE_CLEAR
    return next((remedy for mark, remedy in _CONNECTING if mark in problem), _START)


def _json(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def event_name(payload: bytes, *names: str) -> str | None:
    """Read the text at the first of these top-level keys of the payload; None if there is none.

    Of a key that comes twice the last counts, as for the agent itself; deeper
    keys and what strings hold count for nothing.
    """
    try:
        text = payload.decode("utf-8", "replace")
        values = (_top_level_text(text, name) for name in names or ("hook_event_name",))
        return next((value for value in values if value is not None), None)
    except (LookupError, ValueError):  # it ends too early, or is no JSON
        return None


def _top_level_text(text: str, wanted: str) -> str | None:
    """Walk the members of the object, with no recursion: an agent may send any depth."""
    value = None
    at = _expect(text, _beyond_space(text, 0), "{")
    more = text[_beyond_space(text, at)] != "}"
    while more:
        key, at = _string(text, _expect(text, _beyond_space(text, at), '"'), _STRICT)
        at = _beyond_space(text, _expect(text, _beyond_space(text, at), ":"))
        if key == wanted:
            value = _string(text, at + 1, _STRICT)[0] if text[at] == '"' else None
        at = _beyond_space(text, _beyond_value(text, at))
        more = text[at] == ","
        at += more
    if text[_expect(text, _beyond_space(text, at), "}") :].strip(" \t\r\n"):
        raise ValueError("something follows the object")
    return value


def _beyond_space(text: str, at: int) -> int:
    while text[at] in " \t\r\n":
        at += 1
    return at


def _expect(text: str, at: int, character: str) -> int:
    if text[at] != character:
        raise ValueError(f"no {character} at {at}")
    return at + 1


def _beyond_value(text: str, at: int) -> int:
    """Find the end of the value that begins at `at`."""
    if text[at] not in '"[{':
        end = at
        while text[end] not in ",]} \t\r\n":
            end += 1
        if end == at:
            raise ValueError(f"no value at {at}")
        return end
    depth = 0
    while True:
        character = text[at]
        at = _string(text, at + 1, _STRICT)[1] if character == '"' else at + 1
        depth += (character in "[{") - (character in "]}")
        if depth == 0:
            return at


# And what a person sees who starts the hook by hand.

_HELP = """\
This is crabhook's hook: a coding agent starts it and hands it what it wants to
do, the operator decides, and the agent is told. There is nothing to see here
without an agent. You may want one of these:

  crabhook                   open the desk, where you decide
  crabhook install claude    have Claude Code ask it
  crabhook --help            see all commands
"""


def help_for(problem: str) -> WireReply:
    """Explain, and say what was wrong with the options if anything was."""
    stderr = f"crabhook: {problem}\n" if problem else ""
    return WireReply(_HELP.encode(), stderr.encode("utf-8", "replace"))
