"""A session's end brings a summary of its transcript, once, and only from this machine."""

from __future__ import annotations

import asyncio
import json
import os
from typing import TYPE_CHECKING

import pytest

from crabhook.model.card import Leg, Origin
from crabhook.model.event import Event
from crabhook.platforms import PLATFORMS
from crabhook.server.core import transcripts as module
from crabhook.server.core.transcripts import Summaries

if TYPE_CHECKING:
    from pathlib import Path

    from crabhook.transcript import Summary

HERE = os.uname().nodename


@pytest.fixture
def transcript(tmp_path: Path) -> str:
    said = {"type": "user", "message": {"content": "Write a parser."}}
    (tmp_path / "t.jsonl").write_text(json.dumps(said) + "\n")
    return str(tmp_path / "t.jsonl")


def ended(
    path: str,
    session: str = "s",
    name: str = "SessionEnd",
    host: str = HERE,
    machine: str = "",
) -> Leg:
    event = Event("claude", name, session=session, fields={"transcript_path": path})
    return Leg("r", event, 10.0, origin=Origin(host=host, machine=machine))


class Told:
    def __init__(self) -> None:
        self.summaries: list[Summary] = []
        self.one = Summaries(PLATFORMS, lambda _request, found: self.summaries.append(found))

    async def idle(self) -> list[str]:
        async with asyncio.timeout(60):
            while self.one._waiting:  # noqa: ASYNC110 - nobody else has to know
                await asyncio.sleep(0.005)
        return [found.task for found in self.summaries]


async def test_a_sessions_end_brings_its_summary_once_however_many_hooks_tell(
    transcript: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Told()
    for _ in range(3):
        told.one.on_request(ended(transcript))
    assert await told.idle() == ["Write a parser."]
    monkeypatch.setattr(module, "AGAIN_AFTER", 0.0)  # resumed, and ended again
    told.one.on_request(ended(transcript))
    assert len(await told.idle()) == 2


@pytest.mark.parametrize(
    "other",
    [
        {"name": "Stop"},
        {"host": "elsewhere"},
        {"machine": "build1"},  # which says that it is here
        {"path": ""},
        {"path": "/dev/zero"},
    ],
)
async def test_nothing_else_does(transcript: str, other: dict[str, str]) -> None:
    told = Told()
    told.one.on_request(ended(**{"path": transcript, **other}))
    assert await told.idle() == []


async def test_only_so_many_wait_to_be_read_and_so_many_ends_are_remembered(
    transcript: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_AT_ONCE", 2)
    monkeypatch.setattr(module, "ENDS_KEPT", 1)
    told = Told()
    for number in range(5):
        told.one.on_request(ended(transcript, session=str(number)))
    assert len(await told.idle()) == 2
    assert len(told.one._ended) == 1
