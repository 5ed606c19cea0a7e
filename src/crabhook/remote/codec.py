"""The desk's values as the messages of operator.proto, and back.

A dataclass becomes the message with the same field names; RENAMED lists exceptions. Types decide
the rest. A text is `bytes`, an enumeration's member goes by name, a union is a `oneof` with its
classes' names, and `…_json` is JSON.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import datetime
from enum import Enum, Flag
from functools import cache, reduce
from operator import or_
from typing import Any, NamedTuple, TypeVar, cast, get_args, get_origin, get_type_hints

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from crabhook.model.actor import Ended
from crabhook.model.card import NO_REASON, Because, Card
from crabhook.model.errors import CrabhookError
from crabhook.model.event import Event, ToolCall
from crabhook.model.jsontext import WRITTEN_DEPTH, Value, compact, parse_value
from crabhook.platforms import PLATFORMS
from crabhook.v1 import operator_pb2 as pb

T = TypeVar("T")
M = TypeVar("M", bound=Message)

_DECIDES = {"card": "number", "seen": "version", "id": "decision_id"}
RENAMED: Mapping[str, Mapping[str, str]] = {
    "Card": {"revision": "version"},
    "Offer": {"undone": "denied", "undoes": "denials"},
    "DecideRequest": _DECIDES,
    "RememberRequest": _DECIDES,
    "Signed": {
        "kind": "alg",
        "key": "key_id",
        "signed_at": "signed_at_ms",
        "authenticator_data": "extra",
    },
}
"""The fields of a message that have other names than those of the value, by the value's names."""
MESSAGES = {"RuleActor": "Rule"}
"""The messages that have other names than the class that they carry; names of messages stay."""
BOUNDED: Mapping[str, Mapping[str, int]] = {
    "Because": {"words": 4000, "name": 2000, "note": 2000},
    "ContextReady": {"prompt": 4000, "counted": 200},
    "HouseChanged": {"state": 400, "today": 400},
}
"""How many letters of a text are read at most; what is longer is cut, since it is only shown."""
NEEDED = {"Card": "requests"}  # what a value has at least one of
ELSEWHERE = {
    "State": ("waiting", "ended", "feed", "live", "me"),
    "Card": ("reason",),
    "Vote": ("signed",),
    "Because": ("full",),
    "Order": ("call", "note", "law"),
    "Standing": ("heard", "call", "note", "law"),
}
"""The fields of a value that its message leaves out: others carry them, or no desk needs them."""
COMMAND_ID = "command_id"
"""The id of any other command; what only asks has none on the wire."""


class WireError(CrabhookError):
    """A message that is no value of the desk, or a value that no message can carry."""


def to_message(value: object, message: type[M], kind: Any = None) -> M:  # noqa: ANN401 - a type
    """Return a value, or a union's part `kind`, as this message; raises WireError."""
    try:
        way = _message(cast("Any", type(value)) if kind is None else kind, message.DESCRIPTOR)
        made: M = way.put(value)
    except (ValueError, TypeError, KeyError) as error:
        raise WireError(f"{type(value).__name__} cannot be sent: {error}") from error
    return made


