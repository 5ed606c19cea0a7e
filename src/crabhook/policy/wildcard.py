"""Wildcards as in `npm run *`: `*` stands anywhere and for anything, blanks too.

Matched by walking the text once for each fixed part, so no pattern and no
text can make it slow.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wildcard:
    """The fixed parts between the stars; one part means no star at all."""

    parts: tuple[str, ...]

    @property
    def exact(self) -> bool:
        """Whether it stands for one text only."""
        return len(self.parts) == 1

    def matches(self, text: str) -> bool:
        """Whether the whole text fits."""
        if self.exact:
            return text == self.parts[0]
        first, *middle, last = self.parts
        if len(text) < len(first) + len(last) or not text.startswith(first):
            return False
        at = len(first)
        for part in middle:
            at = text.find(part, at)
            if at < 0:
                return False
            at += len(part)
        return at <= len(text) - len(last) and text.endswith(last)


def parse(text: str) -> Wildcard:
    r"""Return the wildcard that `text` writes; `\*` is a star that is meant."""
    parts = text.replace("\\*", "\0").split("*")
    return Wildcard(tuple(part.replace("\0", "*") for part in parts))
