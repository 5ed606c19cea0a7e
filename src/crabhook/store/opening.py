"""Opens a record by its place: a folder, or a URL.

As `sqlite:///home/ann/.local/state/crabhook`, or `postgresql://crabhook@db.example/crabhook`.
"""

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from crabhook.store.interface import History, Proposal, StoreError
from crabhook.store.record import Retention
from crabhook.store.sqlite.journal import SqliteHistory, SqliteJournal
from crabhook.store.writer import Writer

if TYPE_CHECKING:
    from crabhook.store.postgres.history import PgDocument

Place = str | Path

_SQLITE, _POSTGRES = "sqlite", ("postgresql", "postgres")


def open_writer(
    place: Place, retention: Retention | None = None, beside: Path | None = None
) -> Writer:
    """Open the record at `place` for its one writer. Raises a StoreError.

    `beside`: where this machine notes what it has seen of a remote record.
    """
    if is_shared(place):
        from crabhook.store.postgres.journal import PgJournal  # few servers need it

        return Writer(PgJournal(str(place), beside), retention)
    return Writer(SqliteJournal(_folder(place)), retention)


def open_history(place: Place, beside: Path | None = None) -> History:
    """Open a view of the record at `place`. Raises a StoreError, also where there is no record."""
    if is_shared(place):
        from crabhook.store.postgres.history import PgHistory  # likewise

        return PgHistory(str(place), beside)
    return SqliteHistory(_folder(place))


def propose(place: Place, proposal: Proposal) -> str:
    """Propose a shared record's document to its writer; return why it was refused, or nothing.

    Raises StoreError.
    """
    if not is_shared(place):
        raise StoreError("the record is of this machine alone: its files are what counts")
    from crabhook.store.postgres import history  # likewise

    return history.propose(str(place), proposal)


def open_document(url: str, name: str) -> "PgDocument":
    """Open a document of the shared record at `url` for repeated reading."""
    from crabhook.store.postgres.history import PgDocument  # likewise

    return PgDocument(url, name)


def is_shared(place: Place) -> bool:
    """Whether the record at `place` lies in PostgreSQL, where other servers can write it."""
    return isinstance(place, str) and place.partition("://")[0] in _POSTGRES


def _folder(place: Place) -> Path:
    """Return the folder of an SQLite record."""
    if isinstance(place, Path) or ":" not in place.partition("/")[0]:
        return Path(place)
    parts = urlsplit(place)
    if parts.scheme != _SQLITE:
        places = f"{_SQLITE}:///PATH, {_POSTGRES[0]}://USER@HOST/DATABASE"
        slashes = "//" if "://" in place else ""
        raise StoreError(f"no record can be kept in {parts.scheme}:{slashes}…. Known are: {places}")
    if parts.netloc or not parts.path or parts.query or parts.fragment:
        raise StoreError(f"{parts.scheme}:// takes an absolute path: {parts.scheme}:///PATH")
    return Path(unquote(parts.path))
