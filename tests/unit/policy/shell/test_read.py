"""Shell lines read into their parts, and hostile ones survived."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crabhook.policy.shell.read import read_script
from crabhook.policy.shell.script import Flow
from tests.support.rows import every_row
from tests.unit.policy.law import OPEN, PICTURES, allowing, bash, denying, verdict

TABLE = Path(__file__).parents[3] / "samples" / "shell" / "commands.tsv"
ROWS = [row.split("\t") for row in TABLE.read_text().split("\n") if "\t" in row and row[0] != "#"]
LINES = [row[2].translate(PICTURES) for row in ROWS]
GOOD = [row[2].translate(PICTURES) for row in ROWS if row[:2] == ["work", "allow"]]


def words(text: str) -> list[list[str]]:
    return [[word.text for word in one.words] for one in read_script(text, {}).commands]


@every_row(
    "text, commands",
    [
        ("a b 'c d'", [["a", "b", "c d"]]),
        ("a | b && c; d & e || f", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]),
        ("a $(b) `c` <(d)", [["b"], ["c"], ["d"], ["a", "", "", ""]]),
        ("A=1 b", [["b"]]),
        ("cat > a b c", [["cat", "b", "c"]]),
        ("cat <<E >f b\nx\nE", [["cat", "b"]]),
        ("cat <<E | sort\n$(x)\nE", [["cat"], ["sort"], ["x"]]),
        ("if a; then b; elif c; then d; else e; fi", [["a"], ["b"], ["c"], ["d"], ["e"]]),
        ("for x in a $(b); do c; done", [["b"], ["c"]]),
        ("case a in b) c;; *) d;; esac", [["c"], ["d"]]),
        ("f() { a; }; f", [["a"], ["f"]]),
        ("[ -f a ] && [[ b == c ]]", [["[", "-f", "a", "]"], ["[[", "b", "==", "c", "]]"]]),
        ("export A=1 B", [["export", "A=1", "B"]]),
        ("unset A", [["unset", "A"]]),
        ("! time a", [["time", "a"]]),
        ("time -p { a; }", [["a"]]),
        ("time a | b", [["time", "a"], ["b"]]),
        ("select x in a; do b; done", [["b"]]),
    ],
)
def test_every_command_of_a_line_is_found(text: str, commands: list[list[str]]) -> None:
    script = read_script(text, {})
    assert words(text) == commands
    assert not script.troubles


@every_row(
    "text, flows",
    [
        ("a > b", [(Flow.WRITE, "b")]),
        ("a >> b 2> c", [(Flow.WRITE, "b"), (Flow.WRITE, "c")]),
        ("a < b", [(Flow.READ, "b")]),
        ("a &> b", [(Flow.WRITE, "b")]),
        ("a >| b", [(Flow.WRITE, "b")]),
        ("a 2>&1 >&2 3>&-", []),
        ("a >& b", [(Flow.WRITE, "b")]),
        ("{ a; } > b", [(Flow.WRITE, "b")]),
        ("> b", [(Flow.WRITE, "b")]),
        ("a <<E > b\nE", [(Flow.WRITE, "b")]),
        ("f() { a; } > b", [(Flow.WRITE, "b")]),
    ],
)
def test_every_redirect_of_a_line_is_found(text: str, flows: list[tuple[Flow, str]]) -> None:
    script = read_script(text, {})
    assert [(one.flow, one.target.text) for one in script.redirects] == flows


@every_row("letter", "\0\a\r\x1b\x7f\x85\xa0\xad\u200b\u200e\u202e\u2028\u3000\ufeff\u3164")
def test_a_character_that_hides_is_a_trouble(letter: str) -> None:
    assert read_script(f"ls '{letter}'", {}).troubles


@pytest.mark.parametrize("text", ["ls", "a\tb\nc", "é ✓ 日本", "a \\\n b", "a\\\n b"])
def test_plain_text_in_any_language_is_none(text: str) -> None:
    assert not read_script(text, {}).troubles


def test_a_variable_has_every_value_the_line_may_give_it() -> None:
    script = read_script("x=a; x=b; y=$x; $y $HOME", {"HOME": ("/h",)})
    first, second = script.commands[-1].words
    assert set(first.values) == {"a", "b", ""}
    assert set(second.values) == {"/h", ""}
    assert not first.fixed


def test_a_line_with_very_many_commands_is_not_read_to_its_end() -> None:
    script = read_script("a;" * 1500, {})
    assert len(script.commands) < 600
    assert any("more than" in trouble for trouble in script.troubles)


@pytest.mark.slow
@every_row(
    "unit",
    [
        "(",
        "$(",
        "`",
        "`>~",
        '"',
        "{",
        "<<E ",
        "a=(",
        "if ",
        "[[ ",
        "${a",
        "x\\\n",
        "|",
        "<(",
        "'",
        ")",
        "||1",
        "+)!$",
        "a[b]=(",
        "x() ",
        ">",
        "&",
        "a;",
        "a b ",
        "{a,",
        "sh -c '",
        "eval ",
    ],
)
def test_a_line_made_to_be_slow_is_judged_all_the_same(unit: str) -> None:
    for size in (1_000, 20_000):
        assert verdict(allowing("Bash"), bash(unit * (size // len(unit)))) in {OPEN, "allow"}


def test_what_hides_is_looked_at_within_bounds_and_past_them_not_allowed() -> None:
    line = "; ".join(f"x=v{n}" for n in range(30)) + '; sh -c "$x $x $x ' + "; a b" * 500 + '"'
    assert verdict(allowing("Bash"), bash(line)) == OPEN


FRAGMENTS = st.sampled_from(
    [
        "ls",
        "rm x",
        "echo",
        "$x",
        "a=b",
        " ",
        "\n",
        ";",
        "&&",
        "||",
        "|",
        "&",
        "(",
        ")",
        "{ ",
        " }",
        "$(",
        "`",
        "'",
        '"',
        "\\",
        "${x",
        "}",
        "<",
        ">",
        "<<E",
        "\nE\n",
        "#",
        "if ",
        "then ",
        "fi",
        "do ",
        "done",
        "for ",
        "in ",
        "while ",
        "case ",
        "esac",
        "*",
        "[",
        "]",
        "~",
        "$'",
        "\\\n",
        "<(",
        "((",
        "))",
        "[[ ",
        " ]]",
        ";;",
        "<<'E'",
        "2>&1",
        "eval ",
        "é",
        "\u202e",
        "\x00",
        "\r",
        "�",
    ]
)
WILD = st.lists(FRAGMENTS, max_size=14).map("".join) | st.text(max_size=40)


@settings(max_examples=120, deadline=None)
@given(WILD)
def test_no_line_whatever_makes_an_exception(text: str) -> None:
    assert verdict(denying("Bash(rm *)"), bash(text)) in {OPEN, "allow", "deny", "ask-operator"}


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(LINES), st.integers(0, 200), FRAGMENTS, st.integers(0, 3))
def test_no_line_of_the_table_spoilt_makes_an_exception(
    text: str, at: int, fragment: str, cut: int
) -> None:
    spoilt = text[:at] + fragment + text[at + cut :]
    assert verdict(denying("Bash(rm *)"), bash(spoilt)) in {OPEN, "allow", "deny", "ask-operator"}


@settings(max_examples=60, deadline=None)
@given(WILD)
def test_a_line_with_a_trouble_is_never_allowed(text: str) -> None:
    if read_script(text, {}).troubles:
        assert verdict(allowing("Bash", "Edit", "Read"), bash(text)) in {OPEN, "ask-operator"}


JOINTS = st.sampled_from([" && ", " || ", "; ", " | ", " & ", "\n", " |& "])


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(GOOD) | WILD, JOINTS, st.sampled_from(GOOD) | WILD)
def test_an_allow_of_two_is_an_allow_of_each(one: str, joint: str, two: str) -> None:
    law = allowing("Bash(ls *)", "Bash(git *)", "Bash(echo *)", "Bash(cat *)", "Bash(npm *)")
    if verdict(law, bash(f"{one}{joint}{two}")) == "allow":
        for alone in (one, two) if "#" not in one else (one,):  # a comment takes in the rest
            nothing = not [c for c in read_script(alone, {}).commands if c.words]
            assert nothing or verdict(law, bash(alone)) == "allow"


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["rm x", "rm -rf a b", "sudo rm x", "bash -c 'rm x'", "echo $(rm x)"]),
    JOINTS,
    st.sampled_from(LINES) | WILD,
    st.booleans(),
)
def test_a_denial_stands_whatever_is_written_beside_it(
    denied: str,
    joint: str,
    other: str,
    first: bool,
) -> None:
    text = f"{denied}{joint}{other}" if first else f"{other}{joint}{denied}"
    if first or (not read_script(other, {}).troubles and "#" not in other and "<<" not in other):
        assert verdict(denying("Bash(rm *)"), bash(text)) == "deny"
