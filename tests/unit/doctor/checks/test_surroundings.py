"""Who runs it, and who else may write what decides."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from crabhook.doctor.examination import no_root, own
from crabhook.doctor.finding import Status
from tests.unit.doctor.home import Home, is_well


def test_root_is_warned_and_nobody_else(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert home.look_around(no_root).status is Status.WARNING
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert is_well(home.look_around(no_root))


def test_a_home_of_ones_own_is_well(home: Home) -> None:
    home.install("--gate")
    home.write(home.config / "rules.toml", "")
    assert is_well(home.look_around(own))


@pytest.mark.process
@pytest.mark.parametrize(
    "place",
    [
        lambda home: home.settings,
        lambda home: home.settings.parent,
        lambda home: home.config / "rules.toml",
        lambda home: home.config,
        lambda home: home.folder,
    ],
    ids=["settings", "their folder", "rules", "their folder ", "home"],
)
def test_what_every_user_may_write_is_a_fault_that_is_mended(
    home: Home, place: Callable[[Home], Path]
) -> None:
    home.install("--gate")
    home.write(home.config / "rules.toml", "")
    place(home).chmod(0o777)
    finding = home.look_around(own)
    assert (finding.status, str(place(home)) in finding.what) == (Status.FAULT, True)
    home.mend(finding)
    assert is_well(home.look_around(own))


def test_a_shared_folder_where_nobody_can_take_anothers_place_is_no_matter(home: Home) -> None:
    home.install("--gate")
    home.folder.chmod(0o1777)
    assert is_well(home.look_around(own))
