"""A file of tests that leaves a constant of the program changed fails, and no other file does."""

from types import ModuleType

from tests.support.constants import Constants


def test_what_was_left_changed_is_named_and_set_back() -> None:
    module = ModuleType("toy")
    module.__dict__.update(SILENCE=25.0, PAUSES=(0.1, 5.0), kept={})
    constants = Constants([module])
    assert constants.restore() == []
    module.__dict__.update(SILENCE=0.05, kept={1: 2})
    assert constants.restore() == ["toy.SILENCE = 0.05"]
    assert (vars(module)["SILENCE"], vars(module)["kept"]) == (25.0, {1: 2})
    assert constants.restore() == []
