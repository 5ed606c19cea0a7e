"""Lines that agents write every day: at most a few may need a person under a bare `Bash`."""

from pathlib import Path

from tests.unit.policy.law import allowing, bash, policy, rule, verdict

ROOT = Path(__file__).parents[3]
SAMPLE = ROOT / "tests" / "samples" / "shell" / "everyday.txt"
LINES = [
    line.replace("\u2424", "\n") for line in SAMPLE.read_text().splitlines()[1:] if line.strip()
]


def _allowed(*rules: str) -> int:
    return sum(verdict(allowing(*rules), bash(line)) == "allow" for line in LINES)


def test_an_everyday_line_is_allowed_by_a_bare_rule() -> None:
    alone, with_files = _allowed("Bash"), _allowed("Bash", "Read(./**)", "Edit(./**)")
    assert len(LINES) >= 590
    assert alone >= 0.99 * len(LINES)
    assert with_files >= alone


def test_most_everyday_lines_are_allowed_beside_a_denial_of_programs() -> None:
    law = policy(rule("allow", "Bash"), rule("deny", "Bash(git push *--force*)"))
    beside = sum(verdict(law, bash(line)) == "allow" for line in LINES)
    assert beside >= 0.92 * len(LINES)
