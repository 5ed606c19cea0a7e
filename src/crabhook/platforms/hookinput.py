"""What the dialects' inputs have in common: a JSON object that names its event."""

from collections.abc import Mapping

from crabhook.model.errors import PayloadError
from crabhook.model.jsontext import Value, parse_object

EVENT = "hook_event_name"


def read_fields(payload: bytes) -> dict[str, Value]:
    """Return the fields of a hook's standard input, which has at least an event's name in EVENT.

    Raises PayloadError, in words for a person.
    """
    fields = parse_object(payload)
    if not text(fields, EVENT):
        raise PayloadError(f'it has no text "{EVENT}"')
    return fields


def text(fields: Mapping[str, Value], key: str) -> str:
    """Return a field that was sent as text; empty where it was not sent, or as something else."""
    value = fields.get(key)
    return value if isinstance(value, str) else ""
