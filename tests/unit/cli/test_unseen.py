"""What is asked on the terminal itself, and what is made of the answer."""

from __future__ import annotations

import os
import sys

import pytest

from tests.support.typist import Typist

pytestmark = pytest.mark.process

ASK = """
import sys
from crabhook.cli.terminal import UnseenError, ask
try:
    print(ascii(ask("Say: ")))
except UnseenError as error:
    print("refused:", error)
"""


def asking() -> Typist:
    environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    return Typist([sys.executable, "-c", ASK], environment, stdin=b"from elsewhere\n")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("hush\n", "'hush'"),
        ("  two words \r\n", "'  two words '"),
        ("slip\x15hush\n", "'hush'"),  # ctrl-u takes the line back, as at any terminal
        ("é\n", r"'\xe9'"),
        ("\n", "refused: nothing was typed"),
        ("\x04", "refused: nothing was typed"),
    ],
    ids=ascii,
)
def test_a_line_is_read_from_the_terminal_and_not_shown_there(typed: str, said: str) -> None:
    with asking() as person:
        person.answer("Say: ", typed)
        code, output, _ = person.finish()
        assert (code, output) == (0, f"{said}\n")
        assert person.shown.replace("\r", "") == "Say: \n"


def test_a_question_is_wrapped_at_words_and_the_answer_stands_behind_it() -> None:
    environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    program = ASK.replace("Say: ", "The two differ (2 more). Your new passphrase, again: ")
    with Typist([sys.executable, "-c", program], environment, columns=32) as person:
        person.answer("again: ", "hush\n")
        assert person.finish()[1] == "'hush'\n"
        shown = person.shown.replace("\r", "")
        assert shown == "The two differ (2 more). Your\nnew passphrase, again: \n"


def test_what_is_not_utf_8_is_refused() -> None:
    with asking() as person:
        person.answer("Say: ", "")
        person.type(b"\xff\xfe\n")
        assert person.finish()[1] == "refused: what was typed is not UTF-8\n"


def test_a_question_that_nobody_answers_ends_and_says_why() -> None:
    environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    program = ASK.replace('ask("Say: ")', 'ask("Say: ", within=0.3)')
    with Typist([sys.executable, "-c", program], environment) as person:
        # What is typed before the question stands is dropped, as with every question.
        code, output, _ = person.finish()
    assert code == 0
    assert output.startswith("refused: nobody typed an answer within 0.3 s")
