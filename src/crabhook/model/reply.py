"""What the agent's process is given: the JSON it will read, and how the hook ends."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from crabhook.model.jsontext import WRITTEN_DEPTH, Value, compact, parse_object


@dataclass(frozen=True)
class Reply:
    """A hook's whole output.

    `output` is the JSON object for standard output; None prints nothing,
    which is how a hook says that it has no opinion.
    """

    output: Mapping[str, Value] | None = None
    stderr: str = ""
    exit_code: int = 0

    @classmethod
    def verbatim(cls, stdout: bytes, stderr: str, exit_code: int) -> "Reply":
        """Return a reply as it was once printed."""
        output = parse_object(stdout, WRITTEN_DEPTH) if stdout else None
        return cls(output, stderr, exit_code)

    @cached_property
    def stdout(self) -> bytes:
        """The bytes for standard output, one line, or none at all.

        Made once, for the record and for the wire: a reply may hold megabytes.
        """
        return b"" if self.output is None else compact(self.output).encode("ascii") + b"\n"


SILENCE = Reply()
