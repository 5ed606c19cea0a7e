"""The commands by name, the parser of their arguments, and the message for a missing package.

`pip install crabhook` is the hook and its setup, without dependencies; the extra `serve` is
everything (docs/decisions/0014).
"""

import argparse
import importlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from crabhook import extras
from crabhook.data_files import tables
from crabhook.model.errors import CrabhookError


class Subcommand(NamedTuple):
    """A subcommand: what declares its arguments, and what runs and returns the exit code."""

    add_arguments: Callable[[argparse.ArgumentParser], object]
    run: Callable[[argparse.Namespace], int]


class About(NamedTuple):
    """A command's help: see commands.toml; `group` is its heading, `more` for one out of sight."""

    what: str
    example: str
    page: str
    within: str = ""
    group: str = ""


DONE, FAILED, TOO_LATE, CHANGED, NOT_ALLOWED, COUNTED, NO_SERVER = 0, 1, 3, 4, 5, 6, 7
"""What commands end with: docs/reference/exit-codes.md."""

_TABLE = tables(__file__, "commands")
OUT_OF_SIGHT = "more"


def _words(act: Mapping[str, str]) -> str:
    """Return an act's words behind `crabhook`: its id, behind the noun whose action it is."""
    before, own, _ = act["verb"].removeprefix("crabhook ").partition(act["name"].replace(" ", "-"))
    return before + own


_ACTS: Mapping[str, Mapping[str, str]] = {
    _words(act): act
    for act in tables(str(Path(__file__).parents[1] / "desk" / "acts"), "acts")["act"]
    if "verb" in act
}
"""The acts that are a command or an action, by its words.

The table is read here as data: its reader imports more than the help is worth.
"""


def _commands() -> Iterator[tuple[str, About]]:
    """Yield every command; an act that the table does not name comes last, out of sight."""
    for group, commands in _TABLE["commands"].items():
        for name, about in commands.items():
            of_act = about == "act"
            yield name, _of(_ACTS[name], group) if of_act else About(*about)._replace(group=group)
    named = {name for commands in _TABLE["commands"].values() for name in commands}
    for name, act in _ACTS.items():
        if name.partition(" ")[0] not in named:
            yield name, _of(act, OUT_OF_SIGHT)


def _of(act: Mapping[str, str], group: str) -> About:
    what, example = act.get("shell", act["means"]), act["verb"]
    if "gives" in act:
        return About(f"decide a card: {what}", example, _VERBS, "verbs.deciding", group)
    return About(what, example, _VERBS, "verbs.commands", group)


_VERBS = "reference/verbs.md"
COMMANDS: Mapping[str, About] = dict(_commands())
ACTIONS: Mapping[str, str] = {
    **_TABLE["actions"],
    **{words: act["verb"] for words, act in _ACTS.items() if " " in words},
}
HOOK_OPTIONS: Mapping[str, tuple[str, str]] = _TABLE["hook_options"]


def command_of(name: str) -> Subcommand:
    """Return the command of this name; its module is imported only now."""
    within, stem = COMMANDS[name].within, name.replace("-", "_")
    module = importlib.import_module(f"crabhook.cli.{within or stem}")
    of_python = f"{stem}_"  # where Python, or the module, has another use for the name
    verbs: Mapping[str, Subcommand] = getattr(module, "VERBS", {})
    if (command := verbs.get(name)) is not None:
        return command
    declaring = getattr(module, of_python, None) or getattr(module, stem) if within else module
    return Subcommand(declaring.add_arguments, declaring.run)


def options_of(command: str) -> Mapping[str, Any]:
    """Return what options/COMMAND.toml says of each option of a command."""
    return tables(str(Path(__file__).with_name("options") / command), command)


def _wait(text: str) -> float | str:
    return text if text == "never" else _some_seconds(text)


def _some_seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds") from None


SERVE_VALUES: Mapping[str, Any] = {"wait": _wait, "seconds": _some_seconds, "unsaid": None}
"""What the options of `serve` name, and those of `up`, which are the same."""


def declare(
    options: Mapping[str, str | Mapping[str, Any]],
    values: Mapping[str, Any],
    parser: argparse.ArgumentParser,
) -> None:
    """Declare options: each as the help shows it, with its help or with argparse's arguments.

    An option without a metavar, choices or an action is a flag. "$NAME" is the value of that name,
    as is {NAME} in a help. Options of one `group` exclude each other.
    """
    named_values: dict[str, Any] = {
        "int": whole,
        "Path": Path,
        "absolute": _absolute,
        "servers": servers,
    }
    named_values |= values
    groups: dict[str, argparse._ActionsContainer] = {"": parser}
    for shown, about in options.items():
        name, _, metavar = shown.partition(" ")
        spoken = {"help": about} if isinstance(about, str) else about
        keywords: dict[str, Any] = {"metavar": metavar} if metavar else {}
        for key, text in spoken.items():
            keywords[key] = named_values[text[1:]] if str(text)[0:1] == "$" else text
        keywords["help"] = keywords.get("help", "").format(**named_values) or None
        if name.startswith("-") and not keywords.keys() & {"metavar", "choices", "action"}:
            keywords["action"] = "store_true"
        group = keywords.pop("group", "")
        if group not in groups:
            groups[group] = parser.add_mutually_exclusive_group()
        groups[group].add_argument(name, **keywords)


