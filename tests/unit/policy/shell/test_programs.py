"""What programs do with the files they are named."""

from crabhook.policy.shell.programs import only_reads
from tests.support.rows import every_row


@every_row(
    "line, reads",
    [
        ("cat a", True),
        ("sort a", True),
        ("sort -o a b", False),
        ("sort --output=a b", False),
        ("git diff a", True),
        ("git checkout a", False),
        ("git", False),
        ("python3 a", False),
        ("rm a", False),
        ("echo a", True),
    ],
)
def test_a_program_is_known_to_only_read_or_it_is_not(line: str, reads: bool) -> None:
    words = tuple(line.split())
    assert only_reads(words[0], words) is reads
