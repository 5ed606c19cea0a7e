"""Every contender really does its work, once each, against the real server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench import goals
from bench.candidate import LeftOut
from bench.contenders import contenders
from bench.errors import BenchError
from bench.httpclient import HttpClient
from bench.instead.commands import instead
from bench.serving import Server, running_server

pytestmark = pytest.mark.process

EVERY = {*goals.FLOORS, *goals.OURS, *goals.INSTEAD, *goals.POSTS}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as found:
        yield found


def test_every_contender_brings_its_verdict_or_is_left_out_by_name(server: Server) -> None:
    with contenders(server) as (ready, left_out):
        names = [*(one.name for one in ready), *(one.name for one in left_out)]
        assert sorted(names) == sorted(EVERY)
        for one in ready:
            assert one.run(server.environment).wall > 0


def test_whatever_one_would_use_instead_is_held_to_an_allow(server: Server) -> None:
    asked = [one for one in instead(server) if not isinstance(one, LeftOut)]
    assert goals.NAIVE in {one.name for one in asked}
    assert {one.verdict for one in asked} == {"allow"}


def test_a_program_that_is_not_there_is_left_out_with_its_reason(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    missing = {one.name: one.why for one in instead(server) if isinstance(one, LeftOut)}
    assert missing.items() >= {
        (goals.NODE, "there is no node here"),
        (goals.CURL, "there is no curl here"),
        (goals.JQ, "there is no jq here"),
    }
    with contenders(server) as (ready, left_out):
        assert {one.name for one in left_out} >= {goals.NODE, goals.POST_AGENT, goals.POST_FETCH}
        assert goals.HELD in {one.name for one in ready}


def test_a_post_that_is_turned_away_has_no_figure(server: Server) -> None:
    client = HttpClient(server.http_port, "Bearer another")
    with client.connected() as line, pytest.raises(BenchError, match="401"):
        client.post(line, b"{}")
