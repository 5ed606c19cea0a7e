"""What the shell replaces in a line.

`${…}` has a closed list of operations. Arithmetic is over numbers, plain variables with numbers,
and output that is a number. Quoting is by backslashes, `$'…'` and braces.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from crabhook.policy.shell.line import NUMBERS, Line, UnreadableError
from crabhook.policy.shell.script import ANY, NUMBER, Atom, AtomKind, values_of, written
from crabhook.policy.shell.wrappers import is_plain

_ANSI = re.compile(
    r"\\(?:(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9a-fA-F]{1,2})|u(?P<short>[0-9a-fA-F]{1,4})"
    r"|U(?P<long>[0-9a-fA-F]{1,8})|c(?P<control>.)|(?P<letter>.))",
    re.DOTALL,
)
_LETTERS = dict(zip("ntabeEfrv", "\n\t\a\b\x1b\x1b\f\r\v", strict=True))
_BRACES = re.compile(r"(?<!\\)\{([^{}]*)\}")
_RANGE = re.compile(r"(-?\d{1,4})\.\.(-?\d{1,4})|([a-zA-Z])\.\.([a-zA-Z])")

_DIRECTIVE = re.compile(r"%[-+ 0#]*\d*(?:\.\d+)?[a-zA-Z]")

MAX_BRACES = 16  # of one word
MAX_WORDS = 64  # of one word's braces; more is a trouble, not a list


def unescape(text: str) -> str:
    """Return an unquoted word without its backslashes; a backslash at a line's end joins."""
    return re.sub(r"\\(.)", r"\1", text.replace("\\\n", ""), flags=re.DOTALL)


def ansi(text: str) -> str:
    """Return the characters that the inside of `$'…'` means."""
    return _ANSI.sub(_ansi_letter, text)


def _ansi_letter(match: re.Match[str]) -> str:
    if match["octal"]:
        return chr(int(match["octal"], 8) & 0xFF)
    if match["control"]:
        return chr(ord(match["control"]) & 0x1F)
    digits = match["hex"] or match["short"] or match["long"]
    if digits:
        number = int(digits, 16)
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
    return _LETTERS.get(match["letter"], match["letter"])


def formatted(words: Sequence[str]) -> str:
    """Return what `printf` makes of its format and the words behind it, once through the format."""
    arguments = iter([word for word in words if word != "--"])
    return _DIRECTIVE.sub(lambda _: next(arguments, ""), next(arguments, ""))


def braces(text: str) -> list[str] | None:
    """Return the words of an unquoted word's braces; None without braces.

    Raises OverflowError past MAX_WORDS or MAX_BRACES.
    """
    if text.count("{") > MAX_BRACES:
        raise OverflowError
    match = _BRACES.search(text)
    while match is not None and not _choices(match[1]):
        match = _BRACES.search(text, match.end())
    if match is None:
        return None
    words: list[str] = []
    for choice in _choices(match[1]):
        word = text[: match.start()] + choice + text[match.end() :]
        words.extend(braces(word) or [word])
        if len(words) > MAX_WORDS:
            raise OverflowError
    return words


def _choices(inside: str) -> list[str]:
    if "," in inside:
        return inside.split(",")
    match = _RANGE.fullmatch(inside)
    if match is None:
        return []
    letters = match[3] is not None
    first, last = (ord(match[3]), ord(match[4])) if letters else (int(match[1]), int(match[2]))
    if abs(last - first) >= MAX_WORDS:
        raise OverflowError
    step = 1 if last >= first else -1
    return [chr(n) if letters else str(n) for n in range(first, last + step, step)]


_NUMERIC = re.compile(
    r"[ \t\n]+|0[xX][0-9a-fA-F]+|[0-9]+#?|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|[-+*/%<>=!&|^~?:,]"
)
_SETS = re.compile(r"[ \t]*(?:=(?!=)|(?:[-+*/%&|^]|<<|>>)=|\+\+|--)")
_WHERE = "arithmetic"


