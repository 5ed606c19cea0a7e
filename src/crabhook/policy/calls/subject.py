"""What a shell line is about, in the words that tell lines apart when decisions are counted.

A rule tells lines apart by their programs and subcommands, and by the files that they write. So
does a count of "such calls", which would else comfort a person with other calls.
"""

from collections.abc import Sequence
from functools import lru_cache
from posixpath import basename

from crabhook.policy.shell.interpreters import is_interpreter
from crabhook.policy.shell.programs import listed
from crabhook.policy.shell.read import read_script
from crabhook.policy.shell.script import Flow, SimpleCommand
from crabhook.policy.shell.unfold import behind_gits_options, readings
from crabhook.policy.shell.wrappers import WRAPPED, unwrapped

_TAKES_SUBCOMMAND = listed("subcommands", "taken")
_TAKES_TWO = listed("subcommands", "two")
_SUBCOMMANDS_OF_TWO = listed("subcommands", "of_two")
_FETCHES = listed("subcommands", "fetches")
_SHOWS = listed("subcommands", "shows")
_NOWHERE = "/dev/null"
LONGEST = 2_000  # letters; a longer line is like its very own kind alone
_KEPT = 4_096  # lines that were read last


@lru_cache(_KEPT)
def subject_of_line(text: str) -> str:
    """Return what a shell line runs and writes: "npm run lint", "git push, > a.txt".

    Folders that it goes to, and commands that only shorten what they read, do not count. A line
    that rules cannot read is about itself alone.
    """
    if len(text) > LONGEST:
        return text
    script = read_script(text, {})
    commands = [command for command in script.commands if command.words and not command.hidden]
    if script.troubles or not commands or any(map(_reads_its_program, commands)):
        return text.strip()
    heads = [_head(command) for command in commands]
    telling = [
        head
        for head, command in zip(heads, commands, strict=True)
        if head != "cd" and not _only_shows(command)
    ]
    written = [
        f"> {redirect.target.text}"
        for redirect in script.redirects
        if redirect.flow is not Flow.READ and redirect.target.text != _NOWHERE
    ]
    return ", ".join(dict.fromkeys([*(telling or heads), *written]))


def _reads_its_program(command: SimpleCommand) -> bool:
    """Whether an interpreter runs what comes by its input, which only the whole line tells."""
    words = unwrapped(command)[-1]
    return is_interpreter(basename(words[0].text)) and all(
        word.text[:1] == "-" for word in words[1:]
    )


def _only_shows(command: SimpleCommand) -> bool:
    """Whether a command only shortens or sorts what comes by its pipe."""
    name, *rest = (word.text for word in command.words)
    return name in _SHOWS and all(word[:1] == "-" or word.isdecimal() for word in rest)


def _head(command: SimpleCommand) -> str:
    """Return what a command runs; all its words where a rule too would have to say them all."""
    plain = [reading for reading in readings(command) if not reading.assigned]
    if not plain or plain[-1].exact or plain[-1].starts:
        before = [f"{assignment.name}={assignment.value.raw}" for assignment in command.assignments]
        return " ".join([*before, *(word.raw for word in command.words)])
    return " ".join(_named([word.text for word in unwrapped(command)[-1]]))


def _named(argv: Sequence[str]) -> Sequence[str]:
    """Return the words that say what is run: the program, its subcommand, what it runs in turn.

    Where an option stands before these, and may take a word, all words are returned.
    """
    name = basename(argv[0])
    own = name in _TAKES_SUBCOMMAND or name in WRAPPED or is_interpreter(name)
    rest = argv[1:] if name != "git" else behind_gits_options(argv[1:])
    if not own and name not in _FETCHES:
        return argv[:1]
    if not rest or rest[0][:1] == "-" or (is_interpreter(name) and len(argv) == 1):
        return argv
    if name in WRAPPED:
        return [argv[0], *_named(rest)]
    two = rest[0] in _SUBCOMMANDS_OF_TWO or name in _TAKES_TWO
    return [argv[0], *rest[: 2 if two else 1]]
