"""What a shell script's tree tells: its facts, from whole scripts; no letter is too far."""

import contextlib
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.lint.script import UNKNOWN, CannotParseError, Language, SourcePlace, Written
from crabhook.lint.shell import MAX_DEPTH, ShellTree, prints, read_shell
from tests.support.examples import examples
from tests.support.rows import every_row


@pytest.mark.parametrize(
    "text",
    [
        """echo '{"decision": "block"}'""",
        """echo "{\\"decision\\": \\"block\\", \\"reason\\": \\"$why\\"}" """,
        """printf '{"decision": "block", "reason": "%s"}\\n' "$why" """,
        """printf '%s\\n' '{"decision": "block"}'""",
        """cat <<EOF\n{"decision": "block",\n "reason": "$(date)"}\nEOF\n""",
        """cat <<'EOF'\n{"decision": "block"}\nEOF\n""",
        """jq -n --arg why "$why" '{decision: "block", reason: $why}'""",
        """jq -nc '{"decision": "block"}' """,
        """say() { echo '{"decision": "block"}'; }\nsay\n""",
    ],
)
def test_an_answer_is_read_however_it_is_made(text: str) -> None:
    (answer,) = read_shell(text).answers
    assert answer.written is Written.JSON
    (shape,) = answer.shapes
    assert [word for _, word in shape.texts("decision")] == ["block"]
    assert all(one.literal is UNKNOWN for one in shape.of("reason"))


@every_row(
    "text",
    [
        "x=$(echo '{}')",
        "echo '{}' >file",
        "echo '{}' >&2",
        "echo '{}' | jq .",
        "{ echo '{}'; } >file",
        "{ echo '{}'; } >&2",
        "make() { echo '{}'; }\nx=$(make)",
        "exec >log\necho '{}'",
        "jq '.tool_input' <<<\"$input\"",
        "jq -n '{}' >/dev/null",
        'echo "$answer"',
    ],
)
def test_what_goes_elsewhere_or_is_not_known_is_no_answer(text: str) -> None:
    assert not read_shell(text).answers


def test_json_with_a_fault_is_broken_and_with_a_hole_it_may_be_whole() -> None:
    (answer,) = read_shell("""echo '{"a": 1,}'""").answers
    assert answer.written is Written.BROKEN
    (answer,) = read_shell("""echo "{'a': $b}" """).answers
    assert answer.written is Written.JSON


def test_places_in_a_program_of_jq_are_those_of_its_keys() -> None:
    (answer,) = read_shell("x=1\njq -n '{\n  decision: \"block\"}'\n").answers
    ((place, _),) = answer.shapes[0].texts("decision")
    assert (answer.place, place) == (SourcePlace(2, 1), SourcePlace(3, 3))


@pytest.mark.parametrize(
    ("text", "refusing"),
    [
        ("echo BLOCKED >&2\nexit 1", True),
        ("if x; then\n  echo 'not allowed' >&2\n  exit 1\nfi", True),
        ('deny() { echo "$1" >&2; exit 1; }', True),
        ("grep x y || { echo 'Denied' >&2; exit 1; }", True),
        ("case $x in a) echo refused >&2; exit 1 ;; esac", True),
        ("echo 'jq is missing' >&2\nexit 1", False),
        ("if x; then\n  echo BLOCKED >&2\nelse\n  exit 1\nfi", False),
        ("if x; then\n  echo BLOCKED >&2\nfi\nexit 1", False),
        ("# blocked\nexit 1", False),
    ],
)
def test_an_exit_refuses_where_the_words_before_it_do(text: str, refusing: bool) -> None:
    (one,) = read_shell(text).exits
    assert (one.code, one.refusing) == (1, refusing)


def test_an_exit_behind_an_answer_is_answered() -> None:
    assert read_shell("echo '{}'\nexit 1").exits[0].answered
    assert read_shell("say() { echo '{}'; }\nsay\nexit 1").exits[0].answered
    assert not read_shell("if x; then echo '{}'; else exit 1; fi").exits[0].answered


