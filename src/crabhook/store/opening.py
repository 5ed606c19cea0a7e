"""Records opened by where they are: a URL such as `sqlite:///home/ann/.local/state/crabhook`."""

from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from crabhook.store.interface import History, Journal, StoreError
from crabhook.store.record import Retention
from crabhook.store.sqlite.journal import SqliteHistory, SqliteJournal
from crabhook.store.writer import Writer

Place = str | Path

_JOURNALS: Mapping[str, Callable[[Path], Journal]] = {"sqlite": SqliteJournal}
_HISTORIES: Mapping[str, Callable[[Path], History]] = {"sqlite": SqliteHistory}


def open_writer(place: Place, retention: Retention | None = None) -> Writer:
    """Open the record at `place` for its one writer.  Raises a StoreError."""
    scheme, folder = _read(place)
    return Writer(_JOURNALS[scheme](folder), retention)


def open_history(place: Place) -> History:
    """Open a view of the record at `place`.  Raises a StoreError, also where there is none yet."""
    scheme, folder = _read(place)
    return _HISTORIES[scheme](folder)


def _read(place: Place) -> tuple[str, Path]:
    """Return what kind of storage is at `place`, and where."""
    if isinstance(place, Path) or "://" not in place:
        return "sqlite", Path(place)
    parts = urlsplit(place)
    if parts.scheme not in _JOURNALS:
        known = ", ".join(f"{scheme}:///PATH" for scheme in _JOURNALS)
        raise StoreError(f"no record can be kept in {parts.scheme}://…; known are: {known}")
    if parts.netloc or not parts.path or parts.query or parts.fragment:
        raise StoreError(f"{parts.scheme}:// takes an absolute path: {parts.scheme}:///PATH")
    return parts.scheme, Path(unquote(parts.path))
