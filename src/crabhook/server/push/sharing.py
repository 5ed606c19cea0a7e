"""The phones of servers that share a record: each of them calls all, in its turn.

The server that writes the record puts its phones and keys there, as a document sealed for the
team's servers. A server that stands by keeps a copy. What a server had for itself joins the others
when it first writes.
"""

import asyncio
import json
import logging
from collections.abc import Callable
from typing import NamedTuple

from crabhook.model.errors import CrabhookError
from crabhook.server.core.runner import Runner
from crabhook.server.push.phone_book import PhoneBook
from crabhook.server.push.subscriptions import SubscriptionError, Subscriptions
from crabhook.store.commit import Commit
from crabhook.store.opening import open_document
from crabhook.store.record import PHONES
from crabhook.team.server_seal import ServerSeal

_LOG = logging.getLogger(__name__)

LOOK_EVERY = 1.0  # seconds between two looks at the record while another server writes
_WRITTEN = Commit.ended()


class SealedRecord(NamedTuple):
    """A record that servers share, by its address, and the seal of these servers."""

    url: str
    seal: ServerSeal


class PhonesOnRecord:
    """Keeps a server's phones and those on record the same; `changed` is called on each change."""

    def __init__(
        self, kept: Subscriptions, record: SealedRecord, changed: Callable[[], object]
    ) -> None:
        self._kept, (self._url, self._seal), self._changed = kept, record, changed
        self._copied = ""  # the document that is here, as it is on record
        self._facts: object = None  # those on record, as far as this server writes them

    def __repr__(self) -> str:
        return f"<PhonesOnRecord {self._kept!r}>"

    def begin(self, runner: Runner) -> None:
        """Have the phones on record and our own, where `runner` begins to write the record."""
        self._copied, self._facts = "", None
        if runner.texts is None:
            return
        try:
            if text := runner.texts.read(PHONES):
                self._take(text)
        except CrabhookError as error:
            runner.warn(f"the phones on record are not used, but those of this server: {error}")
        self.put(runner)

    def _take(self, text: str) -> None:
        """Have the phones of a document, and beside them our own; raises CrabhookError."""
        book = self._book(text)
        self._facts = book.facts
        if self._has_own:
            self._kept.replace(book.with_those_of(self._kept.book))
        else:
            self._copy(book)

    def _copy(self, book: PhoneBook) -> None:
        self._kept.replace(book)
        self._kept.copied = True

    @property
    def _has_own(self) -> bool:
        """Whether phones are here that never were on record."""
        return len(self._kept) > 0 and not self._kept.copied

    def _book(self, text: str) -> PhoneBook:
        try:
            return PhoneBook.of_plain(json.loads(self._seal.opened(PHONES, text)))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise SubscriptionError("the phones on record are not as we write them") from None

    def put(self, runner: Runner) -> Commit:
        """Put the phones on record where one came or went."""
        ends = runner.closed or runner.handed_over
        if ends or runner.texts is None or (book := self._kept.book).facts == self._facts:
            return _WRITTEN
        self._facts = book.facts
        self._kept.replace(book)
        text = self._seal.sealed(PHONES, book.encoded())
        commit = runner.keep(runner.texts.next(PHONES, text, "the server"))
        commit.on_end(lambda: self._is_over(commit))
        return commit

    def _is_over(self, commit: Commit) -> None:
        """Have nothing of our own any more, once all of it is on record."""
        if commit.recorded and not self._kept.copied:
            self._kept.copied = self._kept.changed = True
            self._changed()

    async def follow(self, stands_by: Callable[[], bool]) -> None:
        """Copy what another server puts on record, until cancelled."""
        there = open_document(self._url, PHONES)
        try:
            while True:
                await asyncio.sleep(LOOK_EVERY)
                if not stands_by() or self._has_own:
                    continue
                try:
                    text = await asyncio.to_thread(there.text)
                    if text not in ("", self._copied) and stands_by():
                        self._copy(self._book(text))
                        self._copied = text
                        self._changed()
                except CrabhookError as error:
                    _LOG.debug("the phones on record were not read: %s", error)
                except Exception:  # noqa: BLE001 - a fault here must not end calls
                    _LOG.exception("the phones on record were not read")
        finally:
            there.close()
