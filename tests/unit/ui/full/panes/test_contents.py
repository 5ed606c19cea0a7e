"""What is shown follows where keys go: a page while it is open, else the card."""

from __future__ import annotations

from tests.support.rows import every_row
from tests.support.sitting import Sitting


@every_row(
    "keys, shown",
    [
        ([], "│ ls -l"),
        (["enter"], "│ ls -l"),
        (["d"], "│ ls -l"),
        (["i"], "the event itself: PreToolUse of Bash"),
        (["?"], "keys for #1 Bash"),
        (["O"], "standing orders: choose one to end it"),
        (["e"], "│ ls -l"),
        (["e", "x", "c-s"], "the command as it will be sent"),
        (["space", "a"], "ALLOW 1 request of 1 session: #1"),
        (["b", "enter"], "AWAY until you press b"),
    ],
)
def test_each_page_is_shown_while_it_is_open(keys: list[str], shown: str) -> None:
    sitting = Sitting(rows=60)
    sitting.ask()
    sitting.wait()
    sitting.press(*keys)
    assert shown in sitting.text()
    assert ("the event itself" in sitting.text()) == (keys == ["i"])


def test_without_a_card_there_is_nothing_but_pages() -> None:
    sitting = Sitting()
    assert "Nothing needs you" in sitting.text()
    sitting.press("O")
    assert "standing orders: choose one to end it" in sitting.text()
    assert "Nothing needs you" not in sitting.text()
