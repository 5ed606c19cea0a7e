"""Tools by their names."""

import pytest

from crabhook.policy.tools import ALIASES, KINDS, Kind, canonical, kind_of


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Bash", Kind.COMMAND),
        ("run_shell_command", Kind.COMMAND),
        ("Write", Kind.EDIT),
        ("replace", Kind.EDIT),
        ("Task", Kind.AGENT),
        ("apply_patch", Kind.PATCH),
        ("Nobody", Kind.OTHER),
    ],
)
def test_a_tool_does_the_same_by_every_name(name: str, kind: Kind) -> None:
    assert kind_of(name) is kind


def test_an_alias_leads_to_a_name_and_not_to_another_alias() -> None:
    assert all(canonical(name) == name for name in ALIASES.values())
    assert not set(ALIASES) & set(KINDS)
