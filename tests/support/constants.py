"""Each file of tests leaves the program's constants as they were.

A constant that stays changed fails other files of the same process, by the order in which they
happen to run: a silence of 0.05 seconds cost desks their server in three files.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import ModuleType

PROGRAM = "crabhook."
_PLAIN = (int, float, str, bytes, tuple, frozenset)


class Constants:
    """The plain values of modules' upper-case names, as they are when this is made."""

    def __init__(self, modules: Iterable[ModuleType]) -> None:
        self._kept = [
            (module, name, value)
            for module in modules
            for name, value in vars(module).items()
            if name.isupper() and isinstance(value, _PLAIN)
        ]

    def restore(self) -> list[str]:
        """Set what has changed back, and return it, a text for each name."""
        words: list[str] = []
        for module, name, value in self._kept:
            if (now := getattr(module, name, None)) is not value:
                words.append(f"{module.__name__}.{name} = {now!r}")
                setattr(module, name, value)
        return words


_constants = pytest.StashKey[Constants]()


def pytest_collection_finish(session: pytest.Session) -> None:
    # What a test itself imports first is not held; a run of all tests has imported all by now.
    loaded = [module for name, module in sys.modules.items() if name.startswith(PROGRAM)]
    session.config.stash[_constants] = Constants(loaded)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Refuse a file that leaves a constant changed; its fixtures have ended by then."""
    yield
    if nextitem is None or nextitem.path != item.path:
        changed = item.config.stash[_constants].restore()
        assert not changed, f"set with monkeypatch what {item.path.name} left: {changed}"
