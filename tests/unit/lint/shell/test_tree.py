"""The syntax tree of a shell script: no letter is too far, no place is lost."""

import subprocess
import sys

import pytest

from crabhook.lint.finding import Place
from crabhook.lint.shell.tree import ShellTree


@pytest.mark.process
def test_no_letter_ends_the_process() -> None:
    reading = """
from crabhook.lint.shell.tree import ShellTree
from crabhook.lint.finding import CannotParseError
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
    tree = ShellTree("echo '日本語'; exit 1")
    (command,) = [node for node in tree.nodes if node.text == b"exit 1"]
    assert tree.place(command) == Place(1, len("echo '日本語'; ") + 1)