@pytest.mark.parametrize(
    ("text", "code"), [("exit", None), ("exit $code", None), ("exit 2", 2), ("exit abc", None)]
)
def test_a_code_is_known_where_it_is_written(text: str, code: int | None) -> None:
    assert read_shell(text).exits[0].code == code


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("sleep 5", [5]),
        ("sleep 2m", [120]),
        ("timeout -k 5 --foreground 30s make", [30]),
        ("timeout 1.5h make", [5400]),
        ("curl -sS --max-time 20 x", [20]),
        ("curl -m 3 x", [3]),
        ("read -r -t 10 line", [10]),
        ("sleep $n", []),
        ("curl x", []),
    ],
)
def test_a_wait_is_known_where_its_length_is_written(text: str, seconds: list[float]) -> None:
    assert [one.seconds for one in read_shell(text).waits] == seconds


def test_text_before_an_answer_is_seen_only_where_it_surely_comes_before() -> None:
    assert read_shell("echo hi\nif x; then echo '{}'; fi").answers[0].behind == SourcePlace(1, 1)
    assert read_shell("if x; then echo hi; fi\necho '{}'").answers[0].behind is None
    assert read_shell("if x; then echo hi; else echo '{}'; fi").answers[0].behind is None
    assert read_shell("f() { echo hi; }\necho '{}'").answers[0].behind is None


def test_words_are_those_of_the_script_and_not_of_its_comments() -> None:
    words = read_shell("# PreToolUse\nfoo='stop_hook_active' # no\necho $HOME_DIR").words
    assert {"foo", "stop_hook_active", "HOME_DIR"} <= words
    assert "PreToolUse" not in words


def test_variables_that_are_asked_for_are_known() -> None:
    found = read_shell("echo \"$A ${B:-x}\" '$C'; D=1").variables
    assert sorted(one.name for one in found) == ["A", "B"]


def test_what_the_grammar_did_not_understand_is_said_and_not_judged() -> None:
    script = read_shell("echo one\nfor ((;;) do\n  exit 1\ndone\n")
    assert script.unread


@pytest.mark.parametrize("text", ["if x; then\n" * (MAX_DEPTH + 1) + "fi\n" * (MAX_DEPTH + 1)])
def test_depth_is_bounded(text: str) -> None:
    with pytest.raises(CannotParseError, match="deeper"):
        read_shell(text)


def test_what_is_printed_is_read_with_its_direction() -> None:
    found = list(prints(ShellTree("echo a\necho b >&2\nprintf '%s' c 1>&2\ncat file\n")))
    told = [(one.around.error, text) for one, text in found]
    assert told == [(False, "a"), (True, "b"), (True, "c")]


@pytest.mark.process
def test_no_letter_ends_the_process() -> None:
    reading = """
from crabhook.lint.shell import ShellTree
from crabhook.lint.script import CannotParseError
for code in [*range(0x100, 0xD800, 4096), *range(0xE000, 0x110000, 4096), 0x10FFFF]:
    for line in ("{%c", "echo {%c", "{1..%c", "${%c", "a{%c}", "x={%c"):
        try:
            ShellTree(line % code)
        except CannotParseError:
            pass
"""
    run = subprocess.run(
        [sys.executable, "-c", reading], capture_output=True, check=False, timeout=60
    )
    assert run.returncode == 0, run.stderr


def test_letters_the_grammar_cannot_be_given_leave_every_place_as_it_was() -> None:
    (one,) = read_shell("echo '日本語'; exit 1").exits
    assert one.place == SourcePlace(1, len("echo '日本語'; ") + 1)


_PIECES = st.sampled_from(
    [
        *"ab \n;|&(){}<>$'\"`\\é",
        *("echo ", "exit 1\n", "if x; then\n", "fi\n", "$(", "<<EOF\n", "EOF\n", "jq -n '{"),
        *("}'", '{"a": ', "case x in\n", "esac\n", ">&2", "f() {", "printf '%s' "),
    ]
)


@examples(200)
@given(st.lists(_PIECES, max_size=30).map("".join))
def test_no_text_is_too_strange_to_be_read_or_refused(text: str) -> None:
    with contextlib.suppress(CannotParseError):
        assert read_shell(text).language is Language.SHELL
