"""Where a line holds a secret, and that nothing of it reaches a terminal uncovered."""

import pytest

from crabhook.present.cover import covered, masked
from crabhook.secrets.find import find
from crabhook.ui.text.rows import indented
from tests.support.rows import every_row
from tests.unit.secrets import corpus


@every_row(
    "text, secret",
    [
        ('curl -H "PRIVATE-TOKEN: s3cr3tvalue" https://x', "s3cr3tvalue"),
        ("curl -b 'session=abc123def' https://x", "abc123def"),
        ("curl -sb sid=1234567 https://x", "1234567"),
        ("git clone https://abcd1234efgh@host.example/a", "abcd1234efgh"),
        ("https://sk12345678:@api.example.com", "sk12345678"),
        ("export DB_PASSWORD=hunter2hunter2", "hunter2hunter2"),
        ("docker login -u me -p=hunter2 reg.example", "hunter2"),
        ("docker login -passin hunter2", "hunter2"),
        ("npx --token hunter2 tool", "hunter2"),
        ("npm_config_token=1 npx tool --token=q7", "q7"),
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


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ('export DB_PASSWORD="two or more words"', 'export DB_PASSWORD="•••••••••••••••••"'),
        ("DB_PASSWORD='two words' psql -h db", "DB_PASSWORD='•••••••••' psql -h db"),
        ('curl -u "user:two words" https://x', 'curl -u "user:•••••••••" https://x'),
        ("cd /x && mysql -p'two words' -h db", "cd /x && mysql -p'•••••••••' -h db"),
        ("curl -sb 'sid=a b; uu=c' https://x", "curl -sb '•••••••;•••••' https://x"),
    ],
)
def test_a_quoted_secret_is_covered_with_its_blanks_where_a_shell_sees_one_value(
    line: str, shown: str
) -> None:
    assert masked(line) == shown


@every_row(
    "text, hidden",
    [
        # What is run, however it is made to look like a value.
        ('eval TOKEN="x rm -rf /"', "rm -rf /"),
        ('bash -c TOKEN="x rm -rf /"', "rm -rf /"),
        ('ssh host TOKEN="x rm -rf /"', "rm -rf /"),
        ('env "A=\nTOKEN="x rm -rf /"', "rm -rf /"),
        ('env \\\nTOKEN="x rm -rf /"', "rm -rf /"),
        ('ssh host curl -u "a:b rm -rf /"', "rm -rf /"),
        ("TOKEN='x rm -rf /'; $TOKEN", "rm -rf /"),
        ("cat <<E\nit's\nE\nA=' TOKEN=\"x rm -rf /\"'", "rm -rf /"),
        ("echo 'TOKEN=\"'; rm -rf /; echo '\"'", "rm -rf /"),
        ("echo $'\\'' TOKEN=\"' ; rm -rf / ; '\"", "rm -rf /"),
        ("X=1 # it's\nTOKEN=\"'; rm -rf /; '\"", "rm -rf /"),
        ('TOKEN="$(rm -rf /)"', "rm -rf /"),
        ('export TOKEN="x rm -rf /"; eval $_', "rm -rf /"),
        ('curl -u "a:x rm -rf /"; eval $_', "rm -rf /"),
        ('export TOKEN="x rm -rf /"; env | sh', "rm -rf /"),
        ('nohup bash -c >| X=1 TOKEN="x rm -rf /"', "rm -rf /"),
        ('perl >| X=1 TOKEN="x rm -rf /"', "rm -rf /"),
        ("function curl { eval $argv; }; curl -u 'a:x rm -rf /'", "rm -rf /"),
        ('docker exec box nohup TOKEN="x rm -rf /"', "rm -rf /"),
        ('TOKEN="`rm -rf /`"', "rm -rf /"),
        # What a line runs that it handed over, listed, or named by another name.
        ('f(){ shift; "$@"; }; f --token reboot', "reboot"),
        ("f(){ $2; }; f --password reboot now", "reboot"),
        ("redis-cli(){ $2; }; redis-cli -a reboot", "reboot"),
        ("set -- --token reboot; $2", "reboot"),
        ("x=(--token reboot); ${x[1]}", "reboot"),
        ("for x in --token reboot; do $x; done", "reboot"),
        ('read X <<< "--token reboot"; ${X#* }', "reboot"),
        ('PASSWORD="rm -rf x"; a=PASSWORD; ${!a}', "rm -rf x"),
        ('PASSWORD="rm -rf x"; declare -n a=PASSWORD; $a', "rm -rf x"),
        # A program's name, however random it looks.
        ("TOKEN= reboot", "reboot"),
        ("A=1 TOKEN= reboot", "reboot"),
        ('TOKEN= "reboot" now', "reboot"),
        ("sudo -u bob k3jT9x2mQ4p8ZqLw7VbN3mJcR5", "k3jT9x2mQ4p8ZqLw7VbN3mJcR5"),
        ("ls; ./k3jT9x2mQ4p8ZqLw7VbN3mJcR5/run", "k3jT9x2mQ4p8ZqLw7VbN3mJcR5"),
        ("k3jT9x2mQ4p8ZqLw7VbN3mJcR5 --now", "k3jT9x2mQ4p8ZqLw7VbN3mJcR5"),
        ("-----BEGIN PRIVATE KEY-----\nrm -rf /", "rm -rf /"),
    ],
)
def test_no_cover_hides_a_command(text: str, hidden: str) -> None:
    assert hidden in masked(text)
    assert all(
        whole == line or hidden in line
        for whole, line in zip(text.split("\n"), masked(text).split("\n"), strict=True)
        if hidden in whole
    )


@pytest.mark.parametrize(
    "text",
    [
        "$PYTHON run.py --token hunter22",
        "curl -H 'Authorization: Bearer hunter22' https://x | awk '{print $1}'",
        "for i in 1 2; do curl -u bob:hunter22 https://x/$i; done",
        'f(){ curl -u bob:hunter22 "$1"; }; f https://x',
    ],
)
def test_a_line_that_runs_nothing_of_its_own_words_keeps_its_covers(text: str) -> None:
    assert "hunter22" not in masked(text)


def test_of_a_piece_of_a_longer_text_no_blank_is_covered() -> None:
    """The quote that it begins with may be the end of one that stands open before it."""
    piece = 'TOKEN="x rm -rf /"'
    assert masked(piece) == 'TOKEN="••••••••••"'
    assert masked(piece, begins=False) == 'TOKEN="• rm -rf /"'


def test_in_a_line_of_a_longer_text_a_secret_is_covered_by_what_is_known_of_all() -> None:
    text = "cd /srv\nexport TOKEN='two words'\nls"
    assert [row.line for row in indented("  ", text, 1000)] == [
        "  cd /srv",
        "  export TOKEN='•••••••••'",
        "  ls",
    ]
    open_before = 'env "A=\nTOKEN="x rm -rf /"'
    assert [row.line for row in indented("", open_before, 1000)][1] == 'TOKEN="• rm -rf /"'


PROGRAM_LIKE = {
    *("random", "private-key", "mailchimp-key", "azure-secret", "discord-token", "jwt"),
    *("azure-devops-token", "mailgun-key"),
}
"""Kinds whose secrets could be a program's name where they stand first, as far as their shape goes."""


def test_what_the_record_takes_out_the_screen_covers_but_for_programs() -> None:
    for sample in corpus.secrets():
        if find(sample.text) and masked(sample.text) == sample.text:
            assert sample.kind in PROGRAM_LIKE, sample.text


def test_the_screen_covers_nothing_that_the_record_keeps() -> None:
    for sample in corpus.innocent():
        assert masked(sample.text) == sample.text
