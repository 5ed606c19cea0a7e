"""A desk offers no key for an act that the server would refuse to who sits there."""

from __future__ import annotations

import pytest

from crabhook.desk.replica import Replica
from tests.support.sitting import Sitting


def sitting_as(role: str, monkeypatch: pytest.MonkeyPatch) -> Sitting:
    monkeypatch.setattr(Replica, "role", lambda _: role)
    sitting = Sitting(columns=200)
    sitting.ask()
    sitting.wait()
    return sitting


@pytest.mark.parametrize(
    ("role", "offered"), [("viewer", ""), ("decider", "ad"), ("admin", "adA"), ("", "adA")]
)
def test_the_help_line_has_the_keys_of_the_role(
    role: str, offered: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = sitting_as(role, monkeypatch).help_line().split()
    assert [key for key in "adA" if key in line] == list(offered)


def test_a_key_of_another_role_says_so_and_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    sitting = sitting_as("decider", monkeypatch)
    sitting.press("A")
    assert sitting.screen.notice.text == "always allow is for an admin, and you are a decider"
    sitting = sitting_as("viewer", monkeypatch)
    sitting.press("a")
    assert sitting.screen.notice.text == "allow is for a decider, and you are a viewer"
    assert not sitting.decided()


def test_what_is_marked_is_no_viewers_to_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    sitting = sitting_as("viewer", monkeypatch)
    sitting.press("space")
    assert "the marked" not in sitting.help_line()
    monkeypatch.setattr(Replica, "role", lambda _: "decider")
    assert "a allow the marked" in sitting.help_line()
