"""What `crabhook serve` imports before it listens: nothing that only some servers need."""

import subprocess
import sys

import pytest

NOT_YET = (
    "aiohttp",
    "crabhook.policy.effects.table",
    "crabhook.secrets.find",
    "crabhook.server.ndjson",
    "crabhook.ui.full",
    "crabhook.ui.plain",
    "pathspec",
    "prometheus_client",
    "prompt_toolkit",
)


@pytest.mark.process
def test_no_server_begins_to_listen_later_for_what_it_may_not_need() -> None:
    told = "import sys, crabhook.cli.serve; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", told], capture_output=True, text=True, check=True, timeout=60
    )
    assert set(run.stdout.split()).isdisjoint(NOT_YET)
