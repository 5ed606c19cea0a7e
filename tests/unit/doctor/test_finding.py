"""What the findings come to."""

import pytest

from crabhook.doctor.finding import Finding, Status, exit_code, several


@pytest.mark.parametrize(
    ("found", "code"),
    [
        ([], 0),
        (["ok"], 0),
        (["ok", "warning"], 0),
        (["ok", "unknown", "warning"], 2),
        (["unknown", "fault", "ok"], 1),
    ],
)
def test_a_fault_counts_before_what_could_not_be_looked_at(found: list[str], code: int) -> None:
    assert exit_code(Finding("x", Status(one), "") for one in found) == code


def test_of_many_the_first_few_are_named() -> None:
    assert several(["a", "b"]) == "a, b"
    assert several([str(n) for n in range(9)]) == "0, 1, 2, 3 and 5 more"
