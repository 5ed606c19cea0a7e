"""Where things stand in a rule file; TOML's own reader does not tell."""

import re

_RULE = re.compile(r"\s*\[\[\s*[\"']?rule[\"']?\s*\]\]")
_TABLE = re.compile(r"\s*\[")
_SUBTABLE = re.compile(r"\s*\[\s*[\"']?rule[\"']?\s*\.")
_KEY = re.compile(r"\s*([\w\"'-]+)\s*[.=]")


class FileLines:
    """A rule file's lines, counted from 1, and which rule each belongs to."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._plain = _outside_long_texts(self._lines)
        self.starts = [
            number
            for number, line in self._numbered()
            if self._plain[number - 1] and _RULE.match(line)
        ]

    def of_rule(self, number: int, key: str = "", holding: str = "") -> int:
        """Return the line of a rule (from 0), of a key in it, or of a text in that key's value."""
        if number >= len(self.starts):
            return self.of_key("rule")
        start = self.starts[number]
        for line in range(start, self.end_of(number) + 1) if key else ():
            name = _KEY.match(self._lines[line - 1])
            section = re.match(rf"\s*\[\s*rule\s*\.\s*{re.escape(key)}\s*\]", self._lines[line - 1])
            if section or (name and self._plain[line - 1] and name[1].strip("\"'") == key):
                return self._holding(line, self.end_of(number), holding)
        return start

    def _holding(self, line: int, last: int, text: str) -> int:
        written = (text, text.replace("\\", "\\\\").replace('"', '\\"'))
        for at in range(line, last + 1) if text else ():
            if any(one in self._lines[at - 1] for one in written):
                return at
        return line

    def of_key(self, key: str) -> int:
        """Return the line of a key outside every rule, or of a table of that name."""
        for number, line in self._numbered():
            name = _KEY.match(line) or re.match(r"\s*\[+\s*([\w\"'-]+)", line)
            if name and self._plain[number - 1] and name[1].strip("\"'") == key:
                return number
        return 1

    def of_error(self, message: str) -> int:
        """Return the line that TOML's reader names in its message."""
        found = re.search(r"line (\d+)", message)
        return int(found[1]) if found else max(1, len("\n".join(self._lines).rstrip().split("\n")))

    def end_of(self, number: int) -> int:
        """Return the last line that belongs to a rule: not a blank or a comment after it."""
        last = self.starts[number]
        for line in range(last + 1, len(self._lines) + 1):
            text = self._lines[line - 1]
            if self._plain[line - 1]:
                if _TABLE.match(text) and self._begins_table(line) and not _SUBTABLE.match(text):
                    break
                if not text.strip() or text.lstrip().startswith("#"):
                    continue
            last = line
        return last

    def _begins_table(self, line: int) -> bool:
        """Whether a line that begins with a bracket is a header, not part of a list."""
        return re.match(r"\s*\[+[^\[\],]*\]+\s*(#.*)?$", self._lines[line - 1]) is not None

    def without(self, number: int) -> str:
        """Return the file's text without a rule; what stands around it stays."""
        start, end = self.starts[number], self.end_of(number)
        before, after = self._lines[: start - 1], self._lines[end:]
        if before and not before[-1].strip() and after and not after[0].strip():
            after = after[1:]
        return "\n".join([*before, *after])

    def _numbered(self) -> list[tuple[int, str]]:
        return list(enumerate(self._lines, 1))


def _outside_long_texts(lines: list[str]) -> list[bool]:
    """Say of each line whether it begins outside a text of several lines."""
    outside, quote = [], ""
    for line in lines:
        outside.append(not quote)
        at = 0
        while at < len(line):
            if quote:
                end = line.find(quote, at)
                if end < 0:
                    break
                at, quote = end + 3, ""
            elif line[at] == "#":
                break
            elif line.startswith(('"""', "'''"), at):
                at, quote = at + 3, line[at : at + 3]
            elif line[at] in "\"'":
                at = _end_of_text(line, at)
            else:
                at += 1
    return outside


def _end_of_text(line: str, at: int) -> int:
    quote, at = line[at], at + 1
    while at < len(line) and line[at] != quote:
        at += 2 if line[at] == "\\" and quote == '"' else 1
    return at + 1
