"""The check of our English sees each fault that it names, and nothing in plain sentences."""

import pytest

from tests.prose.__main__ import BANNED, faults
from tests.prose.sources import ROOT, RULES, passages


@pytest.mark.parametrize(
    "sentence",
    [
        "Whoever sits there decides.",
        "What is said of a card stands on the card.",
        "A later card takes the place of the earlier one.",
        "The rule denies it; the agent goes on.",
        "A, b, c, d, e, f.",
        " ".join(["word"] * (RULES["words"] + 1)) + ".",
    ],
)
def test_a_sentence_that_is_read_twice_is_a_fault(sentence: str) -> None:
    assert [*faults(sentence)]


@pytest.mark.parametrize(
    "text",
    [
        "The operator decides. The agent reads the answer.",
        "The fields are CODE, CODE (a list), CODE, CODE, CODE, CODE and CODE.",
        "One of the two servers answers, and one minute later the other.",
        " ".join(["word"] * RULES["words"]) + ". And a second sentence.",
    ],
)
def test_a_plain_sentence_is_none(text: str) -> None:
    assert [*faults(text)] == []


def test_a_docstring_may_join_two_sentences() -> None:
    sentence = "Return the card; raise KeyError where there is none."
    assert [*faults(sentence)] != []
    assert [*faults(sentence, 1)] == []


def test_all_kinds_of_text_are_read_and_what_is_kept_is_still_there() -> None:
    every = [*passages()]
    assert {passage.file.rpartition(".")[2] for passage in every} == {"md", "py", "toml"}
    assert len(BANNED) == len(RULES["banned"])
    texts = [" ".join(passage.text.split()) for passage in every]
    assert [kept for kept in RULES["kept"] if not any(kept in text for text in texts)] == []
    assert all((ROOT / table).is_file() for table in RULES["data"])
