"""The wire loses what it is told to lose, and nothing else."""

from __future__ import annotations

import random

import pytest

from tests.soak.frames import Carried, Weather, client_port

pytestmark = pytest.mark.thorough

OUT, BACK = 0, 1
CLIENT, SERVER = 40_000, 7443


def frame(source: int, target: int, *, protocol: int = 6) -> bytes:
    """An Ethernet frame of an IPv4 packet without options, of a TCP segment unless told otherwise."""
    header = bytes((0x45,)) + bytes(8) + bytes((protocol,)) + bytes(10)
    ports = source.to_bytes(2, "big") + target.to_bytes(2, "big")
    return bytes(12) + b"\x08\x00" + header + ports + bytes(16)


def arrive(weather: Weather, way: int, port: int = CLIENT, times: int = 1) -> int:
    """How many of so many frames of a connection arrive."""
    ports = (port, SERVER) if way == OUT else (SERVER, port)
    chance, count = random.Random(1), Carried()
    came = sum(weather.passes(frame(*ports), way, chance, count) for _ in range(times))
    assert count.carried == came
    assert count.carried + count.lost + count.cut == times
    return came


@pytest.mark.parametrize(
    ("hole", "ways"),
    [("none", {OUT, BACK}), ("out", {BACK}), ("back", {OUT}), ("both", set[int]())],
)
def test_a_hole_is_in_its_direction_alone(hole: str, ways: set[int]) -> None:
    weather = Weather()
    weather.obey(["hole", hole])
    assert {way for way in (OUT, BACK) if arrive(weather, way)} == ways
    weather.obey(["hole", "none"])
    assert arrive(weather, OUT) == arrive(weather, BACK) == 1


def test_loss_takes_its_share() -> None:
    weather = Weather()
    weather.obey(["loss", "0.1"])
    assert 850 < arrive(weather, OUT, times=1000) < 950


def test_orphans_are_those_that_were_there_both_ways_and_for_good() -> None:
    weather = Weather()
    assert arrive(weather, OUT) == 1
    weather.obey(["orphan"])
    assert arrive(weather, OUT) == arrive(weather, BACK) == 0
    assert arrive(weather, OUT, CLIENT + 1) == arrive(weather, BACK, CLIENT + 1) == 1


def test_only_tcp_has_a_clients_port() -> None:
    assert client_port(frame(CLIENT, SERVER), OUT) == CLIENT
    assert client_port(frame(SERVER, CLIENT), BACK) == CLIENT
    assert client_port(frame(CLIENT, SERVER, protocol=17), OUT) is None
    assert client_port(bytes(14), OUT) is None


def test_an_order_nobody_knows_is_an_error() -> None:
    with pytest.raises(ValueError, match="no such order"):
        Weather().obey(["rain"])
