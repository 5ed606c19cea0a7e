"""Events about prompts, turns, subagents and tasks, and about requests to the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from crabhook.sdk.abilities import (
    Blockable,
    Haltable,
    Preventable,
    TakesContext,
    TalksToUser,
    words,
)
from crabhook.sdk.event import Answer, Event, Flag, Number, Object, Text, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class _Prompt(Preventable, TakesContext, TalksToUser, Haltable):
    """Something is about to be put to the model."""

    prompt = Text("prompt")


class UserPromptSubmit(_Prompt):
    """A prompt is about to go to the model (Gemini: BeforeAgent).

    `block` throws the prompt away; its user reads the reason, the model nothing.
    """


class UserPromptExpansion(_Prompt):
    """A slash command is about to become a prompt (Claude Code).  `block` throws it away."""

    expansion_type = Text("expansion_type")
    command_name = Text("command_name")
    command_args = Text("command_args")


class _Ending(TalksToUser):
    """An agent is about to stop; `stop_hook_active` says that a hook has sent it on before."""

    verdicts = frozenset({Verdict.KEEP_GOING})
    stop_hook_active = Flag("stop_hook_active")
    last_assistant_message = Text("last_assistant_message", "prompt_response")

    def keep_going(self, reason: str, *, again: bool = False) -> Answer | None:
        """Send it on; the model reads the reason as what to do next.

        An agent that a hook has sent on already is let go unless `again` is
        true, so that a condition that never comes true makes no endless loop.
        """
        if self.stop_hook_active and not again:
            return None
        return Answer(Verdict.KEEP_GOING, words(reason))


class Stop(_Ending, Haltable):
    """The agent is about to end its turn (Gemini: AfterAgent)."""


class SubagentStop(_Ending):
    """A subagent is about to end (Claude Code, Codex)."""

    agent_transcript_path = Text("agent_transcript_path")


class SubagentStart(TakesContext, TalksToUser):
    """A subagent begins (Claude Code, Codex); the context goes to it."""


class StopFailure(Event):
    """The turn ended in an error (Claude Code)."""

    error = Text("error")
    error_details = Text("error_details")
    last_assistant_message = Text("last_assistant_message")


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


class TeammateIdle(TalksToUser, Haltable):
    """A teammate has nothing to do (Claude Code)."""

    verdicts = frozenset({Verdict.KEEP_GOING})
    teammate_name = Text("teammate_name")
    team_name = Text("team_name")

    def keep_going(self, reason: str) -> Answer:
        """Send it on; it reads the reason.  Nothing tells how often that was done before."""
        return Answer(Verdict.KEEP_GOING, words(reason))


class _Task(Blockable):
    """A task of a team's."""

    task_id = Text("task_id")
    task_subject = Text("task_subject")
    task_description = Text("task_description")
    teammate_name = Text("teammate_name")
    team_name = Text("team_name")


class TaskCreated(_Task):
    """A task was made (Claude Code).  `block` takes it away again; the model reads the reason."""


class TaskCompleted(_Task):
    """A task is done (Claude Code).  `block` leaves it open; the model reads the reason."""


class _Request(Event):
    """A request to the model."""

    llm_request = Object("llm_request")


class BeforeModel(_Request, Preventable, TalksToUser, Haltable):
    """A request is about to go to the model.  `block` ends the turn."""

    def patch(self, llm_request: Mapping[str, Any]) -> Answer:
        """Change these members of the request."""
        return Answer(specific={"llm_request": dict(llm_request)})


class AfterModel(_Request, Blockable, TalksToUser, Haltable):
    """A piece of the model's answer has come.  `block` drops it."""

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
