"""What a Python script's tree tells: its facts, from whole scripts."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.lint.python.read import read_python
from crabhook.lint.script import (
    CannotParseError,
    Exit,
    HookAnswer,
    HookScript,
    Language,
    Source,
    SourcePlace,
    Written,
)
from tests.support.examples import examples
from tests.support.rows import every_row

HEAD = "import json, os, sys, time, subprocess\n"


def script(body: str) -> HookScript:
    return read_python(HEAD + body)


def only_answer(body: str) -> HookAnswer:
    (answer,) = script(body).answers
    return answer


def only_exit(body: str) -> Exit:
    (one,) = script(body).exits
    return one


# --- answers: written, follow, shapes


@every_row(
    "body",
    [
        'print(json.dumps({"decision": "block"}))',
        'sys.stdout.write(json.dumps({"decision": "block"}) + "\\n")',
        'json.dump({"decision": "block"}, sys.stdout)',
        'sys.stdout.buffer.write(json.dumps({"decision": "block"}).encode())',
        'print(\'{"decision": "block"}\')',
        'out = {"decision": "block"}\nprint(json.dumps(out))',
        'out = {}\nout["decision"] = "block"\nprint(json.dumps(out))',
        'text = json.dumps(dict(decision="block"))\nprint(text)',
        'def make(word):\n    return {"decision": word}\nprint(json.dumps(make("block")))',
        'def tell(out):\n    print(json.dumps(out))\ntell({"decision": "block"})',
        'def tell(word="block"):\n    print(json.dumps({"decision": word}))\ntell()',
        'from json import dumps as d\nprint(d({"decision": "block"}))',
        'why = 1\nprint(f\'{{"decision": "block", "reason": "{why}"}}\')',
        'print(json.dumps({**{"decision": "block"}}))',
        'print(json.dumps({"decision": "block"}), file=sys.stdout, flush=True)',
    ],
)
def test_an_answer_is_read_however_it_is_made(body: str) -> None:
    answers = [one for one in script(body).answers if one.written is Written.JSON]
    texts = [text for one in answers for shape in one.shapes for _, text in shape.texts("decision")]
    assert texts == ["block"]


def test_each_way_of_a_choice_is_an_answer() -> None:
    answer = only_answer('print(json.dumps({"decision": "block" if len(sys.argv) else "approve"}))')
    (shape,) = answer.shapes
    assert sorted(text for _, text in shape.texts("decision")) == ["approve", "block"]


@pytest.mark.parametrize(
    "body",
    [
        "print(json.dumps(build()))",
        "for out in outs():\n    print(json.dumps(out))",
        "def tell(out):\n    print(json.dumps(out))\ntell(*sys.argv)",
        "out = {}\nout, other = other, out\nprint(json.dumps(out))",
    ],
)
def test_what_is_not_known_is_not_guessed(body: str) -> None:
    assert all(shape.members is None for shape in only_answer(body).shapes)


@pytest.mark.parametrize(
    "change", ["out.update(more)", "out[key] = 1", 'out["a"]["b"] = 2', "out.setdefault(k, {})"]
)
def test_an_object_that_grows_by_what_is_not_known_is_not_the_whole_of_it(change: str) -> None:
    answer = only_answer(f'out = {{"a": {{}}}}\n{change}\nprint(json.dumps(out))')
    (shape,) = answer.shapes
    inner = next(shape.of("a"))
    assert not (shape.whole and inner.whole)


def test_a_dict_that_is_printed_as_python_shows_it_is_no_json() -> None:
    assert only_answer('print({"decision": "block"})').written is Written.REPR
    assert only_answer("print(\"{'decision': 'block'}\")").written is Written.BROKEN


def test_what_goes_to_standard_error_or_a_file_is_no_answer() -> None:
    body = 'print(json.dumps({}), file=sys.stderr)\nprint("{}", file=log)\nopened.write("{}")'
    assert not script(body).answers
    assert script(body).speaks


def test_where_standard_output_is_put_elsewhere_nothing_is_known_of_it() -> None:
    assert not script("sys.stdout = sys.stderr\nprint('hello')\nprint('{}')").answers
    assert not script("with redirect_stdout(x):\n    print('hello')").chatter


def test_plain_text_before_an_answer_is_seen_only_where_it_surely_comes_before() -> None:
    sure = 'print("checking")\nif x:\n    print(json.dumps({}))'
    assert only_answer(sure).behind == SourcePlace(2, 1)
    for unsure in (
        'if x:\n    print("checking")\nprint(json.dumps({}))',
        'def a():\n    print("checking")\ndef b():\n    print(json.dumps({}))',
        'if x:\n    print("checking")\nelse:\n    print(json.dumps({}))',
        'print(json.dumps({}))\nprint("done")',
        'print("checking", file=sys.stderr)\nprint(json.dumps({}))',
    ):
        assert only_answer(unsure).behind is None, unsure


# --- exits


@every_row(
    "body, code",
    [
        ("sys.exit()", 0),
        ("sys.exit(None)", 0),
        ("sys.exit(2)", 2),
        ("exit(1)", 1),
        ("os._exit(3)", 3),
        ("raise SystemExit(2)", 2),
        ("raise SystemExit", 0),
        ("CODE = 2\nsys.exit(CODE)", 2),
        ("sys.exit('no')", 1),
        ("sys.exit(code())", None),
        ("from sys import exit as leave\nleave(2)", 2),
    ],
)
def test_the_code_of_an_exit_is_known_where_it_is_written(body: str, code: int | None) -> None:
    assert only_exit(body).code == code


def test_what_main_returns_is_what_the_script_exits_with() -> None:
    body = "def main():\n    if x:\n        return 2\n    return 0\nsys.exit(main())"
    assert {(one.place.line, one.code) for one in script(body).exits} == {(4, 2), (5, 0)}


@pytest.mark.parametrize(
    ("body", "refusing"),
    [
        ("print('Blocked', file=sys.stderr)\nsys.exit(1)", True),
        ("print('Blocked')\nsys.exit(1)", True),
        ("sys.exit(f'denied: {x}')", True),
        ("def block(x):\n    print(x, file=sys.stderr)\n    sys.exit(1)", True),
        ("def out(x):\n    print(x, file=sys.stderr)\n    sys.exit(1)\nout('not allowed')", True),
        ("print('failed', file=sys.stderr)\nsys.exit(1)", False),
        ("if x:\n    print('Blocked', file=sys.stderr)\nsys.exit(1)", False),
        ("try:\n    f()\nexcept E:\n    print('no block list')\n    sys.exit(1)", False),
        ("try:\n    f()\nexcept E:\n    print('BLOCKED: broken')\n    sys.exit(1)", True),
    ],
)
def test_an_exit_refuses_where_the_words_before_it_do(body: str, refusing: bool) -> None:
    assert only_exit(body).refusing is refusing


def test_an_exit_behind_an_answer_is_answered() -> None:
    assert only_exit("print(json.dumps({}))\nsys.exit(1)").answered
    assert only_exit("def say():\n    print(json.dumps({}))\nsay()\nsys.exit(1)").answered
    assert not only_exit("if x:\n    sys.exit(1)\nprint(json.dumps({}))").answered


def test_an_exit_in_a_handler_answers_an_error() -> None:
    assert only_exit("try:\n    f()\nexcept E:\n    sys.exit(1)").failing
    assert not only_exit("try:\n    sys.exit(1)\nexcept E:\n    pass").failing


# --- inputs


@pytest.mark.parametrize(
    ("body", "source"),
    [
        ("json.load(sys.stdin)", Source.JSON),
        ("json.load(sys.stdin.buffer)", Source.JSON),
        ("json.loads(sys.stdin.read())", Source.JSON),
        ("json.loads(sys.stdin.read().strip() or '{}')", Source.JSON),
        ("text = sys.stdin.read()\njson.loads(text)", Source.JSON),
        ("from sys import stdin\njson.load(stdin)", Source.JSON),
        ("json.loads(sys.argv[1])", Source.ARGUMENTS),
        ("json.load(open('a'))", Source.FILE),
        ("input()", Source.LINES),
    ],
)
def test_where_the_input_comes_from_is_known(body: str, source: Source) -> None:
    assert [one.source for one in script(body).readings] == [source]


@every_row(
    "body, guarded",
    [
        ("json.load(sys.stdin)", False),
        ("try:\n    json.load(sys.stdin)\nexcept Exception:\n    pass", True),
        ("try:\n    json.load(sys.stdin)\nexcept:\n    pass", True),
        ("try:\n    json.load(sys.stdin)\nexcept (OSError, ValueError):\n    pass", True),
        ("try:\n    json.load(sys.stdin)\nexcept KeyError:\n    pass", False),
        ("try:\n    pass\nexcept Exception:\n    json.load(sys.stdin)", False),
        ("def f():\n    json.load(sys.stdin)\ntry:\n    f()\nexcept Exception:\n    pass", True),
        ("def f():\n    json.load(sys.stdin)\nf()", False),
        ("def f():\n    json.load(sys.stdin)", False),
        ("def f():\n    json.load(sys.stdin)\n    f()", False),
    ],
)
def test_an_error_in_reading_is_handled_here_or_by_all_callers(body: str, guarded: bool) -> None:
    assert script(body).readings[0].guarded is guarded


def test_what_the_input_is_asked_for_is_known_and_what_others_are_asked_for_is_not() -> None:
    body = (
        "event = json.load(sys.stdin)\n"
        "event['a']; event.get('b', 1); other['c']; json.loads(open('x').read())['d']\n"
        "def f(given):\n    return given['e']\nf(event)\n"
    )
    assert sorted(one.name for one in script(body).fields) == ["a", "b", "e"]


def test_variables_that_are_asked_for_are_known() -> None:
    body = "os.environ['A']; os.environ.get('B'); os.getenv('C'); os.environ[d]"
    assert sorted(one.name for one in script(body).variables) == ["A", "B", "C"]


def test_a_variable_that_is_only_set_is_not_asked_for() -> None:
    assert not script("os.environ['CLAUDE_TOOL_NAME'] = 'x'").variables


# --- waits


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        ("time.sleep(5)", 5),
        ("LIMIT = 90\nsubprocess.run(['a'], timeout=LIMIT)", 90),
        ("for _ in range(30):\n    time.sleep(2)", 60),
        ("for _ in range(n):\n    time.sleep(2)", 2),
        ("import requests\nrequests.post(url, timeout=0.5)", 0.5),
        ("import asyncio\nasyncio.wait_for(x, 7)", 7),
        ("process.communicate(timeout=9)", 9),
    ],
)
def test_a_wait_is_known_where_its_length_is_written(body: str, seconds: float) -> None:
    assert [one.seconds for one in script(body).waits] == [seconds]


@pytest.mark.parametrize(
    "body", ["time.sleep(n)", "page.click(timeout=5000)", "time.sleep(True)", "time.sleep('1')"]
)
def test_other_waits_are_not_guessed(body: str) -> None:
    assert not script(body).waits


# --- what cannot be read


@pytest.mark.parametrize(
    "text",
    [
        "if x\n",
        "x = " + "(" * 500,
        "x = a" + ".b" * 50_000,
        "x = " + "-" * 50_000 + "1",
        "x = '\\N{no}'",
    ],
    ids=range(5),
)
def test_what_is_no_python_is_refused_in_words(text: str) -> None:
    with pytest.raises(CannotParseError):
        read_python(text)


def test_the_place_of_a_fault_is_told() -> None:
    with pytest.raises(CannotParseError) as caught:
        read_python("import sys\nif x\n    y\n")
    assert caught.value.place.line == 2


def test_columns_are_counted_in_characters() -> None:
    (one,) = script("'ééé'; sys.exit(1)").exits
    assert one.place == SourcePlace(2, 8)


_PIECES = st.sampled_from(
    [
        *"abxyz(){}[]:,.='\"\n ",
        *(
            "import json, sys\n",
            "print(",
            "json.dumps(",
            "sys.exit(",
            "{}",
            "x = ",
            "def f(a):\n    ",
        ),
        *(
            "return ",
            "try:\n    ",
            "except Exception:\n    ",
            "**",
            "lambda: ",
            "f'{",
            "if x:\n    ",
        ),
        *("json.load(sys.stdin)", "x['a'] = ", "f(", "timeout=1", "for x in range(3):\n    "),
    ]
)


@examples(200)
@given(st.lists(_PIECES, max_size=30).map("".join))
def test_no_text_is_too_strange_to_be_read_or_refused(text: str) -> None:
    with contextlib.suppress(CannotParseError):
        assert read_python(text).language is Language.PYTHON
