"""A server in the background with a page: where it is, and what stops a phone."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest

from crabhook.model.actor import Role
from tests.integration.test_background import Machine, machine
from tests.integration.test_shared_record import free_port
from tests.support.team import founded

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["machine"]
pytestmark = pytest.mark.process


def up(machine: Machine, port: int) -> Sequence[str]:
    """Start a server with a page at a port, in a team of ann alone."""
    founded(machine.folder / ".local/state/crabhook/team", time.time()).let_in("ann", Role.ADMIN)
    desks = f"127.0.0.1:{free_port()}"
    started = machine.run("up", "--web", f"127.0.0.1:{port}", "--operators", desks)
    assert started.returncode == 0, started.stderr
    return started.stdout.splitlines()


def test_up_tells_where_the_page_is_and_how_the_first_phone_comes_in(machine: Machine) -> None:
    port, other = free_port(), free_port()
    page = f"http://crabhook.localhost:{port}"
    begun = up(machine, port)
    assert f"The page: {page}" in begun
    assert "crabhook team invite ann --web" in begun[-1]
    assert json.loads(machine.run("status", "--json").stdout)["pages"] == [page]
    again = machine.run("up", "--web", f"127.0.0.1:{port}")
    assert (again.returncode, f"The page: {page}" in again.stdout) == (0, True)
    elsewhere = machine.run("up", "--web", f"127.0.0.1:{other}")
    assert (elsewhere.returncode, f"127.0.0.1:{other} for browsers" in elsewhere.stderr) == (
        1,
        True,
    )


def test_the_doctor_says_of_a_running_page_what_stops_a_phone(machine: Machine) -> None:
    missing = machine.run("doctor", "web", "--json")
    assert missing.returncode == 1
    (finding,) = json.loads(missing.stdout)["findings"]
    assert (finding["id"], "up --web" in finding["mend"]) == ("page.served", True)
    up(machine, free_port())
    looked = machine.run("doctor", "web", "--json")
    assert looked.returncode == 0, looked.stdout
    statuses = {one["id"]: one["status"] for one in json.loads(looked.stdout)["findings"]}
    assert statuses == {
        "page.served": "ok",
        "page.name": "warning",
        "page.secure": "ok",
        "page.answers": "ok",
    }
