"""Bytes as text: any text can be made of some bytes, halves of letters among it."""

from __future__ import annotations


def text_of(data: bytes) -> str:
    """Return the text that the bytes are, or the letters of that number each where they are none."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("latin-1")
