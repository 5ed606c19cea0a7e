"""Events about the session, its surroundings, models and forms; about prompts, turns and tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from crabhook.sdk.event import Answer, Anything, Event, Flag, Number, Object, Text, Verdict
from crabhook.sdk.events import calls

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class SessionStart(calls.TakesContext, calls.TalksToUser):
    """A session begins: `source` says from what (startup, resume, clear ...)."""

    source = Text("source")
    model = Text("model")


class SessionEnd(Event):
    """A session is over."""

    reason = Text("reason")


class Setup(Event):
    """Claude Code was started to set something up."""

    trigger = Text("trigger")


class PreCompact(calls.Blockable):
    """The conversation is about to be compacted (Gemini: PreCompress).

    `block` leaves it as it is, on Claude Code alone.
    """

    trigger = Text("trigger")
    custom_instructions = Text("custom_instructions")


class PostCompact(Event):
    """The conversation was compacted (Claude Code, Codex)."""

    trigger = Text("trigger")
    compact_summary = Text("compact_summary")


class PreModelSwitch(calls.Deniable, calls.Askable, calls.TalksToUser):
    """The session is about to go on with another model (Claude Code)."""

    verdicts = frozenset({Verdict.ALLOW})
    from_model = Text("from_model")
    to_model = Text("to_model")
    source = Text("source")
    context_tokens = Number("context_tokens")

    def allow(self) -> Answer:
        """Let it switch."""
        return Answer(Verdict.ALLOW)


class PostModelSwitch(calls.TakesContext, calls.TalksToUser):
    """The session goes on with another model (Claude Code), which reads the context."""

    from_model = Text("from_model")
    to_model = Text("to_model")
    source = Text("source")


class ConfigChange(calls.Preventable):
    """A settings file has changed (Claude Code). `block` keeps it out of this session."""

    source = Text("source")
    file_path = Text("file_path")


class Elicitation(calls.Fillable):
    """An MCP server asks the user something (Claude Code)."""

    mcp_server_name = Text("mcp_server_name")
    message = Text("message")
    mode = Text("mode")
    url = Text("url")
    elicitation_id = Text("elicitation_id")
    requested_schema = Object("requested_schema")


class ElicitationResult(calls.Fillable):
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
    """The session's folder has changed (Claude Code)."""

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
    """A worktree is needed (Claude Code); the hook must make it, so register no mere watcher."""

    worktree_name = Text("name")


class WorktreeRemove(Event):
    """A worktree will be removed (Claude Code)."""

    worktree_path = Text("worktree_path")


class _Prompt(calls.Preventable, calls.TakesContext, calls.TalksToUser, calls.Haltable):
    """Something is about to be put to the model."""

    prompt = Text("prompt")


class UserPromptSubmit(_Prompt):
    """A prompt is about to go to the model (Gemini: BeforeAgent).

    `block` throws the prompt away; the user reads the reason, the model nothing.
    """


class UserPromptExpansion(_Prompt):
    """A slash command is about to become a prompt (Claude Code). `block` throws it away."""

    expansion_type = Text("expansion_type")
    command_name = Text("command_name")
    command_args = Text("command_args")


class _Ending(calls.TalksToUser):
    """An agent is about to stop; `stop_hook_active` says that a hook has sent it on before."""

    verdicts = frozenset({Verdict.KEEP_GOING})
    stop_hook_active = Flag("stop_hook_active")
    last_assistant_message = Text("last_assistant_message", "prompt_response")

    def keep_going(self, reason: str, *, again: bool = False) -> Answer | None:
        """Send it on; the model reads the reason as its next task.

        Unless `again`, an agent that a hook already sent on may stop: no endless loop.
        """
        if self.stop_hook_active and not again:
            return None
        return Answer(Verdict.KEEP_GOING, calls.words(reason))


class Stop(_Ending, calls.Haltable):
    """The agent is about to end its turn (Gemini: AfterAgent)."""


class SubagentStop(_Ending):
    """A subagent is about to end (Claude Code, Codex)."""

    agent_transcript_path = Text("agent_transcript_path")


class SubagentStart(calls.TakesContext, calls.TalksToUser):
    """A subagent begins (Claude Code, Codex); the context goes to it."""


class StopFailure(Event):
    """The turn ended in an error (Claude Code)."""

    error = Text("error")
    error_details = Text("error_details")
    last_assistant_message = Text("last_assistant_message")


class TodoCreated(Event):
    """An entry of the list of things to do was made (Qwen Code)."""


class TodoCompleted(Event):
    """An entry of the list of things to do is done (Qwen Code)."""


class SessionDelete(Event):
    """A session was deleted (Qwen Code)."""


class ErrorOccurred(Event):
    """Something went wrong (Copilot); `error_context` says at what."""

    error = Anything("error")
    error_context = Text("error_context")


class Interrupt(Event):
    """The user has interrupted the turn (Codex)."""


class MessageDisplay(Event):
    """A piece of the model's message is about to be shown (Claude Code)."""

    delta = Text("delta")
    final = Flag("final")
    index = Number("index")


class Notification(Event):
    """The agent wants its user's attention (Claude Code, Gemini)."""

    message = Text("message")
    title = Text("title")
    notification_type = Text("notification_type")


class TeammateIdle(calls.TalksToUser, calls.Haltable):
    """A teammate has nothing to do (Claude Code)."""

    verdicts = frozenset({Verdict.KEEP_GOING})
    teammate_name = Text("teammate_name")
    team_name = Text("team_name")

    def keep_going(self, reason: str) -> Answer:
        """Send it on; it reads the reason. Nothing tells how often that was done before."""
        return Answer(Verdict.KEEP_GOING, calls.words(reason))


class _Task(calls.Blockable):
    """A task of a team's."""

    task_id = Text("task_id")
    task_subject = Text("task_subject")
    task_description = Text("task_description")
    teammate_name = Text("teammate_name")
    team_name = Text("team_name")


class TaskCreated(_Task):
    """A task was made (Claude Code). `block` takes it away again; the model reads the reason."""


class TaskCompleted(_Task):
    """A task is done (Claude Code). `block` leaves it open; the model reads the reason."""


class _Request(Event):
    """A request to the model."""

    llm_request = Object("llm_request")


class BeforeModel(_Request, calls.Preventable, calls.TalksToUser, calls.Haltable):
    """A request is about to go to the model. `block` ends the turn."""

    def patch(self, llm_request: Mapping[str, Any]) -> Answer:
        """Change these members of the request."""
        return Answer(specific={"llm_request": dict(llm_request)})


class AfterModel(_Request, calls.Blockable, calls.TalksToUser, calls.Haltable):
    """A piece of the model's answer has come. `block` drops it."""

    llm_response = Object("llm_response")

    def replace(self, llm_response: Mapping[str, Any]) -> Answer:
        """Go on with this instead."""
        return Answer(specific={"llm_response": dict(llm_response)})


class BeforeToolSelection(_Request):
    """The model is about to choose among the tools."""

    def offer(self, mode: Literal["AUTO", "ANY", "NONE"], tools: Sequence[str] = ()) -> Answer:
        """Offer it these tools alone, by Gemini's names; ANY makes it choose one."""
        config: dict[str, Any] = {"mode": mode}
        if tools:
            config["allowedFunctionNames"] = list(tools)
        return Answer(specific={"toolConfig": config})
