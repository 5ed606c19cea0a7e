"""Bytes from a pipe, until its end, a deadline, or more than anybody would honestly send."""

import os
import select

from crabhook.supervisor.deadline import Deadline


class TooMuchError(ValueError):
    """More came than was to be taken; the text says how much that is."""


def read_all(file: int, most: int, deadline: Deadline) -> bytes:
    """Return what comes from `file` until it ends.

    Raises TooMuchError past `most` bytes, OutOfTimeError, and OSError.
    """
    read = bytearray()
    while True:
        ready, _, _ = select.select([file], [], [], deadline.left())
        if not ready:
            continue  # the deadline says so itself
        chunk = os.read(file, 1 << 16)
        if not chunk:
            return bytes(read)
        read += chunk
        if len(read) > most:
            raise TooMuchError(f"it is larger than {most >> 20} MiB")
