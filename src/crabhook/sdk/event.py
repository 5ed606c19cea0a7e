"""An event of any agent: a typed, read-only view of its input, and a hook's answers.

Agents may send anything: a missing field, or one of a wrong type, is empty; the raw input keeps it.
Tools have the same names for all agents.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from crabhook.model.jsontext import compact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crabhook.model.jsontext import Value


class Platform(StrEnum):
    """A dialect of hook protocol, by the name that crabhook's own hook calls it."""

    CLAUDE = "claude"
    GEMINI = "gemini"
    CODEX = "codex"
    QWEN = "qwen"
    COPILOT = "copilot"


_CLAUDE, _GEMINI, _CODEX, _QWEN, _COPILOT = Platform

# The first name is today's; older ones may still arrive. Codex's apply_patch is missing here: it
# edits many files, and its input is a patch. Copilot's second name is PermissionRequest's.
COMMON: Mapping[str, Mapping[Platform, tuple[str, ...]]] = {
    "shell": {
        _CLAUDE: ("Bash",),
        _GEMINI: ("run_shell_command",),
        _CODEX: ("Bash",),
        _QWEN: ("run_shell_command",),
        _COPILOT: ("Bash", "bash"),
    },
    "read_file": {
        _CLAUDE: ("Read",),
        _GEMINI: ("read_file",),
        _QWEN: ("read_file",),
        _COPILOT: ("Read", "view"),
    },
    "write_file": {
        _CLAUDE: ("Write",),
        _GEMINI: ("write_file",),
        _QWEN: ("write_file",),
        _COPILOT: ("Write", "create"),
    },
    "edit_file": {
        _CLAUDE: ("Edit",),
        _GEMINI: ("replace",),
        _QWEN: ("edit",),
        _COPILOT: ("Edit", "edit"),
    },
    "glob": {
        _CLAUDE: ("Glob",),
        _GEMINI: ("glob",),
        _QWEN: ("glob",),
        _COPILOT: ("Glob", "glob"),
    },
    "grep": {
        _CLAUDE: ("Grep",),
        _GEMINI: ("grep_search", "search_file_content"),
        _QWEN: ("grep_search",),
        _COPILOT: ("Grep", "grep"),
    },
    "web_fetch": {
        _CLAUDE: ("WebFetch",),
        _GEMINI: ("web_fetch",),
        _QWEN: ("web_fetch",),
        _COPILOT: ("WebFetch", "web_fetch"),
    },
    "web_search": {_CLAUDE: ("WebSearch",), _GEMINI: ("google_web_search",)},
    "task": {
        _CLAUDE: ("Agent", "Task"),
        _GEMINI: ("invoke_agent",),
        _QWEN: ("agent",),
        _COPILOT: ("Agent", "task"),
    },
    "ask_user": {
        _CLAUDE: ("AskUserQuestion",),
        _GEMINI: ("ask_user",),
        _CODEX: ("request_user_input",),
        _QWEN: ("ask_user_question",),
        _COPILOT: ("AskUserQuestion", "ask_user"),
    },
    "exit_plan_mode": {
        _CLAUDE: ("ExitPlanMode",),
        _GEMINI: ("exit_plan_mode",),
        _QWEN: ("exit_plan_mode",),
        _COPILOT: ("exit_plan_mode",),
    },
    "write_todos": {_CLAUDE: ("TodoWrite",), _GEMINI: ("write_todos",), _QWEN: ("todo_write",)},
}

_BY_OWN_NAME = {
    (platform, own): name
    for name, platforms in COMMON.items()
    for platform, owns in platforms.items()
    for own in owns
}


def common_name(platform: Platform, own: str, mcp_context: Value = None) -> str:
    """Return the tool's common name; other tools keep their own.

    An MCP server's tool is always `mcp__SERVER__TOOL`; Gemini names server and tool in
    `mcp_context`.
    """
    if platform is _GEMINI and isinstance(mcp_context, dict):
        server, tool = mcp_context.get("server_name"), mcp_context.get("tool_name")
        if isinstance(server, str) and isinstance(tool, str):
            return f"mcp__{server}__{tool}"
    return _BY_OWN_NAME.get((platform, own), own)


class Verdict(StrEnum):
    """The kinds of decision, by the broker's names for them; a test holds the two together."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"
    DEFER = "defer"
    KEEP_GOING = "keep-going"
    RETRY = "retry"
    ACCEPT = "accept"
    DECLINE = "decline"
    CANCEL = "cancel"


class Answer(NamedTuple):
    """What the agent is told; made by the methods of the event, which offer what it can carry.

    `verdict`: None decides nothing. `reason`: why, or how to go on; the model reads it. `context`:
    further words for the model. `updated_input`: replaces the tool's whole input. `output`:
    replaces what the model is shown of a tool's result. `content`: a form's values, by property.
    `permissions`: permission updates to apply with an allow, in Claude Code's words. `interrupt`: a
    denial also ends the turn. `halt`: ends the turn, for this reason, at every verdict.
    `user_message`: shown to the agent's user. `suppress_output`: asks the agent not to show what
    the hook says. `specific`: what only this platform knows, in its own words.
    """

    verdict: Verdict | None = None
    reason: str = ""
    context: str = ""
    updated_input: Mapping[str, Any] | None = None
    output: Any = None
    content: Mapping[str, Any] | None = None
    permissions: tuple[Mapping[str, Any], ...] = ()
    interrupt: bool = False
    halt: str = ""
    user_message: str = ""
    suppress_output: bool = False
    specific: Mapping[str, Any] | None = None

    def telling_user(self, message: str) -> Answer:
        """Return the same answer with a message to the agent's user beside it."""
        return self._replace(user_message=message)

    def quietly(self) -> Answer:
        """Return the same answer, asking the agent not to show what the hook says."""
        return self._replace(suppress_output=True)


