"""A configuration's values, each with its place in the file, whatever the file's syntax."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from crabhook.lint.finding import Place
from crabhook.model.jsontext import Value


@dataclass(frozen=True, slots=True)
class Item:
    """One value: as plain Python, and with its members or its items."""

    place: Place
    value: Value
    members: "Mapping[str, Item]" = field(default_factory=dict)
    items: "tuple[Item, ...]" = ()
    key_places: Mapping[str, Place] = field(default_factory=dict)

    def text(self, key: str) -> str:
        """Return the member of that name where it is a text; nothing for anything else."""
        member = self.members.get(key)
        return member.value if member is not None and isinstance(member.value, str) else ""

    def where(self, key: str) -> Place:
        """Return the place of a member's key, or where it is missing, of the whole."""
        return self.key_places.get(key, self.place)