def declaring(
    command: str, values: Mapping[str, Any] | None = None
) -> Callable[[argparse.ArgumentParser], None]:
    """Return what declares the options of a command, as options/COMMAND.toml has them."""
    return partial(declare, options_of(command), values or {})


def actions(
    command: str,
    acts: Mapping[str, Callable[[argparse.Namespace], object]],
    values: Mapping[str, Any],
) -> Subcommand:
    """Return a command of several actions, declared in options/COMMAND.toml with a help for each.

    One without an act is a noun that has actions of its own: "keys" has "keys trust". `with` names
    the tables in [shared] whose options an action has too.
    """

    def add_arguments(parser: argparse.ArgumentParser) -> None:
        below = {"": parser.add_subparsers(required=True, metavar="ACTION")}
        sections = dict(options_of(command))
        shared = sections.pop("shared", {})
        for name, about in sections.items():
            noun, _, action = name.rpartition(" ")
            options = dict(about)
            what = options.pop("help", "") or _of(_ACTS[f"{command} {name}"], "").what
            for table in options.pop("with", "").split():
                options |= shared[table]
            child = below[noun].add_parser(action, help=what, description=what)
            if name in acts:
                declare(options, values, child)
                child.set_defaults(act=acts[name])
            else:
                below[name] = child.add_subparsers(required=True, metavar="ACTION")

    return Subcommand(
        add_arguments, partial(reporting, command, lambda arguments: arguments.act(arguments))
    )


def reporting(
    command: str, act: Callable[[argparse.Namespace], object], arguments: argparse.Namespace
) -> int:
    """Do `act` and print what it returns, or why it failed; return the exit code."""
    from crabhook.ui.console import say  # the hook's side has no use for it

    try:
        done = act(arguments)
    except CrabhookError as error:
        say(f"crabhook {command}: {error}", stream=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        sys.stderr.write("\nended: nothing more was changed\n")
        return 130
    if isinstance(done, str):
        say(*done.split("\n"))
    return done if isinstance(done, int) else DONE


def whole(text: str) -> int:
    """Return the whole number that a person wrote."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number") from None


def servers(text: str) -> str:
    """Return an address of a server, or a list of them, as a person wrote it."""
    from crabhook.hook.failover import fault_in  # few commands take servers

    if fault := fault_in(text):
        raise argparse.ArgumentTypeError(fault)
    return text


def _absolute(text: str) -> Path:
    return Path(text).absolute()


_WRONG = re.compile(r"invalid choice: '([^']*)'|unrecognized arguments: (\S+)")


FIRST = "list"
"""The action that is meant where a person names none."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors say "did you mean", where something like it exists."""

    def parse_args(self, args: Sequence[str], namespace: Any = None) -> Any:  # type: ignore[override]  # noqa: ANN401 - argparse's own
        """Parse what a person wrote; the action `list` may be left out."""
        first = args[0] if args else "-"
        if first.startswith("-") and first not in ("-h", "--help") and FIRST in subcommands(self):
            args = (FIRST, *args)
        return super().parse_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Print the usage, the error and what was probably meant; exit with 2."""
        match = _WRONG.search(message)
        wrong = (match[1] or match[2]).partition("=")[0] if match else ""
        super().error(message + meant(wrong, words_of(self)))


def meant(wrong: str, words: Iterable[str]) -> str:
    """Return ", did you mean …?" with the nearest of the known words, or nothing."""
    from difflib import get_close_matches  # slow, and only for slips

    near = get_close_matches(wrong, sorted(set(words)), n=1, cutoff=0.7)
    return f", did you mean {near[0]}?" if near else ""


def subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parsers of a parser's actions, and of theirs, by their names."""
    children: dict[str, argparse.ArgumentParser] = {}
    for action in parser._actions:  # noqa: SLF001 - argparse tells it nowhere else
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - likewise
            for name, child in action.choices.items():
                below = subcommands(child).items()
                children |= {name: child, **{f"{name} {last}": each for last, each in below}}
    return children


def words_of(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield every option and every choice of a parser and of its actions."""
    for each in (parser, *subcommands(parser).values()):
        for action in each._actions:  # noqa: SLF001 - as above
            yield from action.option_strings
            yield from map(str, action.choices or ())


_FIDO2, _PYJWT = "fido2", "jwt"
_OWN_EXTRAS = {_FIDO2: ("--web", extras.WEB), _PYJWT: ("--oidc", extras.OIDC)}
"""What alone needs a package that `serve` does not bring: the option, and the extras."""


def need_passkeys() -> None:
    """Raise ModuleNotFoundError where the package is missing that reads passkeys."""
    from importlib.util import find_spec  # for the web desk alone

    if find_spec(_FIDO2) is None:
        raise ModuleNotFoundError(name=_FIDO2)


def explained(command: str, error: ModuleNotFoundError) -> str | None:
    """Return the words for a person; None where the missing module is not another package's."""
    package = (error.name or "").partition(".")[0]
    if package in ("", "crabhook"):
        return None
    if package in _OWN_EXTRAS:
        option, extra = _OWN_EXTRAS[package]
        return (
            f"crabhook {command} {option} needs {package}, which is not installed.\n"
            f"Install it: {extras.installer(extra)}\n"
        )
    return (
        f"crabhook {command} needs {package}, which is not installed: here is the hook alone.\n"
        f"Install the whole: {extras.installer(extras.SERVE)}\n"
    )
