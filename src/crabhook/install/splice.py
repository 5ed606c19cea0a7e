"""Edits to a JSON text that keep its look: elements taken out of a container, or put at its end.

Taking out what was put in gives the same text again, blanks included.
"""

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from crabhook.model.document import Node

_FIRST_INDENT = re.compile(r"\n([ \t]+)\S")


@dataclass(frozen=True, slots=True)
class Edit:
    """`text` in place of the half-open range `start` to `end`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Addition:
    """What is to be put in: plain Python, under `key` if the container is an object."""

    value: object
    key: str | None = None


def apply(text: str, edits: Sequence[Edit]) -> str:
    """Return `text` with `edits` carried out; they must not overlap."""
    pieces, at = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        pieces += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*pieces, text[at:]])


def removal(container: Node, gone: Collection[int]) -> list[Edit]:
    """Return the edits that take the elements at the indices `gone` out of `container`."""
    elements = container.elements
    if not gone:
        return []
    if len(gone) == len(elements):
        return [Edit(container.start + 1, container.end - 1, "")]
    first_kept = next(index for index in range(len(elements)) if index not in gone)
    return [
        Edit(elements[index].start, elements[index + 1].start, "")
        if index < first_kept
        else Edit(elements[index - 1].node.end, elements[index].node.end, "")
        for index in sorted(gone)
    ]


def appending(text: str, container: Node, additions: Sequence[Addition]) -> Edit:
    """Return the edit that puts `additions` at the end of `container`, in the text's own style."""
    if container.elements:
        lead = _lead(text, container)
        last = container.elements[-1].node.end
        return Edit(last, last, "".join("," + lead + _write(text, a, lead) for a in additions))
    inside = slice(container.start + 1, container.end - 1)
    outside = text[: container.start] + text[container.end :]
    if outside.strip(" \t\r\n\ufeff") and "\n" not in text:
        line = ", ".join(_write(text, addition, "") for addition in additions)
        return Edit(inside.start, inside.stop, line)
    line_start = text.rfind("\n", 0, container.start) + 1
    line = text[line_start : container.start]
    outer = _newline(text) + line[: len(line) - len(line.lstrip(" \t"))]
    lead = outer + _unit(text)
    body = ",".join(lead + _write(text, addition, lead) for addition in additions)
    return Edit(inside.start, inside.stop, body + outer)


def _lead(text: str, container: Node) -> str:
    """Return the blanks that precede an element of `container`, which has at least one."""
    elements = container.elements
    start = elements[-2].node.end if len(elements) > 1 else container.start + 1
    blanks = text[start : elements[-1].start].partition(",")[2 if len(elements) > 1 else 0]
    if "\n" in blanks:
        return _newline(text) + blanks.rpartition("\n")[2]
    return blanks if len(elements) > 1 else " "


def _write(text: str, addition: Addition, lead: str) -> str:
    """Return `addition` as JSON whose lines begin with `lead`, or on one line without it."""
    indent = _unit(text) if "\n" in lead else None
    value = json.dumps(addition.value, ensure_ascii=False, indent=indent).replace("\n", lead)
    if addition.key is None:
        return value
    return f"{json.dumps(addition.key, ensure_ascii=False)}: {value}"


def _unit(text: str) -> str:
    """Return one step of the text's indentation: the first one it shows, else two blanks."""
    found = _FIRST_INDENT.search(text)
    return found[1] if found else "  "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
