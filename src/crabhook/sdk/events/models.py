"""Events about requests to the model, which Gemini alone has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from crabhook.sdk.abilities import Blockable, Haltable, TalksToUser
from crabhook.sdk.answer import Answer
from crabhook.sdk.event import Event
from crabhook.sdk.fields import Object

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class _Request(Event):
    """A request to the model."""

    __slots__ = ()
    llm_request = Object("llm_request")


class BeforeModel(_Request, Blockable, TalksToUser, Haltable):
    """A request is about to go to the model.  `block` ends the turn."""

    __slots__ = ()

    def refusal(self, reason: str) -> Answer | None:
        """Return the block that a hook says when it fails and was told to deny then."""
        return self.block(reason)

    def patch(self, llm_request: Mapping[str, Any]) -> Answer:
        """Change these members of the request."""
        return Answer(specific={"llm_request": dict(llm_request)})


class AfterModel(_Request, Blockable, TalksToUser, Haltable):
    """A piece of the model's answer has come.  `block` drops it."""

    __slots__ = ()
    llm_response = Object("llm_response")

    def replace(self, llm_response: Mapping[str, Any]) -> Answer:
        """Go on with this instead."""
        return Answer(specific={"llm_response": dict(llm_response)})


class BeforeToolSelection(_Request):
    """The model is about to choose among the tools."""

    __slots__ = ()

    def offer(self, mode: Literal["AUTO", "ANY", "NONE"], tools: Sequence[str] = ()) -> Answer:
        """Offer it these tools alone, by Gemini's names; ANY makes it choose one."""
        config: dict[str, Any] = {"mode": mode}
        if tools:
            config["allowedFunctionNames"] = list(tools)
        return Answer(specific={"toolConfig": config})