class _Field:
    """A field by its key; of several keys the first that the agent sent counts."""

    def __init__(self, *keys: str) -> None:
        self._keys = keys

    def _find(self, event: Event) -> object:
        return next((event.raw[key] for key in self._keys if key in event.raw), None)


class Text(_Field):
    """A text, empty where there is none."""

    def __get__(self, event: Event, kind: type | None = None) -> str:
        value = self._find(event)
        return value if isinstance(value, str) else ""


class Flag(_Field):
    """True or false, false where there is neither."""

    def __get__(self, event: Event, kind: type | None = None) -> bool:
        return self._find(event) is True


class Number(_Field):
    """A number, 0 where there is none."""

    def __get__(self, event: Event, kind: type | None = None) -> float:
        value = self._find(event)
        return value if isinstance(value, int | float) and not isinstance(value, bool) else 0


class Object(_Field):
    """A JSON object, empty where there is none."""

    def __get__(self, event: Event, kind: type | None = None) -> dict[str, Any]:
        value = self._find(event)
        return value if isinstance(value, dict) else {}


class Objects(_Field):
    """A list of JSON objects; other items are dropped."""

    def __get__(self, event: Event, kind: type | None = None) -> list[dict[str, Any]]:
        value = self._find(event)
        return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


class Anything(_Field):
    """The JSON that was sent, None where there is none."""

    def __get__(self, event: Event, kind: type | None = None) -> Any:  # noqa: ANN401 - it is JSON
        return self._find(event)


class Event:
    """An event of an agent; a handler on `Event` itself gets every event.

    `platform` is its agent, `raw` the whole input, and `payload` its bytes. The class of an event
    has a method for each answer that the event can carry.
    """

    payload: bytes
    platform: Platform
    raw: Mapping[str, Any]

    verdicts: ClassVar[frozenset[Verdict]] = frozenset()

    name = Text("hook_event_name")
    session_id = Text("session_id")
    transcript_path = Text("transcript_path")
    cwd = Text("cwd")
    permission_mode = Text("permission_mode")
    agent_id = Text("agent_id")
    agent_type = Text("agent_type")

    def __init__(self, raw: Mapping[str, Any], platform: Platform, payload: bytes) -> None:
        vars(self).update(raw=raw, platform=platform, payload=payload)

    def __init_subclass__(cls) -> None:
        """Collect the verdicts of the class and its abilities."""
        verdict_sets = (vars(kind).get("verdicts", frozenset()) for kind in cls.__mro__)
        cls.verdicts = frozenset().union(*verdict_sets)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"an event cannot be changed: {name} is what the agent sent")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.name} of {self.platform}>"

    def refusal(self, _reason: str) -> Answer | None:
        """Return the answer that stops what is about to happen; None where there is none.

        A hook with `run(on_error="deny")` gives this answer when it fails. An agent never answers
        it by trying again.
        """
        return None


class Unknown(Event):
    """An event that this library does not know, perhaps newer than it: only ever looked at."""


def text_of(output: Value) -> str:
    """Return an output as a text for the model."""
    return output if isinstance(output, str) else compact(output)


class Reply(NamedTuple):
    """One JSON object on standard output or nothing, words on standard error, an exit code.

    `unsaid`: what this platform cannot express on this event, in words for the hook's author.
    """

    output: Mapping[str, Value] | None = None
    stderr: str = ""
    exit_code: int = 0
    unsaid: tuple[str, ...] = ()


class Body:
    """The top level, the members of hookSpecificOutput, and how the process ends."""

    def __init__(self, event: Event) -> None:
        self.event = event
        self.top: dict[str, Value] = {}
        self.specific: dict[str, Value] = {}
        self.stderr = ""
        self.exit_code = 0
        self._unsaid: list[str] = []

    def leave_out(self, what: str) -> None:
        """Note something that this platform cannot be told on this event."""
        self._unsaid.append(what)

    def permission(self, word: str, reason: str) -> None:
        """Say before a call what is to become of it."""
        self.specific["permissionDecision"] = word
        if reason:
            self.specific["permissionDecisionReason"] = reason

    def leave_out_display(self, answer: Answer) -> None:
        """Note what a platform that shows its user nothing of a hook's cannot be told."""
        if answer.user_message:
            self.leave_out("the message: this agent shows its user none")
        if answer.suppress_output:
            self.leave_out("suppressOutput: this agent shows no output of a hook")

    def go_beside(self, answer: Answer) -> None:
        """Say what an answer holds beside its verdict, at the top level."""
        if answer.halt:
            self.top |= {"continue": False, "stopReason": answer.halt}
        if answer.user_message:
            self.top["systemMessage"] = answer.user_message
        if answer.suppress_output:
            self.top["suppressOutput"] = True

    def reply(self, silence: Mapping[str, Value] | None = None) -> Reply:
        """Return the reply; `silence` is printed for no opinion."""
        output = dict(self.top)
        if self.specific:
            output["hookSpecificOutput"] = {"hookEventName": self.event.name, **self.specific}
        return Reply(output or silence, self.stderr, self.exit_code, tuple(self._unsaid))
