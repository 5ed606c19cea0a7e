"""What a session is about: its first prompt, and what was said last, from its transcript.

The file's name comes from an agent, so it is opened with care and read in
pieces of a bounded size; what cannot be read is left out.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress

from crabhook.model.errors import PayloadError
from crabhook.model.jsontext import Value, parse_object

PIECE = 1 << 18  # bytes looked at, at either end
LONGEST = 4000  # characters of one saying
MOST = 30_000  # characters of the tail
_SPEAKERS = ("user", "assistant")


def excerpt(path: str) -> tuple[str, str]:
    """Return the first prompt and the last sayings, one a paragraph; empty where there are none."""
    head, tail = _ends(path)
    first = next((said for who, said in _sayings(head) if who == "user"), "")
    kept: list[str] = []
    room = MOST
    for who, said in reversed(list(_sayings(tail))):
        room -= len(said)
        if room < 0:
            break
        kept.insert(0, f"{who}: {said}")
    return first, "\n\n".join(kept)


def _ends(path: str) -> tuple[list[bytes], list[bytes]]:
    """Return the whole lines in the first and in the last piece of a plain file."""
    if not path.endswith(".jsonl"):
        return [], []
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe must not hold us
    except (OSError, ValueError):
        return [], []
    try:
        about = os.fstat(file)
        if not stat.S_ISREG(about.st_mode):
            return [], []
        head = os.pread(file, PIECE, 0).split(b"\n")
        tail = os.pread(file, PIECE, max(0, about.st_size - PIECE)).split(b"\n")
    except OSError:
        return [], []
    finally:
        os.close(file)
    return head, tail


def _sayings(lines: list[bytes]) -> Iterator[tuple[str, str]]:
    """Return who said what; a line that was cut, or is something else, is passed over."""
    for line in lines:
        with suppress(PayloadError):
            said = parse_object(line)
            message = said.get("message")
            who = said.get("type")
            if not isinstance(message, dict) or who not in _SPEAKERS or said.get("isMeta") is True:
                continue
            text = "\n".join(_words(message.get("content")))
            if text.strip():
                yield str(who), text[:LONGEST]


def _words(content: Value) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, dict):
            continue
        text, name = block.get("text"), block.get("name")
        if block.get("type") == "text" and isinstance(text, str):
            yield text
        elif block.get("type") == "tool_use" and isinstance(name, str):
            yield f"(calls {name})"
