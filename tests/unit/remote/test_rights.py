"""A desk elsewhere offers its person what the team's roles allow, by what the server says of them."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

import pytest

from crabhook.desk.replica import Replica
from crabhook.model.actor import Role
from crabhook.team.membership import NEEDS, Permission
from tests.support.desk import PlayedDesk
from tests.support.team_port import team_port

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("role", Role)
async def test_a_desk_elsewhere_knows_what_its_person_may_order(tmp_path: Path, role: Role) -> None:
    server = PlayedDesk()
    async with (
        team_port(server.runner, tmp_path, ann=role) as port,
        port.desk("ann") as desk,
    ):
        replica = Replica(desk, monotonic)
        replica.follow()
        assert replica.may_order() is role.includes(NEEDS[Permission.ORDER])
        assert replica.may_hold() is role.includes(NEEDS[Permission.HOLD])
