"""Events about the session and its surroundings, its models and its forms."""

from __future__ import annotations

from crabhook.sdk.abilities import (
    Askable,
    Blockable,
    Deniable,
    Fillable,
    Preventable,
    TakesContext,
    TalksToUser,
)
from crabhook.sdk.event import Answer, Event, Number, Object, Text, Verdict


class SessionStart(TakesContext, TalksToUser):
    """A session begins: `source` says from what (startup, resume, clear ...)."""

    source = Text("source")
    model = Text("model")


class SessionEnd(Event):
    """A session is over."""

    reason = Text("reason")


class Setup(Event):
    """Claude Code was started to set something up."""

    trigger = Text("trigger")


class PreCompact(Blockable):
    """The conversation is about to be compacted (Gemini: PreCompress).

    `block` leaves it as it is; only Claude Code can be told so.
    """

    trigger = Text("trigger")
    custom_instructions = Text("custom_instructions")


class PostCompact(Event):
    """The conversation was compacted (Claude Code, Codex)."""

    trigger = Text("trigger")
    compact_summary = Text("compact_summary")


class PreModelSwitch(Deniable, Askable, TalksToUser):
    """The session is about to go on with another model (Claude Code)."""

    verdicts = frozenset({Verdict.ALLOW})
    from_model = Text("from_model")
    to_model = Text("to_model")
    source = Text("source")
    context_tokens = Number("context_tokens")

    def allow(self) -> Answer:
        """Let it switch."""
        return Answer(Verdict.ALLOW)


class PostModelSwitch(TakesContext, TalksToUser):
    """The session goes on with another model (Claude Code), which reads the context."""

    from_model = Text("from_model")
    to_model = Text("to_model")
    source = Text("source")


class ConfigChange(Preventable):
    """A settings file has changed (Claude Code).  `block` keeps it out of this session."""

    source = Text("source")
    file_path = Text("file_path")


class Elicitation(Fillable):
    """An MCP server asks the user something (Claude Code)."""

    mcp_server_name = Text("mcp_server_name")
    message = Text("message")
    mode = Text("mode")
    url = Text("url")
    elicitation_id = Text("elicitation_id")
    requested_schema = Object("requested_schema")


class ElicitationResult(Fillable):
    """The user has answered an MCP server (Claude Code); an answer here replaces theirs."""

    mcp_server_name = Text("mcp_server_name")
    elicitation_id = Text("elicitation_id")
    action = Text("action")
    content = Object("content")


class InstructionsLoaded(Event):
    """A file of instructions was read (Claude Code)."""

    file_path = Text("file_path")
    memory_type = Text("memory_type")
    load_reason = Text("load_reason")


class CwdChanged(Event):
    """The session's folder is another one (Claude Code)."""

    old_cwd = Text("old_cwd")
    new_cwd = Text("new_cwd")


class FileChanged(Event):
    """A file that is watched has changed (Claude Code); `change` says how."""

    file_path = Text("file_path")
    change = Text("event")


class DirectoryAdded(Event):
    """The session may work in one folder more (Claude Code)."""

    directory = Text("directory")
    source = Text("source")


class WorktreeCreate(Event):
    """A worktree is asked for (Claude Code).

    The hook is what makes it: do not register one that only watches.
    """

    worktree_name = Text("name")


class WorktreeRemove(Event):
    """A worktree is to be removed (Claude Code)."""

    worktree_path = Text("worktree_path")
