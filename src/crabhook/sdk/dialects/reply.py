"""What a hook's process gives its agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crabhook.model.jsontext import Value


class Reply(NamedTuple):
    """One JSON object on standard output or nothing, words on standard error, an exit code.

    `unsaid` is what the answer held and this platform cannot be told on this
    event, in words for the hook's author.
    """

    output: Mapping[str, Value] | None = None
    stderr: str = ""
    exit_code: int = 0
    unsaid: tuple[str, ...] = ()
