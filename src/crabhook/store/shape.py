"""Entries given the shape in which they are kept: redacted, bounded, chained."""

from collections.abc import Iterable, Iterator

from crabhook.model.jsontext import compact
from crabhook.store.record import Entry, Head, Record, iso, link
from crabhook.store.redact import Redactor

MAX_NAME = 4096  # characters of a column that an agent fills; a longer one is cut


class Shaper:
    """Makes records of entries."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor

    def records(self, head: Head, entries: Iterable[Entry]) -> Iterator[Record]:
        """Return the records that follow `head`, one for each entry."""
        for entry in entries:
            content = (head.seq + 1, *self._content(entry))
            head = Head(head.seq + 1, link(head.hash, content))
            yield Record(*content, head.hash)

    def _content(
        self, entry: Entry
    ) -> tuple[str, str, str, str, str, str, str, str, str, str, int | None, str, str]:
        name = self._name
        return (
            iso(entry.at),
            entry.kind.value,
            name(entry.platform),
            name(entry.session),
            name(entry.agent_id),
            name(entry.agent_type),
            name(entry.cwd),
            name(entry.tool),
            name(entry.tool_use_id),
            name(entry.request_id),
            entry.card,
            name(entry.verdict),
            compact(self._redactor.value(entry.body)),
        )

    def _name(self, text: str) -> str:
        """Return a column's text without secrets, cut, and as UTF-8 can hold it.

        Names are ids as often as not, so chance-looking words stay.
        """
        if not text:
            return text
        clean = self._redactor.name(text[:MAX_NAME])
        return clean if clean.isascii() else clean.encode("utf-8", "backslashreplace").decode()