def read_arithmetic(line: Line, end: str) -> None:
    """Take an expression and its `end`: `))`, `;`, or empty for the whole line."""
    opened, before = 0, ""
    with line.nested():
        while True:
            if not opened and (line.take(end) if end else not line.here):
                return
            if line.take("("):
                opened += 1
            elif opened and line.take(")"):
                opened -= 1
            elif line.here == "$":
                line.findings.variables.must_count((line.readers.dollar(line),), _WHERE)
            elif match := line.match(_NUMERIC):
                if name := match["name"]:
                    _name(line, name, before)
                before = match[0] if match[0].strip() else before
            elif line.here == "`":
                line.findings.trouble("backquotes in arithmetic")
                line.readers.backquoted(line)
            else:
                raise UnreadableError("arithmetic with more than numbers and plain variables")


def _name(line: Line, name: str, before: str) -> None:
    variables = line.findings.variables
    if name not in NUMBERS and not is_plain(name):
        line.findings.trouble(f"arithmetic over {name}, which may be a command or change what runs")
    if line.here == "[":
        raise UnreadableError("arithmetic over parts of arrays")
    variables.must_count((Atom(AtomKind.NAME, name),), _WHERE)
    if _SETS.match(line.text, line.at) or before in ("+", "-"):
        variables.sets(name, (NUMBER,), ("0",))


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!_-]")
_LENGTH = re.compile(r"#(?:[A-Za-z_][A-Za-z0-9_]*(?:\[(?:[@*]|[0-9]+)\])?|[0-9@*])?(?=\})")
_KEYS = re.compile(r"![A-Za-z_][A-Za-z0-9_]*\[[@*]\](?=\})")
_STAND_IN = re.compile(r":?[-+?=]")
_TRIM = re.compile(r"%%?|##?|//?[#%]?|\^\^?|,,?")
_CASE = re.compile(r"@[QULu](?=\})")
_SLICE = re.compile(r": *")
_OFFSET = re.compile(r" ?-?[0-9]+|\$[A-Za-z_][A-Za-z0-9_]*")
_KEY = re.compile(r"-?[0-9]+(?=\])|\$?[A-Za-z_][A-Za-z0-9_]*(?=\])")
# Bare words of several pieces are keys in a compound value alone: `([a.b]=1)`.
_WORDS_KEY = re.compile(
    r"\"(?:\$(?=[A-Za-z_]))?[\w ./:-]+\"(?=\])|'[\w ./:-]+'(?=\])|\$\{[A-Za-z_]\w*\}(?=\])"
    r"|(?<=\[)[\w.-]+(?=\]=)",
    re.ASCII,
)
_OPERAND_PLAIN = re.compile(r"[^}'\"\\$`{<>()&;|\n]+")
_INNER_QUOTES = re.compile(r'"(?:[\w./:@%+,=*-]|\$[A-Za-z_]\w*|\$\{\w+\})*"', re.ASCII)


def read_expansion(line: Line, *, quoted: bool) -> Atom:
    """Take an expansion after its `${`."""
    variables = line.findings.variables
    if line.match(_LENGTH):
        line.expect("}")
        return NUMBER
    if line.match(_KEYS):
        line.expect("}")
        return ANY
    if line.take("!"):
        line.findings.trouble("${!…} names its variable only when it runs")
    match = line.match(_NAME)
    if not match:
        raise UnreadableError(f"${{{line.text[line.at : line.at + 8]}, which is no variable")
    name = match[0]
    many = name == "@" or line.ahead("[@")
    element = line.here == "[" or name in variables.arrays
    if line.here == "[":
        subscript(line)
    joined, values = quoted and not many, variables.values(name)
    if element or not (name[0].isalpha() or name[0] in "_#?$!"):
        atom = Atom(AtomKind.ANY, joined=joined, values=values)
    elif name[0] in "#?$!":
        atom = replace(NUMBER, values=values)
    else:
        atom = Atom(AtomKind.NAME, name, joined, values)
    if line.take("}"):
        if line.here == "[":
            line.findings.trouble("a bracket right after ${…}, which shells read apart")
        return atom
    return _changed(line, name, atom, quoted=quoted)


