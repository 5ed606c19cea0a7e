"""What the agent's process is given."""

import json

from crabhook.model.reply import SILENCE, Reply


def test_silence_prints_nothing_and_is_no_failure() -> None:
    assert (SILENCE.stdout, SILENCE.stderr, SILENCE.exit_code) == (b"", "", 0)


def test_an_empty_object_is_not_silence() -> None:
    assert Reply({}).stdout == b"{}\n"


def test_a_reply_is_one_line_of_ascii_that_reads_back_the_same() -> None:
    output = {"a": "é\u2028\ud800\n", "b": {"c": None}}
    assert Reply(output).stdout.isascii()  # type: ignore[arg-type]
    assert Reply(output).stdout.count(b"\n") == 1  # type: ignore[arg-type]
    assert json.loads(Reply(output).stdout) == output  # type: ignore[arg-type]
