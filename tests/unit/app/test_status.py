"""What `crabhook status` says of a server that shares its record."""

import os
from dataclasses import asdict
from typing import Any

import pytest

from crabhook.app.status import Part, ServerStatus, part_in_words


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, ""),
        (
            {"role": Part.LEADER, "epoch": 3, "leader": "one", "commit_ms": 1.5, "batch": 2.0},
            "leads those that share its record (epoch 3): a commit takes 1.5 ms, with 2.0 changes",
        ),
        (
            {"role": Part.STANDBY, "epoch": 3, "leader": "one", "leader_at": "a:1", "lag": 4},
            "stands by, 4 s behind: one, at a:1 leads (epoch 3)",
        ),
        (
            {"role": Part.STANDBY},
            "stands by, 0 s behind: nobody that is known leads (epoch 0)",
        ),
    ],
)
def test_a_servers_part_is_said_in_a_line(fields: dict[str, Any], words: str) -> None:
    assert part_in_words(asdict(ServerStatus(os.getpid(), 2, 1, (), **fields))) == words
