"""Lines that agents write every day: at most a few may need a person under a bare `Bash`."""

import re
from pathlib import Path

from tests.unit.policy.law import allowing, bash, policy, rule, verdict

ROOT = Path(__file__).parents[3]
SAMPLE = ROOT / "tests" / "samples" / "shell" / "everyday.txt"
LINES = [
    line.replace("\u2424", "\n") for line in SAMPLE.read_text().splitlines()[1:] if line.strip()
]


def _allowed(*rules: str) -> int:
    return sum(verdict(allowing(*rules), bash(line)) == "allow" for line in LINES)


def test_an_everyday_line_is_allowed_by_a_bare_rule_and_the_page_says_how_often() -> None:
    alone, with_files = _allowed("Bash"), _allowed("Bash", "Read(./**)", "Edit(./**)")
    assert len(LINES) >= 590
    assert alone >= 0.96 * len(LINES)
    said = re.search(
        r"Of (\d+) everyday lines `Bash` alone\s+allows (\d+)[^.]*?, and (\d+)",
        (ROOT / "docs" / "reference" / "rules.md").read_text(),
    )
    assert said
    assert tuple(map(int, said.groups())) == (len(LINES), alone, with_files)


def test_the_page_says_how_many_everyday_lines_are_allowed_beside_a_denial_of_programs() -> None:
    law = policy(rule("allow", "Bash"), rule("deny", "Bash(git push *--force*)"))
    beside = sum(verdict(law, bash(line)) == "allow" for line in LINES)
    said = re.search(
        r"beside a denial of\s+`git push --force` (\d+)",
        (ROOT / "docs" / "reference" / "rules.md").read_text(),
    )
    assert said
    assert int(said[1]) == beside >= 0.92 * len(LINES)
