"""Receipts of changes: who changed a file of the owner's, left by the desk or command that did.

A desk and a command leave a receipt before they write, with the SHA-256 of the new text. A text
without a receipt was changed out of band, as by an editor, until a person attests it. The receipts
have a key of their own, so that no text on disk alone is a receipt. A program of the same user can
read that key: a receipt tells honest changes from careless changes, not from a determined program.
"""

import hmac
import os
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from crabhook.datatypes import frozen
from crabhook.model.errors import CrabhookError, PayloadError
from crabhook.model.jsontext import MAX_DEPTH, Value, compact, object_at, parse_object, text_at
from crabhook.safe_open import read_own, write_own

KEPT = 64  # receipts; a server has looked long before that
_KEY, _KEY_BYTES, _LARGEST = "key", 32, 1 << 16


class ReceiptError(CrabhookError):
    """A receipt cannot be left; nothing was changed."""


@frozen
class ChangeReceipt:
    """Who answers for a text, in words and for programs.

    `follows` is the SHA-256 of the text that was changed. `attested`: a person answers for all of
    the text.
    """

    words: str
    actor: Mapping[str, Value]
    follows: str = ""
    attested: bool = False


def digest_of_text(text: str) -> str:
    """Return the SHA-256 of a text, in hexadecimal."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@frozen
class ChangeReceipts:
    """The receipts in a folder of this user alone."""

    folder: Path

    def leave(self, name: str, digest: str, receipt: ChangeReceipt) -> None:
        """Leave a receipt for a document's text, by its SHA-256. Raises ReceiptError."""
        content: dict[str, Value] = {
            "name": name,
            "sha256": digest,
            "words": receipt.words,
            "actor": dict(receipt.actor),
            "follows": receipt.follows,
            "attested": receipt.attested,
        }
        try:
            mac = self._mac(compact(content))
            write_own(self._file(name, digest), compact({**content, "mac": mac}).encode())
        except OSError as error:
            raise ReceiptError(f"{self.folder} cannot be written: {error.strerror}") from error
        self._tidy()

    def find(self, name: str, digest: str) -> ChangeReceipt | None:
        """Return the receipt for a text; None without a true receipt."""
        try:
            data = parse_object(read_own(self._file(name, digest), _LARGEST), MAX_DEPTH)
            mac = str(data.pop("mac", ""))
            if not hmac.compare_digest(mac.encode(), self._mac(compact(data)).encode()):
                return None
        except (OSError, PayloadError):
            return None
        if (data.get("name"), data.get("sha256")) != (name, digest):
            return None
        words, actor = text_at(data, "words"), object_at(data, "actor")
        attested = data.get("attested") is True
        return ChangeReceipt(words, actor, text_at(data, "follows"), attested)

    def answers(self, name: str, before: str, after: str) -> ChangeReceipt | None:
        """Return who made the change from one text to another, by their SHA-256.

        Several changes may lie between. None where any of them has no receipt: so a desk's change
        of a text that was changed by hand answers for nothing.
        """
        last, digest = self.find(name, after), after
        for _ in range(KEPT):
            receipt = self.find(name, digest)
            if receipt is None:
                return None
            if receipt.attested or receipt.follows == before:
                return last
            digest = receipt.follows
        return None

    def _file(self, name: str, digest: str) -> Path:
        return self.folder / f"{digest_of_text(name)[:8]}-{digest}.json"

    def _mac(self, text: str) -> str:
        path = self.folder / _KEY
        with suppress(FileExistsError):
            if not path.exists():
                write_own(path, os.urandom(_KEY_BYTES), new=True)
        return hmac.digest(read_own(path, 1024), text.encode(), "sha256").hex()

    def _tidy(self) -> None:
        """Remove the oldest receipts beyond KEPT."""
        with suppress(OSError):
            files = sorted(self.folder.glob("*.json"), key=lambda file: file.stat().st_mtime)
            for file in files[:-KEPT]:
                file.unlink(missing_ok=True)
