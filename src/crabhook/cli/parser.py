"""Reads a command's arguments as argparse does, and names what was probably meant."""

import argparse
import re
from collections.abc import Iterable, Iterator
from typing import NoReturn

_WRONG = re.compile(r"invalid choice: '([^']*)'|unrecognized arguments: (\S+)")


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors say "did you mean", where something like it exists."""

    def error(self, message: str) -> NoReturn:
        """Print the usage, the error and what was probably meant; exit with 2."""
        found = _WRONG.search(message)
        wrong = (found[1] or found[2]).partition("=")[0] if found else ""
        super().error(message + meant(wrong, words_of(self)))


def meant(wrong: str, known: Iterable[str]) -> str:
    """Return "; did you mean …?" with the nearest of the known words, or nothing."""
    from difflib import get_close_matches  # noqa: PLC0415 - slow, and only for slips

    near = get_close_matches(wrong, sorted(set(known)), n=1)
    return f"; did you mean {near[0]}?" if near else ""


def subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parsers of a parser's actions, by their names."""
    return {
        name: child
        for action in parser._actions  # noqa: SLF001 - argparse tells it nowhere else
        if isinstance(action, argparse._SubParsersAction)  # noqa: SLF001 - likewise
        for name, child in action.choices.items()
    }


def words_of(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield every option and every choice of a parser and of its actions."""
    for action in parser._actions:  # noqa: SLF001 - as above
        yield from action.option_strings
        yield from map(str, action.choices or ())
    for child in subcommands(parser).values():
        yield from words_of(child)
