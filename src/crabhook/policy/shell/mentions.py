"""Programs that may run without being visible in the line.

A denial must not depend on our knowledge of every program. So every word may name a program, except
arguments of programs that take data only. What can put names together by itself is told by
`interpreters.py`: where rules deny programs, such a line cannot be allowed.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from posixpath import basename

from crabhook.datatypes import frozen
from crabhook.policy.shell.hidden import SHELLS
from crabhook.policy.shell.interpreters import IsStream, no_stream, starts_untold
from crabhook.policy.shell.programs import listed, patterns
from crabhook.policy.shell.script import Script, ShellWord, SimpleCommand
from crabhook.policy.shell.wrappers import is_safe, unwrapped

_DATA = listed("running", "data")
_DATA_SUBCOMMANDS = {name: listed("running", f"data_of_{name}") for name in ("git", "gh")}
_ACTING = patterns("acting")
_RUNNING = patterns("running_options")
_HARMLESS = re.compile(r"-c(?:user|color|advice|init|commit|log|diff|push|pull|merge)\.")
_EVALUATING = ("source", ".", "eval")
_TOKEN = re.compile(r"[^\w.+/-]+")
_ATTACHED = re.compile(r"-[A-Za-z](?=.)")
_STANDS_IN = re.compile(r"(?<=\{)\w+:?[-+=?]")  # before the word in `${x:-word}`
_QUOTES = re.compile(r"[\\'\"]")
_EMPTY = re.compile(r"\$(?:[0-9@*]|\{\w*\})")  # what may be nothing beside a name: `$1rm`
_RUN_BY_SED = re.compile(r"^[0-9+]*e")
_MOST = 8000


@frozen
class Mentions:
    """The names in a line that may be programs', and whether the line can build others.

    `names`: possible programs. `text`: the line. `calls`: its commands that vary. `starts`: why
    unnamed programs may start, for a person.
    """

    names: frozenset[str] = frozenset()
    text: str = ""
    calls: tuple[SimpleCommand, ...] = ()
    starts: str = ""

    @property
    def programs(self) -> frozenset[str]:
        """The names that a denial could begin with, if one of them came to run."""
        called = (basename(words[0].text) for command in self.calls for words in unwrapped(command))
        return self.names.union(called)

    def may_run(self, first: str, rest: Sequence[str]) -> bool:
        """Whether a command that begins with these words could come to run unseen."""
        if first in self.names and all(
            piece in self.text for word in rest for piece in word.split("*")
        ):
            return True
        return any(_may_become(command, first, rest) for command in self.calls)


def mentions(
    text: str, script: Script, deep: Script | None = None, is_stream: IsStream = no_stream
) -> Mentions:
    """Return the names in a line that was read into this script.

    `deep`: the script with all that hides in it.
    """
    commands = [command for command in script.commands if not command.hidden]
    calls = tuple(
        command
        for command in commands
        if command.words
        and (
            not all(word.fixed for word in command.words)
            or _is_fed(command)
            or _is_configured(command)
        )
    )
    deep = deep or script
    starts = starts_untold((*commands, *deep.nested), deep.redirects, is_stream)
    # What a variable is set to is a text that may run, whatever else the line holds.
    tokens = set(_tokens(script.assigned))
    if all(map(_is_data, commands)):
        both = _both_spellings(text) if tokens else ""
        return Mentions(frozenset(tokens), both, calls, starts)
    words = [word for command in commands for word in command.words]
    shell = any(basename(word.text) in SHELLS or word.text in _EVALUATING for word in words)
    writes = any(redirect.written for redirect in script.redirects)
    for command in commands:
        if shell or writes or command.fed or not _is_data(command):
            arguments = unwrapped(command)[-1][1:]
            tokens.update(_tokens(text for word in arguments for text in (word.raw, *word.values)))
    tokens.update(_tokens(script.inputs))
    return Mentions(frozenset(tokens), _both_spellings(text), calls, starts)


def _both_spellings(text: str) -> str:
    """Return the text with and without its quotes."""
    return f"{text}\n{_QUOTES.sub('', text)}"


def _is_data(command: SimpleCommand) -> bool:
    """Whether the command runs only itself, with any words."""
    if not command.words:
        return True
    words = unwrapped(command)[-1]
    if _is_fed(command) or not words[0].fixed or not all(map(is_safe, command.assignments)):
        return False
    # `printf -v` prints into a variable.
    if [word.text for word in words[:2]] == ["printf", "-v"]:
        return False
    name = words[0].text
    if name in _ACTING:
        return all(word.fixed and not _ACTING[name].match(word.text) for word in words)
    return name in _DATA if name not in _DATA_SUBCOMMANDS else _is_data_subcommand(words)


def _is_data_subcommand(words: Sequence[ShellWord]) -> bool:
    name = words[0].text
    if len(words) < 2 or not words[1].fixed or words[1].text not in _DATA_SUBCOMMANDS[name]:
        return False
    texts = [word.text for word in words[2:] if word.text != "-cached"]
    return not any(map(_RUNNING[name].match, texts))


def _is_configured(command: SimpleCommand) -> bool:
    """Whether settings come with the command: each could be a git alias for another."""
    words = [word.text for word in command.words]
    own = f"{basename(words[0]).upper()}_"  # GIT_CONFIG_COUNT, npm_config_script_shell
    if any(assignment.name.upper().startswith(own) for assignment in command.assignments):
        return True
    return any(
        word.startswith(("-c", "--config")) and not _HARMLESS.match("".join(words[at : at + 2]))
        for at, word in enumerate(words)
        if basename(words[0]) == "git"
    )


def _is_fed(command: SimpleCommand) -> bool:
    """Whether `xargs` adds words from its input."""
    return any(basename(words[0].text) == "xargs" for words in unwrapped(command))


def _tokens(texts: Iterable[str]) -> Iterator[str]:
    """Yield possible program names in the texts, with and without quotes."""
    count = 0
    for text in texts:
        bare = _QUOTES.sub("", text)
        for spelled in {text, bare, _EMPTY.sub("", bare)}:
            for token in _TOKEN.split(_STANDS_IN.sub(" ", spelled)):
                count += 1
                if count > _MOST:
                    return
                if token:
                    yield token
                    yield from token.split("/")
                    yield _RUN_BY_SED.sub("", token.rpartition("/")[2])
                    if attached := _ATTACHED.match(token):
                        yield basename(token[attached.end() :])


def _may_become(command: SimpleCommand, first: str, rest: Sequence[str]) -> bool:
    """Whether words known only at run time could make the command one of these."""
    fed = False
    for words in unwrapped(command):
        fed |= words[0].text == "xargs"
        if basename(words[0].text) != first:
            continue
        if rest and _is_configured(command):
            return True
        for at, wanted in enumerate(rest, 1):
            if "*" in wanted:
                return any(not word.fixed for word in words[at:])
            if at >= len(words):
                if fed:
                    return True
                break
            if not words[at].fixed:
                return True
            if words[at].text != wanted:
                break
    return False
