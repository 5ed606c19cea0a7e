"""Acts are named once, in the words of what they do."""

from __future__ import annotations

from crabhook.ui.full.act import Act


def test_every_act_has_a_name_of_its_own() -> None:
    assert len({act.value for act in Act}) == len(Act)
    assert all(act.value == act.name.lower() for act in Act)
