"""What is known of one process from its spawning to its reaping."""

import sys

import pytest

from bench.candidate import Candidate
from bench.errors import BenchError
from bench.process import Run, run_whole


@pytest.mark.process
def test_a_run_has_its_input_and_gives_back_all_it_said() -> None:
    program = "import sys; print(sys.stdin.read()); print('oh', file=sys.stderr); sys.exit(3)"
    run = run_whole((sys.executable, "-I", "-S", "-c", program), b"an event", {})
    assert (run.exit_code, run.stdout, run.stderr) == (3, b"an event\n", b"oh\n")
    assert run.cpu > 0
    assert run.wall > 0


@pytest.mark.process
def test_an_input_larger_than_a_pipe_arrives_whole() -> None:
    program = "import sys; print(len(sys.stdin.buffer.read()))"
    run = run_whole((sys.executable, "-I", "-S", "-c", program), bytes(1_000_000), {})
    assert run.stdout == b"1000000\n"


@pytest.mark.parametrize(
    "run",
    [
        Run(0.01, 0.01, 1, b"", b""),
        Run(0.01, 0.01, 0, b"", b"crabhook cannot ask the operator\n"),
        Run(0.01, 0.01, 0, b'{"hookSpecificOutput": {"permissionDecision": "deny"}}', b""),
        Run(0.01, 0.01, 0, b"allow", b""),
        Run(0.01, 0.01, 0, b"", b""),
    ],
)
def test_a_run_that_did_not_print_the_operators_allow_has_no_figure(run: Run) -> None:
    with pytest.raises(BenchError, match="the hook: exit code"):
        Candidate("the hook", ("crabhook",), verdict="allow").judge(run)


def test_an_observed_event_has_to_be_answered_with_silence() -> None:
    observed = Candidate("the hook", ("crabhook",))
    observed.judge(Run(0.01, 0.01, 0, b"", b""))
    with pytest.raises(BenchError):
        observed.judge(Run(0.01, 0.01, 0, b"{}", b""))
