"""A Bash rule's specifier: `npm run build`, `npm run *`, `git commit:*` (protocol, section 10).

A `*` matches anything anywhere, blanks too. The text is walked once per fixed part, so no pattern
is slow.
"""

import re
from posixpath import basename

from crabhook.datatypes import frozen
from crabhook.policy.shell.script import SimpleCommand
from crabhook.policy.shell.starting import starts_another
from crabhook.policy.shell.unfold import BLANK, Reading, lines


@frozen
class Wildcard:
    """The fixed parts between the stars; one part means no star at all."""

    parts: tuple[str, ...]

    @property
    def exact(self) -> bool:
        """Whether it matches one text only."""
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


_ASSIGNS = re.compile(r"[A-Za-z_]\w*=")


@frozen
class CommandPattern:
    """A rule's pattern of commands: as written, and as a shell would unquote it.

    `bare`: the text without its trailing ` *`, which matches too: `ls *` covers plain `ls`.
    """

    written: Wildcard
    unquoted: Wildcard
    bare: str | None = None
    everything: bool = False

    def covers(self, reading: Reading) -> bool:
        """Whether the pattern allows a command in this reading."""
        if reading.assigned and not _ASSIGNS.match(self.written.parts[0]):
            return False
        if (reading.exact or (reading.starts and not self.starts)) and not self.exact:
            return False
        return self.everything or self._matches(reading.text)

    def hits(self, command: SimpleCommand) -> bool:
        """Whether the pattern names the command in any of its spellings."""
        return bool(command.words) and any(self.hits_text(line) for line in lines(command))

    def hits_text(self, text: str) -> bool:
        """Whether the pattern names one spelling."""
        return self.everything or self._matches(text)

    def _matches(self, text: str) -> bool:
        if self.bare is not None and text == self.bare:
            return True
        if self.unquoted.matches(text):
            return True
        return self.written is not self.unquoted and self.written.matches(text)

    @property
    def starts(self) -> bool:
        """Whether the rule itself names an option by which another program is started."""
        words = self.written.parts[0].split()
        return self.everything or (bool(words) and starts_another(basename(words[0]), words))

    @property
    def exact(self) -> bool:
        """Whether it matches one command only, without a star."""
        return self.written.exact and self.unquoted.exact

    @property
    def written_words(self) -> tuple[str, ...]:
        """The pattern's words as written, with a star wherever a word may be anything."""
        return tuple("*".join(self.written.parts).split())

    @property
    def first_word(self) -> str:
        """The first word of every text it can match, or nothing if that is not fixed."""
        if self.everything or self.written.parts[0] != self.unquoted.parts[0]:
            return ""
        head, blank, _ = self.written.parts[0].partition(" ")
        fixed = blank or self.written.exact
        return head if fixed and not _ASSIGNS.match(head) else ""


def command_pattern(text: str) -> CommandPattern:
    """Return the pattern of a specifier; every text is a pattern."""
    text = " ".join(text.split())
    if text.endswith(":*"):
        text = f"{text[:-2]} *"
    written = parse(text)
    alone = text.endswith(" *") and len(written.parts) == 2
    return CommandPattern(
        written=written,
        unquoted=parse(unquoted) if (unquoted := _unquote(text)) != text else written,
        bare=written.parts[0][:-1] if alone else None,
        everything=text in {"", "*"},
    )


_PIECE = re.compile(
    r"""'(?P<single>[^']*)'|"(?P<double>(?>(?:\\["\\$`]|[^"])*))"|\\(?P<escaped>.)|.""", re.DOTALL
)


def _unquote(text: str) -> str:
    """Return the text as a shell's words, or unchanged where its quotes do not close."""
    pieces = list(_PIECE.finditer(text))
    return text if any(piece[0] in ("'", '"') for piece in pieces) else "".join(map(_bare, pieces))


def _bare(piece: re.Match[str]) -> str:
    """Return what a shell makes of a quoted text or a letter; no quoted blank ends a word."""
    if piece.lastgroup is None:
        return piece[0]
    text = piece[piece.lastgroup]
    if piece.lastgroup == "escaped" and text == "*":
        return "\\*"
    if piece.lastgroup == "double":
        text = re.sub(r"\\([\"\\$`])", r"\1", text)
    return re.sub(r"\s", BLANK, text)
