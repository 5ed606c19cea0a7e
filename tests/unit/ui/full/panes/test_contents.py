"""What is shown follows where keys go: a page while it is open, else the card."""

from __future__ import annotations

import pytest

from crabhook.ui.full.dialogs.bulk import BundleContent
from crabhook.ui.full.dialogs.edit import EditContent
from crabhook.ui.full.dialogs.prompts import MenuContent, Statement
from crabhook.ui.full.panes.card import OVER_THE_CARD, HelpContent, content_of
from crabhook.ui.full.panes.request import TextContent
from crabhook.ui.text.layout import Content, Page
from tests.support.sitting import Sitting


@pytest.mark.parametrize(
    ("keys", "kind"),
    [
        ([], TextContent),
        (["enter"], TextContent),
        (["d"], TextContent),
        (["?"], HelpContent),
        (["O"], MenuContent),
        (["e"], EditContent),
        (["e", "x", "c-s"], Page),
        (["space", "a"], BundleContent),
        (["b", "enter"], Statement),
    ],
)
def test_each_page_is_shown_while_it_is_open(keys: list[str], kind: type[Content]) -> None:
    sitting = Sitting()
    sitting.ask()
    sitting.wait()
    sitting.press(*keys)
    content = content_of(sitting.screen)
    assert isinstance(content, kind)
    assert (sitting.screen.focus.mode in OVER_THE_CARD) == (kind is not TextContent)


def test_without_a_card_there_is_nothing_but_pages() -> None:
    sitting = Sitting()
    assert content_of(sitting.screen) is None
    sitting.press("O")
    assert isinstance(content_of(sitting.screen), MenuContent)
