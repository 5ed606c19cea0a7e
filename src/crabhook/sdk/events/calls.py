"""Events about tool calls; and the answers that events of every kind can carry.

Each kind of answer is a small class, mixed into events. Its methods return an `Answer`; nothing is
printed before the handler returns one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crabhook.model.jsontext import text_at
from crabhook.sdk.event import (
    Answer,
    Anything,
    Event,
    Flag,
    Number,
    Object,
    Objects,
    Text,
    Verdict,
    common_name,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def words(reason: object) -> str:
    """Return a reason that is never empty: Codex ignores a denial without one."""
    return str(reason or "").strip() or "A hook refused this and did not say why."


class TakesContext(Event):
    """An event on which the model can be told something."""

    def context(self, text: str) -> Answer:
        """Tell the model something, and decide nothing."""
        return Answer(context=text)


class TalksToUser(Event):
    """An event on which the agent's user can be shown something."""

    def tell_user(self, message: str) -> Answer:
        """Show the agent's user a message, and decide nothing."""
        return Answer(user_message=message)


class Haltable(Event):
    """An event on which the turn can be ended."""

    def halt(self, reason: str) -> Answer:
        """End the agent's turn; its user reads the reason."""
        return Answer(halt=words(reason))


class Deniable(Event):
    """An event that something can be denied on before it happens."""

    verdicts = frozenset({Verdict.DENY})

    def deny(self, reason: str) -> Answer:
        """Let it not happen; the model reads the reason."""
        return Answer(Verdict.DENY, words(reason))

    def refusal(self, reason: str) -> Answer | None:
        """Return the denial of a failed hook that must deny."""
        return self.deny(reason)


class Askable(Event):
    """An event on which the agent can be made to ask its own user."""

    verdicts = frozenset({Verdict.ASK})

    def ask(self, reason: str = "") -> Answer:
        """Let the agent ask its own user, who reads the reason.

        For Codex this is a denial: it cannot ask. A headless Gemini ends instead.
        """
        return Answer(Verdict.ASK, reason)


class Blockable(Event):
    """An event that can be blocked, in the platform's own sense of the word."""

    verdicts = frozenset({Verdict.DENY})

    def block(self, reason: str) -> Answer:
        """Block it, for this reason; the event's class says what that means."""
        return Answer(Verdict.DENY, words(reason))


class Preventable(Blockable):
    """An event that a block keeps from happening, so that a hook that fails may block it."""

    def refusal(self, reason: str) -> Answer | None:
        """Return the block of a failed hook that must deny."""
        return self.block(reason)


class Fillable(Event):
    """A form of an MCP server's."""

    verdicts = frozenset({Verdict.ACCEPT, Verdict.DECLINE, Verdict.CANCEL})

    def accept(self, content: Mapping[str, Any] | None = None) -> Answer:
        """Send the form back with these values, by property."""
        return Answer(Verdict.ACCEPT, content=content)

    def decline(self) -> Answer:
        """Send the form back, refused."""
        return Answer(Verdict.DECLINE)

    def cancel(self) -> Answer:
        """Close the form without an answer."""
        return Answer(Verdict.CANCEL)

    def refusal(self, _reason: str) -> Answer | None:
        """Return the refusal of a failed hook that must deny."""
        return Answer(Verdict.DECLINE)


_OF_FILES = ("read_file", "write_file", "edit_file")


class _Call(Event):
    """One call of a tool.

    `tool_name` is the agent's name, `tool` the common name (see `crabhook.sdk.event.COMMON`).
    `tool_input` is empty if the agent sent no object.
    """

    tool_name = Text("tool_name")
    tool_input = Object("tool_input")
    tool_use_id = Text("tool_use_id")

    @property
    def tool(self) -> str:
        """The tool by the name it has on every platform: "shell", "edit_file" ..."""
        return common_name(self.platform, self.tool_name, self.raw.get("mcp_context"))

    @property
    def command(self) -> str:
        """The command line of a call of the shell; empty for every other tool."""
        return text_at(self.tool_input, "command") if self.tool == "shell" else ""

    @property
    def file_path(self) -> str:
        """The file that is read, written or edited, as the agent wrote it; empty without one."""
        path = text_at(self.tool_input, "file_path")
        return path or (text_at(self.tool_input, "path") if self.tool in _OF_FILES else "")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.tool_name} of {self.platform}>"


