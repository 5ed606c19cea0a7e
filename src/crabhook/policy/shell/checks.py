"""What a line's text alone says against allowing it, whatever the grammar makes of it.

The grammar forgives more than a shell does, and shells differ.  Where the
two could read the same bytes in two ways, no rule may allow the line.
"""

import re
import unicodedata
from itertools import pairwise

from tree_sitter import Node

# The grammar recovers from errors in a time that grows with the square of the
# text: 8 KiB of the worst known take half a second, 64 KiB half a minute.
MAX_BYTES = 8 * 1024
MAX_BACKQUOTES = 40  # ten times as slow as anything else
MAX_TEXT = 256 * 1024  # of a longer line, so much is cut into pieces

_JOINED_WORD = re.compile(r"(?<=[^\s\\])\\\n(?=\S)")
_SLASHES_BEFORE_NEWLINE = re.compile(r"\\\\\n")
_UNREAD = re.compile(r"(?<!\\)(?:\\\\)*(?:`|\$[({\[\w@*#?!$'-])")
_GAP = re.compile(rb"(?:[ \t\n]|\\\n)*")
_GAP_IN_COMMAND = re.compile(rb"(?:[ \t]|\\\n)*")
_ON_ONE_LINE = frozenset({"command", "declaration_command", "unset_command"})


def too_much(text: str) -> str:
    """Return why the text is not parsed at all; nothing where it is."""
    size = len(text.encode("utf-8", "replace"))
    if size > MAX_BYTES:
        return f"the line is {size} bytes long; up to {MAX_BYTES} are read"
    if text.count("`") > MAX_BACKQUOTES:
        return f"the line has more than {MAX_BACKQUOTES} backquotes"
    return ""


def join_words(text: str) -> str:
    """Return the line with words joined that a backslash at the line's end had cut in two."""
    return _JOINED_WORD.sub("", text)


def suspicions(text: str) -> list[str]:
    """Return why the text cannot be trusted to mean what it looks like; nothing if it can."""
    found = []
    if odd := next((letter for letter in text if _is_odd(letter)), None):
        found.append(f"the character U+{ord(odd):04X}, which a shell or an eye may read otherwise")
    if _JOINED_WORD.search(text) or _SLASHES_BEFORE_NEWLINE.search(text):
        found.append("a line's end inside a word")
    return found


def _is_odd(letter: str) -> bool:
    if letter in "\n\t" or " " <= letter <= "~":
        return False
    return unicodedata.category(letter)[0] in "CZ" or letter in "\u115f\u1160\u3164\uffa0\u2800"


def unread(text: str) -> bool:
    """Whether text that the grammar took for plain holds what a shell would expand."""
    return _UNREAD.search(text) is not None


def gaps(node: Node, text: bytes) -> bool:
    """Whether there is anything but blanks between the node's children."""
    at, blank = node.start_byte, _GAP_IN_COMMAND if node.type in _ON_ONE_LINE else _GAP
    for child in node.children:
        if child.start_byte > at and not blank.fullmatch(text, at, child.start_byte):
            return True
        at = max(at, child.end_byte)
    return bool(node.children) and not blank.fullmatch(text, at, node.end_byte)


_PLAIN_TEST = re.compile(
    r"\[(?:[ \t]+(?:[^\s;&|<>()'\"\\]|\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\")+)+[ \t]+\]"
)
_DOUBLE_TEST = re.compile(r"\[\[[ \t](?:(?![<>]\()[^\n;])*[ \t]\]\]")


def test_trouble(text: str) -> str:
    """Return why a shell may read a test otherwise: `[ a < b ]` redirects, `[a` is a command."""
    form = _DOUBLE_TEST if text.startswith("[[") else _PLAIN_TEST
    return "" if form.fullmatch(text) else "a test that a shell may read otherwise"


def touching(node: Node) -> bool:
    """Whether two words of a command stand side by side without a blank."""
    words = [child for child in node.children if not child.type.endswith("_redirect")]
    return any(one.end_byte == two.start_byte for one, two in pairwise(words))


_RESERVED = re.compile(r"[a-z]+|!|\{|\}|\[\[|\]\]")
_ENDS_WORD = b" \t\n;&|()<>`"


def part_of_a_word(node: Node, text: bytes) -> bool:
    """Whether a reserved word is none to a shell, since another word begins or ends there."""
    if not _RESERVED.fullmatch(node.type):
        return False
    before = text[max(0, node.start_byte - 1) : node.start_byte]
    after = text[node.end_byte : node.end_byte + 1]
    return before not in _ENDS_WORD or after not in _ENDS_WORD


def comment_in_word(node: Node, text: bytes) -> bool:
    """Whether a comment begins where a shell would still be inside a word."""
    before = text[max(0, node.start_byte - 1) : node.start_byte]
    return bool(before) and before not in b" \t\n;&|()"


def plain_expansion(node: Node) -> bool:
    """Whether all that stands inside `${…}`, outside inner commands, can be read in one way."""
    todo = list(node.named_children)
    while todo:
        child = todo.pop()
        if child.type in _QUOTED:
            return False
        if child.type.endswith("_substitution"):
            continue
        if not child.children and not _PLAIN_INSIDE.fullmatch(child.text or b""):
            return False
        todo.extend(child.named_children)
    return True


_QUOTED = frozenset({"string", "raw_string", "ansi_c_string", "translated_string"})
_PLAIN_INSIDE = re.compile(rb"[\w.\-*/:+@,%=~^ ?\[\]#!\x80-\xff]*")


def depth(root: Node, limit: int) -> int:
    """Return how deep the tree is, and stop counting past `limit`."""
    cursor, deepest, now = root.walk(), 0, 0
    while True:
        if cursor.goto_first_child():
            now += 1
            deepest = max(deepest, now)
            if deepest > limit:
                return deepest
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return deepest
            now -= 1


def pieces(text: str) -> list[str]:
    """Return the text cut at everything that could end a command: for denying what has no tree."""
    cut = re.split(r"[;&|\n\r(){}`<>]|\$\(", text[:MAX_TEXT])
    found = dict.fromkeys(piece.strip(" \t!\"'") for piece in cut)
    return [piece for piece in found if piece]
