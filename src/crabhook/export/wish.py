"""Where the owner wants the record to go, and in which format."""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from crabhook.datatypes import frozen
from crabhook.export.packing import PACKINGS, ExportFormat, ExportWay, Packing
from crabhook.model.errors import CrabhookError

USUAL: Mapping[ExportWay, ExportFormat] = {
    ExportWay.SYSLOG: ExportFormat.CEF,
    ExportWay.HTTP: ExportFormat.OTLP,
}
"""The format of each way, where the owner names none."""


class ExportWishError(CrabhookError):
    """The record cannot go where its owner wants it."""


@frozen
class ExportWish:
    """What [export] in the settings says.

    `to` is a URL. `ca`, `cert` and `key` are files of TLS, `headers` one of HTTP headers.
    """

    to: str
    named: str | None = None
    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None
    headers: Path | None = None

    @property
    def scheme(self) -> str:
        """The scheme of the URL."""
        return urlsplit(self.to).scheme

    @property
    def place(self) -> tuple[str, int]:
        """The host and port of the URL; 0 for the scheme's own port."""
        parts = urlsplit(self.to)
        return parts.hostname or "", parts.port or 0

    @property
    def way(self) -> ExportWay:
        """How it goes there."""
        return ExportWay.SYSLOG if self.scheme.startswith("syslog") else ExportWay.HTTP

    @property
    def format(self) -> ExportFormat:
        """The format."""
        return ExportFormat(self.named or USUAL[self.way])

    @property
    def packing(self) -> Packing:
        """How records are packed; raises ExportWishError where the format does not go this way."""
        if packing := PACKINGS.get((self.way, self.format)):
            return packing
        fits = " or ".join(f'"{form}"' for way, form in PACKINGS if way is self.way)
        raise ExportWishError(
            f'[export] format = "{self.format}" does not go by {self.way}: {fits} does'
        )