def to_value(message: Message, kind: Any) -> Any:  # noqa: ANN401 - a type or a union, and its value
    """Return the value that a message carries, of this type or of this union; raises WireError."""
    try:
        value = _message(kind, message.DESCRIPTOR).take(message)
    except WireError:
        raise
    except (CrabhookError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise WireError(f"{message.DESCRIPTOR.name} cannot be read: {error}") from error
    return value


class _Way(NamedTuple):
    """How one kind of value goes onto the wire, and comes back."""

    put: Callable[[Any], Any]
    take: Callable[[Any], Any]


class _Row(NamedTuple):
    """One field of a dataclass in its message; `holds` makes a repeated field's container."""

    attribute: str
    field: str
    way: _Way
    optional: bool
    holds: Callable[[Any], Any] | None


def text_sent(text: str) -> bytes:
    """Return a text as it is sent."""
    return text.encode("utf-8", "surrogatepass")


def text_read(text: bytes) -> str:
    """Return a text that was sent; raises UnicodeDecodeError."""
    return text.decode("utf-8", "surrogatepass")


FARTHEST = 1e10  # seconds, some 300 years: what lies beyond no clock and no screen can tell


def seconds_read(sent: float) -> float:
    """Return a time, or a length of time, that was sent; raises WireError."""
    if not abs(sent) <= FARTHEST:
        raise WireError(f"{sent} is no time")
    return sent


_TEXT = _Way(text_sent, text_read)
_PLAIN = _Way(lambda value: value, lambda value: value)
_SECONDS = _Way(_PLAIN.put, seconds_read)
_WAYS = {FieldDescriptor.TYPE_BYTES: _TEXT, FieldDescriptor.TYPE_DOUBLE: _SECONDS}
_DATE = _Way(datetime.isoformat, datetime.fromisoformat)


@cache
def _message(hint: Any, descriptor: Descriptor) -> _Way:  # noqa: ANN401 - any type's hint
    """Return how a message carries a type's values."""
    if hint is Event:
        return _Way(_event_message, _event)
    if hint is Card:
        return _card(_struct(Card, descriptor))
    if is_dataclass(hint) and isinstance(hint, type):
        return _struct(hint, descriptor)
    if get_origin(hint) is tuple:
        return _pair(get_args(hint), descriptor)
    if len(descriptor.oneofs) != 1:
        raise WireError(f"{hint} is not what {descriptor.name} carries")
    return _union(hint, descriptor)


def _struct(kind: type, descriptor: Descriptor) -> _Way:
    hints = get_type_hints(kind)
    every = [_row(field.name, hints[field.name], descriptor) for field in fields(kind)]
    rows = [row for row in every if row]
    made, needed = GetMessageClass(descriptor), NEEDED.get(descriptor.name)

    def put(value: object) -> Message:
        wire_fields = {}
        for attribute, name, way, _, holds in rows:
            inner = getattr(value, attribute)
            if inner is not None:
                wire_fields[name] = way.put(inner) if holds is None else list(map(way.put, inner))
        return made(**wire_fields)

    def take(message: Message) -> object:
        attributes = {}
        for attribute, name, way, optional, holds in rows:
            if holds is not None:
                attributes[attribute] = holds(map(way.take, getattr(message, name)))
            elif optional and not message.HasField(name):
                attributes[attribute] = None
            else:
                attributes[attribute] = way.take(getattr(message, name))
        if needed and not attributes[needed]:
            raise WireError(f"a {descriptor.name} without {needed}")
        return kind(**attributes)

    return _Way(put, take)


def _field_of(attribute: str, descriptor: Descriptor) -> FieldDescriptor | None:
    """Return the message's field for an attribute; None where the message leaves that out."""
    if attribute in ELSEWHERE.get(descriptor.name, ()):
        return None
    named = RENAMED.get(descriptor.name, {}).get(attribute, attribute)
    message_fields = descriptor.fields_by_name
    for name in (named, f"{named}_json"):
        if name in message_fields:
            return message_fields[name]
    if attribute == "id":
        return message_fields.get(COMMAND_ID)
    raise WireError(f"{descriptor.name} has no field for {attribute}")


def _row(attribute: str, hint: Any, descriptor: Descriptor) -> _Row | None:  # noqa: ANN401 - any type's hint
    """Return the row of an attribute; None where the message leaves that out."""
    if (field := _field_of(attribute, descriptor)) is None:
        return None
    optional, holds, inner = type(None) in get_args(hint), None, hint
    if field.is_repeated and isinstance(hint, type) and issubclass(hint, Flag):
        nothing = hint(0)
        holds = lambda flags: reduce(or_, flags, nothing)  # noqa: E731 - as the other is a class
    elif field.is_repeated:
        holds, inner = get_origin(hint), get_args(hint)[0]
    put, take = way = _single(inner, field)
    if longest := BOUNDED.get(descriptor.name, {}).get(field.name):
        way = _Way(put, lambda text: take(text)[:longest])
    if optional and field.type == FieldDescriptor.TYPE_ENUM:
        way, optional = _Way(put, lambda number: take(number) if number else None), False
    return _Row(attribute, field.name, way, optional, holds)


def _single(hint: Any, field: FieldDescriptor) -> _Way:  # noqa: ANN401 - any type's hint
    """Return how a field carries one value."""
    if field.name.endswith("_json"):
        return _json(anything=bool in get_args(hint))
    if type(None) in get_args(hint):
        left = [kind for kind in get_args(hint) if kind is not type(None)]
        hint = left[0] if len(left) == 1 else reduce(or_, left)
    match field.type:
        case FieldDescriptor.TYPE_MESSAGE:
            return _message(hint, field.message_type)
        case FieldDescriptor.TYPE_ENUM:
            return _enum(hint, field.enum_type)
        case FieldDescriptor.TYPE_STRING if hint is datetime:
            return _DATE
        case FieldDescriptor.TYPE_BYTES if hint is bytes:
            return _PLAIN
        case other:
            return _WAYS.get(other, _PLAIN)


def _pair(hints: tuple[Any, ...], descriptor: Descriptor) -> _Way:
    """Return how a message carries a tuple: items are fields, in order."""
    made = GetMessageClass(descriptor)
    names = [field.name for field in descriptor.fields]
    ways = [_single(hint, field) for hint, field in zip(hints, descriptor.fields, strict=True)]

    def put(value: tuple[object, ...]) -> Message:
        items = zip(names, ways, value, strict=True)
        return made(**{name: way.put(item) for name, way, item in items})

    def take(message: Message) -> tuple[object, ...]:
        return tuple(
            way.take(getattr(message, name)) for name, way in zip(names, ways, strict=True)
        )

    return _Way(put, take)


def _union(hint: Any, descriptor: Descriptor) -> _Way:  # noqa: ANN401 - any type's hint
    """Return how a message carries a union: each type in the part with its name."""
    made, (oneof,) = GetMessageClass(descriptor), descriptor.oneofs
    kinds = {MESSAGES.get(kind.__name__, kind.__name__): kind for kind in get_args(hint)}
    parts: dict[type, tuple[str, _Way]] = {}
    by_name: dict[str, _Way] = {}
    for field in oneof.fields:
        part = field.message_type or field.enum_type
        kind = kinds[part.name if part else field.name]
        by_name[field.name] = way = _single(kind, field)
        parts[kind] = field.name, way

    def put(value: object) -> Message:
        name, way = parts[type(value)]
        return made(**{name: way.put(value)})

    def take(message: Message) -> object:
        name = message.WhichOneof(oneof.name)
        if name is None:
            raise WireError(f"{descriptor.name} says nothing that this version knows")
        return by_name[name].take(getattr(message, name))

    return _Way(put, take)


@cache
def _enum(kind: type[Enum], descriptor: EnumDescriptor) -> _Way:
    prefix = re.sub("(?<=[a-z])(?=[A-Z])", "_", descriptor.name).upper()
    wire_numbers = {wire_value.name: wire_value.number for wire_value in descriptor.values}
    numbers = {member: wire_numbers[f"{prefix}_{member.name}"] for member in kind}
    members = {number: member for member, number in numbers.items()}

    def take(number: int) -> Enum:
        if number not in members:
            raise WireError(f"{descriptor.name} {number} is not known here")
        return members[number]

    return _Way(numbers.__getitem__, take)


def _json(*, anything: bool) -> _Way:
    def take(text: bytes) -> Value:
        value = parse_value(text, WRITTEN_DEPTH)
        if not anything and not isinstance(value, dict):
            raise WireError("it is JSON, and not an object")
        return value

    return _Way(json_of, take)


def json_of(value: Value | Mapping[str, Value]) -> bytes:
    """Return a value as JSON on the wire."""
    return compact(value).encode("ascii")


# A card's reason is in three fields: older desks read `law` and `came`, which have it in full. An
# end that they do not know is in a field of its own.

_NEWER_ENDS = frozenset({Ended.SESSION_OVER})


def _card(others: _Way) -> _Way:
    """Return the way of a card; `others` is the way of all that it has beside its reason."""
    way = _message(Because, pb.Because.DESCRIPTOR)
    ends = _enum(Ended, pb.Ended.DESCRIPTOR)

    def put(card: Card) -> Any:  # noqa: ANN401 - the message
        message, reason = others.put(card), card.reason
        if card.end in _NEWER_ENDS:
            message.ClearField("end")
            message.newer_end = ends.put(card.end)
        if reason != NO_REASON:
            setattr(message, "law" if reason.of_rules else "came", text_sent(reason.in_full))
            message.brought.CopyFrom(way.put(reason))
        return message

    def take(message: pb.Card) -> Card:
        card: Card = others.take(message)
        full = text_read(message.law or message.came)
        if message.HasField("brought"):
            brought: Because = way.take(message.brought)
            reason = replace(brought, full="" if full == brought.words else full)
        else:
            reason = Because(None, full)
        if message.newer_end:
            card = replace(card, end=ends.take(message.newer_end))
        return replace(card, reason=reason)

    return _Way(put, take)


# An event carries its input once; the agent's own table says how to show it.

_RECORDS_ALONE = {"trace"}  # for the record, and shown at no desk
_TEXTS = tuple(
    field.name for field in fields(Event) if field.type is str and field.name not in _RECORDS_ALONE
)
_INPUT = "tool_input"


def _event_message(event: Event) -> Any:  # noqa: ANN401 - the message
    message = pb.Event(fields_json=json_of(event.fields))
    for name in _TEXTS:
        setattr(message, name, text_sent(getattr(event, name)))
    tool = event.tool
    if tool is not None:
        comments = sorted(map(text_sent, tool.comments))
        message.tool.MergeFrom(
            pb.ToolCall(name=text_sent(tool.name), use_id=text_sent(tool.use_id), comments=comments)
        )
        if (own := own_input(event)) is not None:
            message.tool.input_json = own
    return message


def own_input(event: Event) -> bytes | None:
    """Return an event's tool input as JSON if its fields lack it."""
    tool, fields = event.tool, event.fields
    if tool is None or (_INPUT in fields and fields[_INPUT] is tool.input):
        return None
    return json_of(tool.input)


def _event(message: pb.Event) -> Event:
    event_fields = (
        _json(anything=False).take(message.fields_json) if message.HasField("fields_json") else {}
    )
    texts = {name: text_read(getattr(message, name)) for name in _TEXTS}
    platform = PLATFORMS.get(texts["platform"])
    return Event(
        **texts,
        tool=_tool(message.tool, event_fields) if message.HasField("tool") else None,
        fields=event_fields,
        tells=platform.events[texts["name"]].tells if platform else {},
    )


def _tool(message: pb.ToolCall, event_fields: Mapping[str, Value]) -> ToolCall:
    own = message.HasField("input_json")
    tool_input = parse_value(message.input_json, WRITTEN_DEPTH) if own else event_fields.get(_INPUT)
    comments = frozenset(map(text_read, message.comments))
    return ToolCall(text_read(message.name), tool_input, text_read(message.use_id), comments)
