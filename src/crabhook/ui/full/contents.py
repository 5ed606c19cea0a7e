"""What the large part of the screen shows: a page, or the selected card."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crabhook.ui.full.cardview import card_content
from crabhook.ui.full.dialogs.edit import EditContent
from crabhook.ui.full.dialogs.prompts import MenuContent
from crabhook.ui.full.filters import Mode
from crabhook.ui.full.helppage import HelpContent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from crabhook.ui.full.detail import Content
    from crabhook.ui.full.screen import Screen

# The pages that stand over the selected card.
OVER_THE_CARD: Mapping[Mode, Callable[[Screen], Content | None]] = {
    Mode.HELP: lambda _: HelpContent(),
    Mode.CONFIRM: lambda screen: screen.proposal.content() if screen.proposal else None,
    Mode.MENU: lambda screen: MenuContent(screen.menu) if screen.menu else None,
    Mode.EDIT: lambda screen: EditContent(screen.edit) if screen.edit else None,
}


def content_of(screen: Screen) -> Content | None:
    """Return what is to be shown now; nothing where there is no card and no page."""
    page = OVER_THE_CARD.get(screen.mode)
    if page is not None:
        return page(screen)
    return None if screen.card is None else card_content(screen, screen.card)
