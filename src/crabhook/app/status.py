"""What a server tells of itself in the file beside its socket, for `crabhook status`."""

from collections.abc import Mapping
from enum import StrEnum

from crabhook.datatypes import frozen


class Part(StrEnum):
    """A server's part among those that share its record."""

    ALONE = "alone"  # no other server can write its record
    LEADER = "leader"
    STANDBY = "standby"  # another server leads; this server takes over when that one ends


@frozen
class ServerStatus:
    """A server's state: its addresses, its waiting cards, its attached desks.

    `pages` are where browsers find it.

    `troubles` are the faults, as desks show them. `role`: alone, leader or standby. Where servers
    share a record: `leader` leads, in `epoch`, and takes hooks at `leader_at`; `lag` is how many
    seconds a standby is behind, `commit_ms` and `batch` are the time of a leader's commit and its
    number of batches.
    """

    pid: int
    waiting: int
    desks: int
    listening: tuple[str, ...]
    role: str = Part.ALONE.value
    leader: str = ""
    epoch: int = 0
    lag: int = 0
    commit_ms: float = 0.0
    batch: float = 0.0
    leader_at: str = ""
    troubles: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()


def part_in_words(status: Mapping[str, object]) -> str:
    """Return a server's part among those that share its record, in words; empty if alone."""
    leader, epoch = status["leader"] or "nobody that is known", status["epoch"]
    if status["role"] == Part.STANDBY:
        at = f", at {status['leader_at']}" if status["leader_at"] else ""
        return f"stands by, {status['lag']} s behind: {leader}{at} leads (epoch {epoch})"
    if status["role"] == Part.LEADER:
        pace = f"a commit takes {status['commit_ms']} ms, with {status['batch']} changes"
        return f"leads those that share its record (epoch {epoch}): {pace}"
    return ""
