"""The commands by name, the parser of their arguments, and what is said where a package is missing.

`pip install crabhook` is the hook and what sets it up, with no dependencies;
the extra `serve` is everything (docs/decisions/0014).
"""

import argparse
import gc
import importlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePath
from typing import NamedTuple, NoReturn


class Command(NamedTuple):
    """A subcommand: what declares its arguments, and what runs and returns the exit code."""

    add_arguments: Callable[[argparse.ArgumentParser], object]
    run: Callable[[argparse.Namespace], int]


class About(NamedTuple):
    """What `crabhook --help` and a command's own help say of it; `page` is a file of docs/.

    `within` names the module that holds the command beside others; without it the
    command has the module of its own name.
    """

    what: str
    example: str
    page: str
    within: str = ""


COMMANDS = {
    "serve": About(
        "open the operator's terminal and listen for requests",
        "crabhook serve",
        "reference/settings.md",
    ),
    "install": About(
        "write crabhook's hooks into an agent's settings",
        "crabhook install claude --gate",
        "how-to/install.md",
    ),
    "uninstall": About(
        "take crabhook's hooks out of an agent's settings again",
        "crabhook uninstall claude",
        "how-to/install.md",
        "install",
    ),
    "rules": About(
        "see, change, try and explain the rules that decide without you",
        "crabhook rules explain 'pytest -q && rm -rf build'",
        "reference/rules.md",
    ),
    "away": About(
        "be away, from another terminal: nothing waits for you meanwhile",
        "crabhook away --for 2h",
        "reference/desk.md",
        "presence",
    ),
    "here": About(
        "be back, from another terminal: requests wait for you again",
        "crabhook here",
        "reference/desk.md",
        "presence",
    ),
    "passphrase": About(
        "set the passphrase that `crabhook away` asks for",
        "crabhook passphrase",
        "reference/desk.md",
        "presence",
    ),
    "audit": About(
        "read the record of what was asked and decided, and verify it",
        "crabhook audit --since 2h --verdict deny",
        "reference/audit.md",
    ),
    "supervisor-hook": About(
        "be the hook that has a stop, or a question, reviewed before you are asked",
        'echo \'{"session_id": "s"}\' | crabhook supervisor-hook',
        "how-to/supervisor.md",
        "supervisor",
    ),
    "supervisor-review": About(
        "review with Claude Code itself: a reviewer for the settings",
        "crabhook supervisor-review --claude 'claude --model haiku' < review.json",
        "how-to/supervisor.md",
        "supervisor",
    ),
    "doctor": About(
        "see whether all is in order, and what mends it",
        "crabhook doctor claude",
        "reference/doctor.md",
    ),
    "lint": About(
        "find what hook scripts and configurations get wrong",
        "crabhook lint ~/.claude",
        "reference/lint.md",
    ),
    "demo": About(
        "see it work: a scripted agent asks, you decide",
        "crabhook demo",
        "tutorial/first-morning.md",
    ),
    "completion": About(
        "print what lets your shell complete crabhook's commands",
        "crabhook completion bash > ~/.local/share/bash-completion/completions/crabhook",
        "how-to/install.md",
    ),
}

ACTIONS = {
    "rules list": "crabhook rules list --project ~/shop",
    "rules add": "crabhook rules add deny 'Bash(git push *--force*)' --note 'no forced pushes'",
    "rules remove": "crabhook rules remove 1",
    "rules test": "crabhook rules test expected.tsv",
    "rules explain": "crabhook rules explain --tool Edit src/main.py",
    "rules suggest": "crabhook rules suggest",
    "rules trust": "crabhook rules trust ~/shop",
}
"""An example of each action of a command that has several."""

HOOK_OPTIONS = {
    "--server ADDRESS": ("CRABHOOK_SERVER", "where to ask, as unix:PATH or HOST:PORT"),
    "--token-file FILE": ("CRABHOOK_TOKEN, the token itself", "the file with the server's token"),
    "--tls-ca FILE": ("", "the certificate to know the server by; without it no TLS"),
    "--wait SECONDS": ("CRABHOOK_WAIT", "how long to wait for all of it (3630)"),
    "--reconnect SECONDS": ("", "how long to look for a server that was lost (120)"),
    "--when-unreachable WISH": ("CRABHOOK_WHEN_UNREACHABLE", "pass, ask or deny (pass)"),
    "--when-lost WISH": ("CRABHOOK_WHEN_LOST", "pass, ask or deny (pass)"),
    "--platform NAME": ("", "whose hook it is: claude, gemini, codex (claude)"),
    "--companion": (
        "",
        "leave the agent's own dialogs usable; else every call is held",
    ),
}
"""The hook's own options: the variable that says the same, if there is one, and what it is for."""


def command_of(name: str) -> Command:
    """Return the command of this name; its module is imported only now."""
    within, stem = COMMANDS[name].within, name.replace("-", "_")
    gc.disable()  # what is imported stays: no look for garbage among it would find any
    try:
        module = importlib.import_module(f"crabhook.cli.{within or stem}")
    finally:
        gc.freeze()
        gc.enable()
    found = getattr(module, stem) if within else module
    return Command(found.add_arguments, found.run)


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


EXTRA = "serve"
"""The name of the extra in pyproject.toml."""


def explained(command: str, error: ModuleNotFoundError) -> str | None:
    """Return the words for a person; None where the missing module is not another package's."""
    package = (error.name or "").partition(".")[0]
    if package in ("", "crabhook"):
        return None
    return (
        f"crabhook {command} needs {package}, which is not installed: here is the hook alone.\n"
        f"Install the whole: {_installer()}\n"
    )


def _installer() -> str:
    """Return the command that adds the extra to this installation."""
    wanted = f"'{_source()}'"
    parts = PurePath(sys.prefix).parts
    if "pipx" in parts:
        return f"pipx install --force {wanted}"
    if "uv" in parts and "tools" in parts:
        return f"uv tool install --force {wanted}"
    return f"{sys.executable} -m pip install {wanted}"


def _source() -> str:
    """Return crabhook with the extra, from where this one was installed."""
    import json  # noqa: PLC0415 - slow, and seldom needed, as is the next
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415

    name = f"crabhook[{EXTRA}]"
    try:
        told = distribution("crabhook").read_text("direct_url.json")
    except PackageNotFoundError:
        return name
    return f"{name} @ {json.loads(told)['url']}" if told else name
