"""Letters that the grammar's scanner cannot be given."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.policy.shell.read import read_script
from crabhook.policy.shell.script import Script
from crabhook.policy.shell.standins import StandIns
from tests.unit.policy.law import OPEN, allowing, bash, denying, verdict

FAR = "\U0010ffff"
ENDED_THE_PROCESS = f"""
from crabhook.policy.shell.read import read_script
for code in range(0x100, 0x110000, 4096):
    for line in ("{{%c", "echo {{%c", "{{1..%c", "${{%c", "a{{%c}}", "x={{%c"):
        read_script(line % (code if not 0xD800 <= code < 0xE000 else 0x100), {{}})
read_script("{{{FAR}", {{}})
"""


@pytest.mark.process
def test_no_letter_ends_the_process() -> None:
    run = subprocess.run(
        [sys.executable, "-c", ENDED_THE_PROCESS], capture_output=True, check=False, timeout=30
    )
    assert run.returncode == 0, run.stderr


def test_a_letter_is_the_same_before_and_after() -> None:
    line = f'echo "日本" naïve {FAR} > 日.txt'
    script = read_script(line, {"HOME": ("/home/é日",)})
    assert [word.text for word in script.commands[0].words[1:]] == ["日本", "naïve", FAR]
    assert script.redirects[0].target.text == "日.txt"
    assert script.redirects[0].source == "> 日.txt"


def test_what_a_variable_is_known_to_hold_keeps_its_letters() -> None:
    script = read_script("cat $HOME/日", {"HOME": ("/home/é本\x80",)})
    assert script.commands[0].words[1].text == "/home/é本\x80/日"


def test_rules_match_such_letters_as_any_others() -> None:
    assert verdict(allowing("Bash(echo 日本 *)"), bash("echo 日本 語")) == "allow"
    assert verdict(allowing("Bash(echo 日本 *)"), bash("echo 日 語")) == OPEN
    assert verdict(denying("Bash(rm 日)"), bash("true && 'rm' 日")) == "deny"


def test_a_line_of_too_many_letters_is_not_read_and_still_denied() -> None:
    many = "".join(map(chr, range(0x4E00, 0x4E00 + 200)))
    assert read_script(f"echo {many}", {}).commands == ()
    assert verdict(allowing("Bash"), bash(f"echo {many}")) == OPEN
    assert verdict(denying("Bash(rm *)"), bash(f"echo {many}; rm x")) == "deny"


@given(st.text(max_size=60))
def test_taking_back_undoes_putting(text: str) -> None:
    standing = StandIns(text, {})
    put = standing.put(text)
    assert len(put.encode("utf-8", "replace")) <= len(text.encode("utf-8", "replace"))
    assert standing.trouble or all(letter <= "\xff" for letter in put)
    assert standing.taken_back(Script(troubles=(put,))).troubles == (text,)
