"""Whether the team's identity provider answers, and whether the settings are those that count."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from crabhook.doctor.checks.provider import is_asked
from crabhook.doctor.finding import Status
from tests.support.identity_provider import policy_of
from tests.support.lying_provider import provider
from tests.support.team import founded
from tests.unit.doctor.home import Home, is_well

if TYPE_CHECKING:
    import pytest


def settings(home: Home, issuer: str) -> None:
    lines = ("[oidc]", f'issuer = "{issuer}"', 'client = "crabhook"', 'roles = { a = "viewer" }')
    home.write(home.config / "settings.toml", "\n".join((*lines, "")))


def team_of(home: Home, issuer: str) -> None:
    policy = replace(policy_of(issuer), roles=(("a", "viewer"),), groups=())
    ours = founded(home.state / "team", time.time())
    ours.change(lambda team: replace(team, oidc=policy))


async def test_a_provider_that_answers_is_well_and_a_dead_provider_is_a_fault(home: Home) -> None:
    async with provider() as (double, _):
        settings(home, double.issuer)
        team_of(home, double.issuer)
        assert is_well(await asyncio.to_thread(home.look_around, is_asked))
    finding = await asyncio.to_thread(home.look_around, is_asked)
    assert (finding.status, "look and close" in finding.means) == (Status.FAULT, True)


def test_settings_that_nobody_signed_are_said(home: Home) -> None:
    settings(home, "https://id.example")
    founded(home.state / "team", time.time())
    finding = home.look_around(is_asked)
    assert finding.status is Status.WARNING
    assert "team oidc use" in str(finding.mend)


def test_without_the_package_the_doctor_says_what_to_install(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings(home, "http://127.0.0.1:1")
    team_of(home, "http://127.0.0.1:1")

    def missing() -> None:
        raise ModuleNotFoundError(name="jwt")

    monkeypatch.setattr("crabhook.team.provider.need_reader", missing)
    finding = home.look_around(is_asked)
    assert (finding.status, "jwt is not installed" in str(finding)) == (Status.FAULT, True)


def test_without_a_team_or_a_provider_there_is_nothing_to_look_at(home: Home) -> None:
    assert list(is_asked(home.machine())) == []
    founded(home.state / "team", time.time())
    assert list(is_asked(home.machine())) == []
