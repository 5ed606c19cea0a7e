"""What the record tells of the time of a decision: how long its hooks had waited, and which team.

It takes each record after those who ask, so it knows what stood before.
"""

from bisect import bisect_right
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from crabhook.store.record import Record, RecordKind
from crabhook.team.folder import TEAM

FOR_EVER = 1 << 62  # milliseconds
_SOON = 2_000  # milliseconds that a record may take, or a hook before it asks
_LOOK_WITHIN = 10_000  # milliseconds between a server's use of a new team file and its record
_ENDS = (RecordKind.DECIDED, RecordKind.WITHDRAWN, RecordKind.EXPIRED)


class Waited(NamedTuple):
    """For how long a hook had waited at least and at most, in milliseconds, by the record."""

    least: int = 0
    most: int = FOR_EVER


class _TeamFile(NamedTuple):
    """When servers began to use a file of the team; it and the file before it by SHA-256."""

    seq: int
    at: int
    before: str
    digest: str


@dataclass
class RecordedPast:
    """Takes each record; keeps the times of what waits, and the team's files by their digests.

    `last_file`: what the record says beside its records of the team's file, since it keeps no
    change that is older than all of them.
    """

    last_file: str = ""
    _asked: dict[int, dict[str, int]] = field(default_factory=dict)  # by card and by request
    _files: list[_TeamFile] = field(default_factory=list)

    def take(self, record: Record) -> None:
        """Take the next record."""
        match record.kind:
            case RecordKind.ASKED:
                times = self._asked.setdefault(record.card or 0, {})
                times.setdefault(record.request_id, _milliseconds(record))
            case RecordKind.TEAM_CHANGED:
                data = record.data()
                if data.get("name") == TEAM:
                    files = str(data.get("from")), str(data.get("to"))
                    self._files.append(_TeamFile(record.seq, _milliseconds(record), *files))
            case kind if kind in _ENDS:
                self._asked.pop(record.card or 0, None)

    def waited(self, request: str, decided: Record) -> Waited:
        """Return for how long a request had waited when it was decided.

        Another hook may have asked about the card before. The steps of a ladder count from then on
        the server, so the longest wait is how long the card has waited.
        """
        times, at = self._asked.get(decided.card or 0, {}), _milliseconds(decided)
        asked = times.get(request, 0)
        if not 0 < asked <= at:  # it was removed, or a clock was set back
            return Waited()
        return Waited(at - asked, at - min(times.values()) + _SOON)

    @property
    def team_file(self) -> str:
        """The SHA-256 of the team's file that servers use now; empty if no record tells."""
        return self._files[-1].digest if self._files else ""

    def was_in_force(self, digest: str, decided: Record) -> bool:
        """Whether servers used this file of the team, and no other, at a decision."""
        if not self._files:
            return digest == self.last_file
        place = bisect_right(self._files, decided.seq, key=lambda each: each.seq)
        at = _milliseconds(decided)
        before = self._files[place - 1].digest if place else self._files[0].before
        lately = (each.before for each in self._files[:place] if at <= each.at + _LOOK_WITHIN)
        soon = (each.digest for each in self._files[place:] if each.at <= at + _LOOK_WITHIN)
        return {before, *lately, *soon} == {digest}


def _milliseconds(record: Record) -> int:
    """Return a record's time in milliseconds since 1970; 0 where somebody has made it none."""
    try:
        return round(datetime.fromisoformat(str(record.at)).timestamp() * 1000)
    except (ValueError, OverflowError):
        return 0
