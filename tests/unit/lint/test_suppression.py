"""Lines that a person has excused."""

from crabhook.lint.linting import Suppression, suppressions


def test_the_rules_the_reason_and_the_place_of_an_excuse_are_read() -> None:
    text = "a\nb  # crabhook: ignore[CH003,CH001] the wrapper\nc # crabhook:ignore[CH010]\n"
    assert suppressions(text) == {
        2: Suppression(frozenset({"CH003", "CH001"}), 4, reasoned=True),
        3: Suppression(frozenset({"CH010"}), 3, reasoned=False),
    }


def test_nothing_else_is_an_excuse() -> None:
    assert not suppressions("crabhook: ignore[CH003] x\n# noqa\n# crabhook: ignore CH003 x\n")