class PreToolUse(_Call, Deniable, Askable, TakesContext, TalksToUser, Haltable):
    """A tool is about to be called (Gemini: BeforeTool)."""

    verdicts = frozenset({Verdict.ALLOW, Verdict.DEFER})

    def allow(self, *, updated_input: Mapping[str, Any] | None = None, context: str = "") -> Answer:
        """Let it run. Claude Code then asks nobody; Codex and Gemini still ask as they would."""
        return Answer(Verdict.ALLOW, context=context, updated_input=updated_input)

    def rewrite(self, updated_input: Mapping[str, Any], *, context: str = "") -> Answer:
        """Replace the whole input, and leave open whether the call may run.

        Start from what came: `event.rewrite(event.tool_input | {"command": "ls"})`.
        """
        return Answer(context=context, updated_input=updated_input)

    def defer(self) -> Answer:
        """End a headless run of Claude Code; resumed, it asks again. Elsewhere it is a denial."""
        return Answer(Verdict.DEFER)


class PermissionRequest(_Call, Deniable):
    """The agent is about to ask its user; Gemini has no such event.

    `suggestions` are Claude Code's permission updates; `allow` takes some back as `permissions`.
    """

    verdicts = frozenset({Verdict.ALLOW})
    suggestions = Objects("permission_suggestions")

    def allow(
        self,
        *,
        updated_input: Mapping[str, Any] | None = None,
        permissions: Sequence[Mapping[str, Any]] = (),
    ) -> Answer:
        """Let it run, and nobody is asked.

        Codex accepts no other input and no permissions: given one, it asks its user after all.
        """
        return Answer(Verdict.ALLOW, updated_input=updated_input, permissions=tuple(permissions))

    def deny(self, reason: str, *, interrupt: bool = False) -> Answer:
        """Let it not run; the model reads the reason. `interrupt` ends the turn as well."""
        return super().deny(reason)._replace(interrupt=interrupt)


class PreSkillShellCommand(_Call, Deniable, Haltable):
    """A line of a skill is about to run as a shell command (Claude Code, from 2.1.332 on).

    Claude Code's own rules have let it already: an allow adds nothing, and no opinion lets it run.
    `invoked_by` is "user", "claude" or "other".
    """

    verdicts = frozenset({Verdict.ALLOW})
    command_name = Text("command_name")
    command_source = Text("command_source")
    invoked_by = Text("invoked_by")

    def allow(self) -> Answer:
        """Object to nothing."""
        return Answer(Verdict.ALLOW)


class PreMcpToolCall(Event):
    """A tool of an MCP server is about to be called (Copilot), which PreToolUse has decided."""


class PostToolUse(_Call, Blockable, TakesContext, TalksToUser, Haltable):
    """A tool has been called (Gemini: AfterTool).

    The model reads the reason of `block`: beside the result on Claude Code and Qwen, instead of it
    elsewhere.
    """

    tool_response = Anything("tool_response", "tool_result")
    duration_ms = Number("duration_ms")

    def replace_output(self, output: object) -> Answer:
        """Show the model this instead of the result.

        Claude Code ignores a wrong shape for a built-in tool. On Codex and Gemini it is a block
        with this reason.
        """
        return Answer(output=output)


class PostToolUseFailure(_Call, Blockable, TakesContext, TalksToUser):
    """A tool has failed (Claude Code). `block` gives the model the reason beside the error."""

    error = Text("error")
    is_interrupt = Flag("is_interrupt")
    duration_ms = Number("duration_ms")


class PostToolBatch(Blockable, TakesContext, TalksToUser, Haltable):
    """All calls of one message are over (Claude Code). `block` stops the agent here."""

    tool_calls = Objects("tool_calls")


class PermissionDenied(_Call):
    """Claude Code's auto mode has denied a call."""

    verdicts = frozenset({Verdict.RETRY})
    reason = Text("reason")

    def retry(self) -> Answer:
        """Let the model try it again."""
        return Answer(Verdict.RETRY)
