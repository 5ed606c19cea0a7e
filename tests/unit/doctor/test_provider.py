"""A marked request proves the AAP provider: it is denied, and nobody hears of it."""

from __future__ import annotations

import asyncio

import pytest

from crabhook.doctor.finding import FAULT, OK
from crabhook.doctor.provider import prove_provider
from crabhook.doctor.proving import exit_code
from tests.unit.server.http.standing import TOKEN, standing


async def test_a_provider_is_proved_by_a_denial_that_reaches_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CRABHOOK_TOKEN", TOKEN)
    async with standing() as http:
        url = f"{http.where}/aap"
        proof = await asyncio.to_thread(prove_provider, url)
        assert (proof.id, proof.status) == ("prove.provider", OK)
        assert exit_code([proof]) == 0
        other = await asyncio.to_thread(prove_provider, str(http.where))
        assert (other.id, other.status) == ("prove.provider", FAULT)
        assert "/aap" in other.advice
        monkeypatch.setenv("CRABHOOK_TOKEN", "another")
        stranger = await asyncio.to_thread(prove_provider, url)
        assert "CRABHOOK_TOKEN" in stranger.what
        assert stranger.mend.startswith("export ")
        assert exit_code([stranger]) == 1
        broker = http.runner.broker
        assert not broker.waiting()
        assert not broker.ended()
    nobody = await asyncio.to_thread(prove_provider, url)
    assert exit_code([nobody]) == 7
