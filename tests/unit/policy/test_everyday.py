"""Lines that agents write every day: at most a few may need a person under a bare `Bash`."""

from collections.abc import Sequence
from pathlib import Path

from tests.support.examples import share
from tests.unit.policy.law import allowing, bash, policy, rule, verdict

ROOT = Path(__file__).parents[3]
SAMPLE = ROOT / "tests" / "samples" / "shell" / "everyday.txt"
LINES = [
    line.replace("\u2424", "\n") for line in SAMPLE.read_text().splitlines()[1:] if line.strip()
]


def _allowed(lines: Sequence[str], *rules: str) -> set[str]:
    law = allowing(*rules)
    return {line for line in lines if verdict(law, bash(line)) == "allow"}


def test_an_everyday_line_is_allowed_by_a_bare_rule() -> None:
    alone, some = _allowed(LINES, "Bash"), share(LINES, 0)
    assert len(LINES) >= 590
    assert len(alone) >= 0.99 * len(LINES)
    assert _allowed(some, "Bash", "Read(./**)", "Edit(./**)") >= alone.intersection(some)


def test_most_everyday_lines_are_allowed_beside_a_denial_of_programs() -> None:
    law = policy(rule("allow", "Bash"), rule("deny", "Bash(git push *--force*)"))
    some = share(LINES, 1)
    beside = sum(verdict(law, bash(line)) == "allow" for line in some)
    assert beside >= 0.92 * len(some)
