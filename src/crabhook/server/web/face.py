"""What a web desk shows, as its port asks for it: the port moves bytes, and draws nothing."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from crabhook.datatypes import frozen
from crabhook.desk.commands import Command
from crabhook.desk.replica import Replica
from crabhook.desk.updates import News
from crabhook.model.card import Card
from crabhook.model.errors import CrabhookError


class ChangedCard(CrabhookError):  # noqa: N818 - what a page is told, and no fault
    """A call is about a card that is shown otherwise by now; says so."""


Fragments: TypeAlias = Sequence[tuple[str, str]]
"""Elements of a page: the id of each, and its new HTML, none where it goes."""
Seen: TypeAlias = Callable[[Card], bytes]
"""Returns what names the inputs of a card as they are shown."""


@frozen
class Asset:
    """A file that the page loads."""

    content: bytes
    content_type: str


class Face(Protocol):
    """Draws a page, and reads what it posts back."""

    @property
    def assets(self) -> Mapping[str, Asset]:
        """The page's own files, by their names."""

    def document(self, name: str) -> str:
        """Return a whole document: the `desk`, or the page to `enrol` a device at."""

    def everything(self, desk: Replica, seen: Seen) -> Fragments:
        """Return all that the desk shows."""

    def changed(self, news: News, desk: Replica, seen: Seen) -> Fragments:
        """Return what a piece of news changes on the page; `desk` has taken it up."""

    def card(self, card: Card, desk: Replica, seen: Seen, *, covers: bool = True) -> str:
        """Return a whole card as HTML; `covers`: without its secrets."""

    def command(self, call: Mapping[str, Any], card: Card | None, desk: Replica) -> Command:
        """Return the command that a posted call gives; raises ChangedCard or another CrabhookError.

        The error has words for the page.
        """
