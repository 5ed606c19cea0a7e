"""What hides behind a command."""

import pytest

from crabhook.policy.shell.hidden import inner, reads_script
from tests.support.rows import every_row


def commands(line: str) -> list[str]:
    return [" ".join(argv) for argv in inner(line.split(" ")).commands]


@every_row(
    "line, behind",
    [
        ("sudo rm x", "rm x"), ("sudo -u root rm x", "rm x"), ("sudo -- rm x", "rm x"),
        ("env A=1 B=2 rm x", "rm x"), ("timeout -k 1 5 rm x", "rm x"), ("xargs -n 1 -I {} rm {}", "rm {}"),
        ("nice -n 5 rm x", "rm x"), ("find . -exec rm {} ;", "rm {}"), ("find a -delete", "rm a"),
        ("/usr/bin/sudo rm x", "rm x"), ("uv run rm x", "rm x"), ("busybox rm x", "rm x"),
        ("chroot /a rm x", "rm x"), ("git bisect run rm x", "rm x"), ("fd a -x rm b", "rm b"),
        ("command -- rm x", "rm x"), ("exec -a b rm x", "rm x"),
    ],
)  # fmt: skip
def test_a_wrapper_shows_what_it_runs(line: str, behind: str) -> None:
    assert behind in commands(line)


def test_an_option_nobody_knows_is_read_both_ways() -> None:
    assert commands("sudo --odd rm x") == ["rm x", "x"]


@pytest.mark.parametrize(
    "line", ["ls x", "git status", "find . -name a", "echo sudo rm", "sudo", "env", "xargs"]
)
def test_what_wraps_nothing_shows_nothing(line: str) -> None:
    assert commands(line) == []


@every_row(
    "argv, script",
    [
        (["bash", "-c", "rm x"], "rm x"), (["sh", "-ec", "rm x", "a"], "rm x"), (["eval", "rm", "x"], "rm x"),
        (["trap", "rm x", "EXIT"], "rm x"), (["env", "-S", "rm x"], "rm x"), (["env", "-Srm x"], "rm x"),
        (["watch", "rm x"], "rm x"), (["ssh", "h", "rm x"], "rm x"), (["su", "-c", "rm x"], "rm x"),
        (["alias", "a=rm x"], "rm x"), (["git", "rebase", "--exec", "rm x"], "rm x"),
        (["git", "rebase", "--exec=rm x"], "rm x"), (["git", "-c", "alias.a=!rm x", "a"], "rm x"),
        (["git", "submodule", "foreach", "rm x"], "rm x"), (["bash", "-o", "pipefail", "-c", "rm x"], "rm x"),
        (["bash", "-c", "--", "-x; rm x"], "rm x"), (["bash", "-c", "-o", "errexit", "rm x"], "rm x"), (["sh", "-co", "errexit", "rm x"], "rm x"),
    ],
)  # fmt: skip
def test_a_text_that_a_shell_will_read_is_found(argv: list[str], script: str) -> None:
    assert any(script in text for text in inner(argv).scripts)


@pytest.mark.parametrize(
    ("line", "reads"),
    [
        ("sh", True),
        ("bash -s a", True),
        ("bash -x", True),
        ("sh a", False),
        ("ls", False),
        ("/bin/sh", True),
    ],
)
def test_a_shell_without_a_script_reads_its_input(line: str, reads: bool) -> None:
    assert reads_script(line.split()) is reads
