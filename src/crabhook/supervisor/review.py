"""What is put before a reviewer, and what comes back."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from crabhook.model.jsontext import Value, compact
from crabhook.supervisor.contract import HookInput, Occasion


@dataclass(frozen=True, slots=True)
class Review:
    """An agent that wants to stop, or to ask its user something.

    `iteration` is which event of its session this is, from 1; the last that
    is reviewed is `limit`.
    """

    asked: HookInput
    occasion: Occasion
    session_id: str
    iteration: int
    limit: int

    def as_json(self) -> bytes:
        """Return it as a reviewer's command reads it, `hook_input` being all that the agent sent.

        A field that the agent did not send is empty.
        """
        told: dict[str, Value] = {
            "event": self.asked.name,
            "session_id": self.session_id,
            "iteration": self.iteration,
            "limit": self.limit,
            "last_assistant_message": self.asked.text("last_assistant_message"),
            "transcript_path": self.asked.text("transcript_path"),
            "cwd": self.asked.text("cwd"),
            "questions": self.asked.questions(),
            "hook_input": dict(self.asked.raw),
        }
        return f"{compact(told)}\n".encode()


@dataclass(frozen=True, slots=True)
class Finding:
    """What a reviewer thinks.

    `allow`: whether it may stop, or ask; None is no opinion, and never one.
    `feedback`: why, or how to go on; the model reads it.
    `output`: what the answer says beside that, in Claude Code's own words.
    """

    allow: bool | None
    feedback: str = ""
    output: Mapping[str, Value] = field(default_factory=dict)
