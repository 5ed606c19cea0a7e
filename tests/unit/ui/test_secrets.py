"""Where a line holds a secret, and that nothing of it reaches a terminal uncovered."""

import pytest

from crabhook.ui.secrets import covered, masked


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ('curl -H "PRIVATE-TOKEN: s3cr3tvalue" https://x', "s3cr3tvalue"),
        ("curl -b 'session=abc123def' https://x", "abc123def"),
        ("curl -sb sid=1234567 https://x", "1234567"),
        ("git clone https://abcd1234efgh@host.example/a", "abcd1234efgh"),
        ("https://sk12345678:@api.example.com", "sk12345678"),
        ("export DB_PASSWORD=hunter2hunter2", "hunter2hunter2"),
    ],
)
def test_a_secret_is_covered_letter_by_letter(text: str, secret: str) -> None:
    assert secret not in masked(text)
    assert len(masked(text)) == len(text)


def test_what_is_covered_is_safe_and_covered_on_each_of_its_lines() -> None:
    shown = covered("ls\x1b[2J\nexport TOKEN=abcd1234efgh\nls")
    assert "abcd1234efgh" not in shown
    assert "\x1b" not in shown
    assert "\n" not in shown
