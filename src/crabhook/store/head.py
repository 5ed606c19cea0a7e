"""The chain's head, kept apart from the database and, if wanted, sent to another machine."""

import json
import logging
import subprocess
from collections.abc import Callable, Sequence

from crabhook.store.interface import StoreError
from crabhook.store.record import GENESIS, Head

_LOG = logging.getLogger(__name__)

_HEX = 2 * len(GENESIS.hash)
COMMAND_WITHIN = 20.0  # seconds a command may take to carry the head away


def head_line(head: Head) -> str:
    """Return a head as one line of JSON, the form in which it is kept, printed and sent."""
    at = {"at": head.at} if head.at else {}
    return json.dumps({"seq": head.seq, "hash": head.hash.hex(), **at}) + "\n"


def read_head(text: str) -> Head:
    """Return the head that `head_line` wrote; raises ValueError.  Older ones have no time."""
    match said := json.loads(text):
        case {"seq": int(seq), "hash": str(digest)} if seq >= 0 and len(digest) == _HEX:
            return Head(seq, bytes.fromhex(digest), str(said.get("at", "")))
    raise ValueError('it has no number "seq" and SHA-256 "hash"')


class Courier:
    """Sends the head elsewhere when enough was recorded or enough time has passed.

    That `send` fails is shown in `trouble`, and tried again: it must not hold up the record.
    """

    def __init__(
        self, send: Callable[[str], None], *, every_records: int = 1000, every_seconds: float = 600
    ) -> None:
        self._send = send
        self._every_records, self._every_seconds = every_records, every_seconds
        self._sent, self._at = GENESIS, float("-inf")
        self.trouble = ""

    def tell(self, head: Head, now: float) -> None:
        """Hear of the head at `now`, monotonic seconds; send it if it is time."""
        grown = head.seq - self._sent.seq
        if grown <= 0 or (grown < self._every_records and now - self._at < self._every_seconds):
            return
        try:
            self._send(head_line(head))
        except (OSError, StoreError, subprocess.SubprocessError) as error:
            self.trouble = f"the record's head could not be sent: {error}"
            _LOG.warning("%s", self.trouble)
        else:
            self._sent, self._at, self.trouble = head, now, ""


def through(command: Sequence[str]) -> Callable[[str], None]:
    """Return a way to send a line: run `command` with it on standard input.

    The command is the user's own setting; it is run without a shell.
    """

    def send(line: str) -> None:
        subprocess.run(  # noqa: S603 - see above
            command,
            input=line.encode("ascii"),
            stdout=subprocess.DEVNULL,
            check=True,
            timeout=COMMAND_WITHIN,
        )

    return send
