from pathlib import Path

from crabhook.desk.acts import Reach
from crabhook.ui.commands.parse import parse
from crabhook.ui.commands.words import PERSONS_WORDS, WORDS, help_lines


def test_the_help_that_programs_are_told_is_what_it_was() -> None:
    told = "\n".join(help_lines()) + "\n"
    assert told == Path(__file__).with_name("help_on_pipes.txt").read_text(encoding="utf-8")


def test_the_help_tells_every_word_the_parser_knows() -> None:
    told = "\n".join(help_lines(PERSONS_WORDS))
    for word in PERSONS_WORDS.values():
        assert f"  {word.persons_usage()}" in told
        assert word.act.means in told
    assert max(map(len, help_lines())) <= 80


def test_every_usage_in_the_help_can_be_written() -> None:
    for word in WORDS.values():
        line = word.usage(7).replace("[note]", "a note")
        command = parse(line)
        assert command is not None
        assert command.word is word


def test_what_stands_in_brackets_may_be_left_out_and_nothing_else() -> None:
    optional = {name for name, word in WORDS.items() if word.act.takes and not word.needs}
    assert optional == {"allow", "accept", "always deny", "away", "remember"}
    assert WORDS["keep-going"].needs


def test_only_a_word_that_lets_nothing_happen_is_said_of_all() -> None:
    for name in (
        "allow",
        "answer",
        "accept",
        "edit",
        "always",
        "remember",
        "mode",
        "keep-going",
        "retry",
    ):
        assert WORDS[name].act.reach in (Reach.ONE, Reach.NAMED)
