"""The desk is the whole door: what the server offers to screens is it, word for word."""

import inspect

import pytest

from crabhook.desk.interface import Desk
from crabhook.server.core.local_desk import LocalDesk
from tests.support.desk import BrokerDesk

DOORS = [name for name, _ in inspect.getmembers(Desk, inspect.isfunction) if name[0] != "_"]


@pytest.mark.parametrize("name", DOORS)
@pytest.mark.parametrize("desk", [LocalDesk, BrokerDesk])
def test_every_desk_opens_the_same_doors(desk: type, name: str) -> None:
    assert list(inspect.signature(getattr(desk, name)).parameters) == list(
        inspect.signature(getattr(Desk, name)).parameters
    )