def _changed(line: Line, name: str, atom: Atom, *, quoted: bool) -> Atom:
    """Take an operation on the value, up to the closing brace."""
    values, variables = atom.values, line.findings.variables
    if match := line.match(_STAND_IN):
        atoms = _operand(line, quoted=quoted)
        others = values_of(atoms)
        line.expect("}")
        if match[0].endswith("="):
            if not is_plain(name):
                line.findings.trouble(f"it sets {name}, which may change what runs")
            line.findings.assigned += others
            variables.sets(name, atoms, others)
        elif match[0].endswith("?"):
            return atom
        joined = quoted and atom.joined and all(part.joined for part in atoms)
        values = tuple(dict.fromkeys((*values, *others)))
        return variables.either((atom,), atoms, joined=joined, values=values)
    if line.match(_CASE):
        pass
    elif line.match(_TRIM):
        values = (*values, *values_of(_operand(line, quoted=quoted)))
    elif line.match(_SLICE):
        _offset(line)
        if line.take(":"):
            _offset(line)
    elif line.here:
        line.findings.trouble(f"${{{name}{line.here}…}} is more than a variable's value")
        _operand(line, quoted=quoted)
    line.expect("}")
    return Atom(AtomKind.ANY, joined=atom.joined, values=values)


def _offset(line: Line) -> None:
    if match := line.match(_OFFSET):
        _count(line, match[0])
    elif line.ahead("$((") or line.ahead("${#"):
        line.findings.variables.must_count((line.readers.dollar(line),), "${…:…}")
    else:
        line.findings.trouble("${…:…} computes its place when it runs")
        _operand(line, quoted=True)


def _count(line: Line, text: str) -> None:
    """Require digits in a variable of a computation."""
    name = text.lstrip("$")
    if name[0].isalpha() or name[0] == "_":
        line.findings.variables.must_count((Atom(AtomKind.NAME, name),), "a subscript or a place")


def subscript(line: Line) -> None:
    """Take `[…]` after an array's name, or before a value in `(…)`: a number, a word, all.

    A shell computes it, and so evaluates what is in the variables that it names, in quotes too.
    """
    line.expect("[")
    if line.take("@") or line.take("*"):
        pass
    elif match := line.match(_KEY):
        _count(line, match[0])
    elif match := line.match(_WORDS_KEY):
        for name in re.findall(r"[A-Za-z_]\w*", match[0]):
            _count(line, name)
    else:
        line.findings.trouble("a subscript that is computed when it runs")
        _operand(line, quoted=True, end="]")
    line.expect("]")


_CHANGED = frozenset(" *?[~")  # outside quotes, they make a text several words or other ones


def _operand(line: Line, *, quoted: bool, end: str = "}") -> tuple[Atom, ...]:
    """Take the replacement word or the pattern, up to the brace."""
    atoms: list[Atom] = []
    troubles = line.findings.trouble
    with line.nested():
        while line.here and line.here != end:
            letter = line.here
            if match := line.match(_OPERAND_PLAIN if end == "}" else _SUBSCRIPT_PLAIN):
                becomes_more = not quoted and not _CHANGED.isdisjoint(match[0])
                kind = AtomKind.ANY if becomes_more else AtomKind.TEXT
                atoms.append(replace(written(match[0]), kind=kind))
            elif letter == "'" and not quoted:
                atoms.append(single_quoted(line))
            elif letter == '"':
                if quoted and not _INNER_QUOTES.match(line.text, line.at):
                    troubles("quotes inside ${…} between quotes, which shells read apart")
                atoms += line.readers.quoted(line)
            elif letter == "$":
                atoms.append(line.readers.dollar(line, quoted=quoted))
            elif letter == "`":
                troubles("backquotes inside ${…}, which shells read apart")
                atoms.append(line.readers.backquoted(line, quoted=quoted))
            else:
                atoms.append(_odd(line, quoted=quoted))
    return tuple(atoms)


_RAW = re.compile(r"([^']*)'")
_SUBSCRIPT_PLAIN = re.compile(r"[^\]'\"\\$`{}<>()&;|\n]+")


def single_quoted(line: Line) -> Atom:
    """Take single quotes with all that is in them."""
    line.at += 1
    match = line.match(_RAW)
    if not match:
        raise UnreadableError("a quote that does not close")
    return written(match[1])


def _odd(line: Line, *, quoted: bool) -> Atom:
    """Take a letter that is plain only in this place."""
    letter = line.here
    line.at += 1
    if letter == "\\":
        after = line.here
        if not after or after in "}\"'`\n":
            line.findings.trouble("a backslash inside ${…}, which shells read apart")
        line.at += 1
        return written(after)
    if letter in "<>()&;|" and quoted:
        return written(letter)
    line.findings.trouble(f"{letter!r} inside ${{…}}, which shells read apart")
    return Atom(AtomKind.ANY, values=(letter,))
