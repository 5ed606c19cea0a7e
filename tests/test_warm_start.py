"""A program that starts as a copy is the one that starts in earnest."""

import os
import signal
import subprocess
import time
from datetime import datetime
from pathlib import Path

import pytest

from crabhook.store.record import RecordKind
from tests.support.client import Client, sample
from tests.support.ledger import Ledger
from tests.support.mortal import MortalServer
from tests.support.warm_start import PROGRAM


def environment(home: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}


@pytest.mark.process
@pytest.mark.parametrize(
    "words", ["rules", "rules --help", "log --last x", "nonsense", "serve --listen nowhere"]
)
def test_a_copy_says_and_returns_what_a_new_process_does(words: str, tmp_path: Path) -> None:
    ends = [
        subprocess.run(
            [*before, PROGRAM, *words.split()],
            cwd=tmp_path,
            env=environment(tmp_path),
            capture_output=True,
            check=False,
        )
        for before in ([], ["env"])
    ]
    assert ends[0].stdout == ends[1].stdout
    assert ends[0].stderr == ends[1].stderr
    assert ends[0].returncode == ends[1].returncode


@pytest.mark.process
def test_a_copy_is_a_child_of_the_test_in_a_session_of_its_own(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    with subprocess.Popen(
        [PROGRAM, "serve", "--plain", "--listen", f"unix:{tmp_path}/s"],
        cwd=tmp_path,
        env=environment(tmp_path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as server:
        assert server.stdout is not None
        assert b"listening" in server.stdout.readline()
        assert os.getsid(server.pid) == server.pid
        if (process := Path(f"/proc/{server.pid}")).exists():
            assert (process / "cwd").readlink() == tmp_path
            warm = b"warm_program" in (process / "cmdline").read_bytes()
            assert warm != pytestconfig.getoption("--cold")
            descriptors = {fd.name for fd in (process / "fd").iterdir()}
            assert {"0", "1", "2"} < descriptors
        server.kill()
        assert server.wait(60) == -signal.SIGKILL


@pytest.mark.process
def test_a_copy_whose_clock_is_moved_dates_its_record_by_it() -> None:
    ahead = 10 * 86_400.0
    with MortalServer() as server:
        server.set_clock(ahead)
        server.start()
        client = Client(server.address, sample("PreToolUse-Bash"))
        server.hears("#1 PreToolUse")
        server.say("1 deny no")
        client.finish()
        (decided,) = Ledger(server.state / "crabhook").of(RecordKind.DECIDED)
    moved = datetime.fromisoformat(decided.at).timestamp() - time.time()
    assert abs(moved - ahead) < 600
