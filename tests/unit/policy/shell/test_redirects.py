"""Redirects and here-documents: where they go, where they end, and what they expand."""

import pytest

from crabhook.policy.shell.read import read_script
from tests.support.rows import every_row
from tests.unit.policy.law import allowing, bash, verdict


@every_row(
    "text",
    [
        "a <<E\nb\nE", "a <<'E'\n$(b) `c`\nE", 'a <<"E"\n$(b)\nE', "a <<\\E\n`b`\nE", "a <<-E\n\tb\n\tE\nc",
        "a <<E\nb $c $(d)\nE", "a <<E\nb \\`c\\` \\$d\nE", "a <<E | b\nc\nE", "a <<'E F'\nb\nE F\nc", "a <<E\nE",
        "a <<E\n`b`\nE", "a <<A <<B\nc\nA\nd\nB", "a <<-E\n\t$(b)\n\tE", "a <<E && b <<F\nE\nF\nc",
    ],
)  # fmt: skip
def test_one_that_shells_read_alike_is_no_trouble(text: str) -> None:
    assert not read_script(text, {}).troubles


@pytest.mark.parametrize(
    "text",
    [
        "a <<E\n$(b\nE\n)\nE", 'a <<E"F"\nb\nEF\n', "a <<$b\nc\n$b", "a <<E", "a <<E\nb",
        "a <<E $(b\nc)\nE\n", "a <<E 'b\nc'\nE\n", "a <<E\nb\\\nE\nc\nE", "$(a <<E)\nE",
    ],
)  # fmt: skip
def test_one_that_a_shell_may_read_otherwise_is(text: str) -> None:
    assert read_script(text, {}).troubles


@pytest.mark.parametrize(
    "text", ["sh <<E\nrm x\nE", "bash <<'E'\nrm x\nE", "sh <<< 'rm x'", "cat <<E\nrm x\nE", "ls && ls <<-E\nrm x\nE", "ls | { sh; } <<E\nrm x\nE", "f() { sh <<E\nrm x\nE\n}"]
)  # fmt: skip
def test_what_stands_on_standard_input_is_kept(text: str) -> None:
    assert ["rm x" in given for given in read_script(text, {}).inputs] == [True]


SETTLED = ['x=out; ls > "$x/f"', 'x=out y=f; ls > "$x/$y" 2>&1', 'x=out; x=out/b; ls >> "${x}/f"', 'x=out && ls > "$x/f"']  # fmt: skip
UNSETTLED = [
    'ls > "$x/f"; x=out', 'x=/etc; ls > "$x/f"', 'x=out & ls > "$x/f"', 'false && x=out; ls > "$x/f"',
    'if ls; then x=out; fi; ls > "$x/f"', "x=out; ls > $x/f", 'x=out; x=/etc; ls > "$x/f"', 'x=out; x+=/../..; ls > "$x/f"',
    'x=~/a; ls > "$x/f"', 'x=out; for x in /etc; do ls > "$x/f"; done', 'x=out; read x; ls > "$x/f"',
    'x=out; unset x; ls > "$x/f"', 'x=out; ls > ~/"$x"', 'x=out; (x=/etc; ls > "$x/f")', 'x=out > "$x/f"',
    'x=out; eval x=/etc; ls > "$x/f"', 'x=out; : ${x:=/etc}; ls > "$x/f"', 'x=out; x[0]=/etc; ls > "$x/f"',
    'x=out; printf -v x %s /etc; ls > "$x/f"', 'x=out; . ./lib; ls > "$x/f"', 'x=out; ls > "${x%t}/f"', 'x=out ls > "$x/f"',
    'x=$(ls); ls > "$x/f"', 'x=out | ls > "$x/f"', '(x=out); ls > "$x/f"',
]  # fmt: skip


@pytest.mark.parametrize("line", SETTLED)
def test_a_redirect_to_a_variable_that_the_line_has_set_goes_where_its_text_says(line: str) -> None:
    law = allowing("Bash", "Edit(./out/**)")
    assert verdict(law, bash(line)) == "allow"


@every_row("line", UNSETTLED)
def test_a_redirect_to_a_variable_that_may_hold_another_text_is_asked_about(line: str) -> None:
    law = allowing("Bash", "Edit(./out/**)")
    assert verdict(law, bash(line)) != "allow"
