"""An event of any agent: a typed, read-only view of the input that its hook was given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from crabhook.sdk.fields import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crabhook.sdk.answer import Answer, Verdict
    from crabhook.sdk.platform import Platform


class Event:
    """What an agent says is happening; a handler on `Event` itself sees every event.

    `platform` is whose event it is, `raw` the whole input, known or not, and
    `payload` its bytes as the hook was given them.  An event's class offers
    the answers that it can carry as methods, and nothing else.
    """

    __slots__ = ("payload", "platform", "raw")

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
        object.__setattr__(self, "raw", raw)
        object.__setattr__(self, "platform", platform)
        object.__setattr__(self, "payload", payload)

    def __init_subclass__(cls) -> None:
        """Gather the verdicts that the class and its abilities bring along."""
        found = (vars(kind).get("verdicts", frozenset()) for kind in cls.__mro__)
        cls.verdicts = frozenset().union(*found)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"an event cannot be changed: {name} is what the agent sent")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.name} of {self.platform}>"

    def refusal(self, _reason: str) -> Answer | None:
        """Return the answer that stops what is about to happen; None where there is none.

        It is what a hook that was told to `run(on_error="deny")` says when it
        fails.  It is never one that an agent answers by trying again.
        """
        return None


class Unknown(Event):
    """An event that this library does not know, perhaps newer than it: only ever looked at."""

    __slots__ = ()
