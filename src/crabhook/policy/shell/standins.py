"""Letters that stand in for others while the grammar reads a line.

The grammar's scanner, which is C, looks letters up in a table of 256.  Any
beyond is read from other memory: the tree is then made by chance, and a `{`
before a letter from far beyond ends the whole process.  So each such letter is
given another that the table has and the line has not, and is put back into
all that was read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TypeVar, cast

_LAST_SAFE = "\xff"
_TOO_MANY = "it has letters of more kinds than can be read"
_NOT_PLAIN = "\x85\xa0\xad"  # a shell or an eye may take these for blanks
_STAND_INS = [chr(code) for code in range(0x80, 0x100) if chr(code) not in _NOT_PLAIN]

_Value = TypeVar("_Value")


class StandIns:
    """The letters that stand in for others in one line, and how to take them back.

    `known` are the values of variables as the grammar's reader may be given them.
    `trouble`: why the line is not to be given to the grammar; nothing where it may be.
    """

    def __init__(self, text: str, known: Mapping[str, Sequence[str]]) -> None:
        given = "".join([text, *(value for values in known.values() for value in values)])
        letters = dict.fromkeys(given) if not given.isascii() else {}
        beyond = [letter for letter in letters if letter > _LAST_SAFE]
        free = [letter for letter in _STAND_INS if letter not in letters]
        self.trouble = _TOO_MANY if len(beyond) > len(free) else ""
        pairs = list(zip(beyond, free, strict=False))
        self._there = str.maketrans(dict(pairs))
        self._back = str.maketrans({stand_in: letter for letter, stand_in in pairs})
        self.known = {name: tuple(map(self.put, values)) for name, values in known.items()}

    def put(self, text: str) -> str:
        """Return the text as the grammar may read it."""
        return text.translate(self._there)

    def taken_back(self, value: _Value) -> _Value:
        """Return what was read, with its own letters wherever it holds text."""
        return cast("_Value", self._taken(value)) if self._back else value

    def _taken(self, value: object) -> object:
        if isinstance(value, str) and not isinstance(value, Enum):
            return value.translate(self._back)
        if isinstance(value, tuple):
            return tuple(map(self._taken, value))
        if is_dataclass(value) and not isinstance(value, type):
            taken = [self._taken(getattr(value, field.name)) for field in fields(value)]
            return type(value)(*taken)
        return value
