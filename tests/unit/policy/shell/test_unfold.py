"""Everything a line might run."""

import pytest

from crabhook.policy.shell.read import read_script
from crabhook.policy.shell.unfold import line, lines, unfold
from tests.support.rows import every_row


def found(text: str) -> set[str]:
    script = unfold(text, read_script(text, {}), {})
    return {spelled for one in script.commands if one.words for spelled in lines(one)}


@every_row(
    "text",
    [
        "rm x",
        "/bin/rm x",
        "r\\m x",
        "sudo rm x",
        "sh -c 'rm x'",
        "sh -c \"sh -c 'rm x'\"",
        "x=rm; $x x",
        "sudo env A=1 nice sh -c 'ls; rm x'",
        "xargs -I{} sh -c 'rm x'",
        "{rm,x}",
        "echo 'rm x' | sh",
        "{ ls; echo 'rm x'; } | ( timeout 5 bash -s )",
        "ls && bash <<'E'\nrm x\nE",
        "ls | sudo sh <<E\nrm x\nE",
        "ls && cat <<E | bash\nrm x\nE",
        "if ls; then bash; fi <<E\nrm x\nE",
        "bash -c 'bash <<< \"rm x\"'",
        "rm x &&",
        "`rm x",
        "a=r; ${a}m x",
        "eval 'eval \"rm x\"'",
    ],
)
def test_one_command_is_found_in_every_spelling_and_behind_every_wrapper(text: str) -> None:
    assert "rm x" in found(text)


@pytest.mark.parametrize("text", ["cat <<E\nrm x\nE", "sh x <<E\nrm x\nE", "echo rm x | cat"])
def test_what_no_shell_is_given_is_not_taken_for_a_script(text: str) -> None:
    assert "rm x" not in found(text)


def test_a_redirect_inside_a_hidden_script_is_found() -> None:
    text = "sh -c 'ls > a'"
    script = unfold(text, read_script(text, {}), {})
    assert [(one.target.text, one.hidden) for one in script.redirects] == [("a", True)]


def test_git_is_known_by_its_subcommand_whatever_stands_before() -> None:
    assert "git push -f" in found("git -C a --no-pager -c b=c push -f")


def test_a_blank_inside_a_word_is_no_end_of_a_word() -> None:
    assert line(["a b", "c"]) != line(["a", "b", "c"])
    assert line(["a", ""]) == "a ''"


def test_a_search_that_finds_no_end_stops_and_says_so() -> None:
    text = "eval " * 1200 + "ls"
    script = unfold(text, read_script(text, {}), {})
    assert len(script.commands) < 2000
    wide = "; ".join(f"sh -c 'a{n} {'b ' * 300}'" for n in range(12))
    assert unfold(wide, read_script(wide, {}), {}).troubles or len(wide) < 8192
