"""A hook's input, read into an event of the agent that sent it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crabhook.model.errors import PayloadError
from crabhook.model.jsontext import compact, parse_object
from crabhook.sdk.event import Unknown
from crabhook.sdk.events import EVENTS
from crabhook.sdk.platform import Platform

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crabhook.sdk.event import Event


def read_event(payload: bytes | Mapping[str, Any], platform: Platform | str | None = None) -> Event:
    """Return the event in a hook's standard input, or in the object it holds.

    Without a `platform` it is found from the input.  An event that is not in
    the platform's table is `Unknown`.  Raises PayloadError, in words for a
    person, for what is not one JSON object with the event's name.
    """
    if not isinstance(payload, bytes):
        payload = compact(payload).encode()
    raw = parse_object(payload)
    name = raw.get("hook_event_name")
    if not isinstance(name, str) or not name:
        raise PayloadError('it has no text "hook_event_name"')
    whose = Platform(platform) if platform else find_platform(raw)
    return EVENTS[whose].get(name, Unknown)(raw, whose, payload)


def find_platform(raw: Mapping[str, Any]) -> Platform:
    """Return whose input it is, judged by what only one agent sends.

    Gemini dates its events.  Codex numbers its turns, names its transcripts
    rollout-..., and sends a SessionStart's permission mode.  An event is never
    taken for that of an agent which has none of the name.  Environment
    variables tell nothing: an agent that another one started inherits them.
    """
    name, transcript = raw.get("hook_event_name"), raw.get("transcript_path")
    having = [platform for platform in Platform if name in EVENTS[platform]] or [*Platform]
    of_codex = (
        "turn_id" in raw
        or (name == "SessionStart" and "permission_mode" in raw)
        or (isinstance(transcript, str) and transcript.rpartition("/")[2].startswith("rollout-"))
    )
    signs = {Platform.GEMINI: "timestamp" in raw, Platform.CODEX: of_codex, Platform.CLAUDE: True}
    return next((one for one, seen in signs.items() if seen and one in having), having[0])
