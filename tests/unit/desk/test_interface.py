"""The desk is the whole door: what the server offers to screens is it, word for word."""

import inspect

import pytest

from crabhook.desk.updates import Desk
from crabhook.server.core.local_desk import LocalDesk

DOORS = [name for name, _ in inspect.getmembers(Desk, inspect.isfunction) if name[0] != "_"]


@pytest.mark.parametrize("name", DOORS)
def test_the_servers_desk_opens_the_same_doors(name: str) -> None:
    assert list(inspect.signature(getattr(LocalDesk, name)).parameters) == list(
        inspect.signature(getattr(Desk, name)).parameters
    )
