"""Names that stand in a line where they could come to run, though nothing shows that they do.

A denial must not depend on our knowing how each program runs others.  So the
words of a command are data only where its program is known to take them as
data, and what it prints goes no further; every other word may name a program.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from posixpath import basename

from crabhook.policy.names import names
from crabhook.policy.shell.hidden import SHELLS
from crabhook.policy.shell.script import Command, Flow, Script
from crabhook.policy.shell.untold import starts_untold
from crabhook.policy.shell.wrappers import is_safe, unwrapped

# They run nothing, whatever they are given.
_DATA = names(
    "echo printf true false : test [ [[ cat tac nl head tail wc ls dir stat file du df basename "
    "dirname realpath readlink diff cmp comm grep egrep fgrep cut tr uniq paste column fold fmt "
    "md5sum sha1sum sha256sum sha512sum shasum cksum mkdir rmdir rm touch chmod chown chgrp seq "
    "sleep date pwd cd kill which type id whoami uname hostname jq mktemp unlink tree return exit "
    "break continue shift wait read unset xxd od hexdump strings tput nproc umask"
)
_DATA_SUBCOMMANDS = {
    "git": names(
        "add commit log status diff show branch tag blame ls-files rev-parse rev-list stash "
        "checkout switch restore merge reset mv rm describe shortlog cat-file"
    ),
    "gh": names("pr issue"),
}
# They are data too, save with these words.
_ACTING = {
    "find": re.compile(r"-exec|-ok|-delete|-f"),
    "fd": re.compile(r"-[xX]|--exec"),
    "sort": re.compile(r"--c"),
    "rg": re.compile(r"--pre|--hostname"),
}
# Options of these by which they run something after all.
_RUNNING = re.compile(
    r"-c|-x|-O|--exec|--ext-diff|--textconv|--open-files-in-pager|--config|--upload"
)
_HARMLESS = re.compile(r"-c(?:user|color|advice|init|commit|log|diff|push|pull|merge)\.")
_TOKEN = re.compile(r"[^\w.+/-]+")
_ATTACHED = re.compile(r"-[A-Za-z](?=.)")
_STANDS_IN = re.compile(r"(?<=\{)\w+:?[-+=?]")  # before the word in `${x:-word}`
_QUOTES = re.compile(r"[\\'\"]")
_RUN_BY_SED = re.compile(r"^[0-9+]*e")
_MOST = 8000


@dataclass(frozen=True, slots=True)
class Mentions:
    """The names in a line that may be programs', and whether names may come up that are not in it.

    `names`: what could be a program's; `text`: the line; `calls`: its commands
    that vary; `starts`: why programs may start that no word names, for a person.
    """

    names: frozenset[str] = frozenset()
    text: str = ""
    calls: tuple[Command, ...] = ()
    starts: str = ""

    @property
    def programs(self) -> frozenset[str]:
        """The names that a denial could begin with, if one of them came to run."""
        called = (basename(words[0].text) for one in self.calls for words in unwrapped(one))
        return self.names.union(called)

    def may_run(self, first: str, rest: Sequence[str]) -> bool:
        """Whether a command that begins with these words could come to run unseen."""
        if first in self.names and all(
            piece in self.text for word in rest for piece in word.split("*")
        ):
            return True
        return any(_may_become(command, first, rest) for command in self.calls)


def mentions(text: str, script: Script) -> Mentions:
    """Return the names in a line that was read into this script."""
    commands = [command for command in script.commands if not command.hidden]
    calls = tuple(command for command in commands if command.words and _varies(command))
    starts = starts_untold(commands, script.redirects, given=bool(script.given))
    if all(map(_is_data, commands)):
        return Mentions(calls=calls, starts=starts)
    shell = any(_starts_shell(command) for command in commands)
    writes = any(
        one.flow is not Flow.READ and one.target.text != "/dev/null" for one in script.redirects
    )
    found: set[str] = set()
    for command in commands:
        if shell or writes or command.fed or not _is_data(command):
            found.update(_tokens(_texts(command)))
        found.update(_tokens(one.value.raw for one in command.assignments))
    found.update(_tokens(script.given))
    return Mentions(frozenset(found), f"{text}\n{_QUOTES.sub('', text)}", calls, starts)


def _starts_shell(command: Command) -> bool:
    return any(
        basename(word.text) in SHELLS or word.text in ("source", ".", "eval")
        for word in command.words
    )


def _texts(command: Command) -> Iterator[str]:
    for word in unwrapped(command)[-1][1:]:
        yield from (word.raw, *word.values)


def _is_data(command: Command) -> bool:
    """Whether the command runs nothing but itself, whatever its words are."""
    if not command.words:
        return True
    words = unwrapped(command)[-1]
    if _is_fed(command) or not words[0].fixed or not all(map(is_safe, command.assignments)):
        return False
    name = words[0].text
    if name in _ACTING:
        return all(word.fixed and not _ACTING[name].match(word.text) for word in words)
    if name not in _DATA_SUBCOMMANDS:
        return name in _DATA
    if len(words) < 2 or not words[1].fixed or words[1].text not in _DATA_SUBCOMMANDS[name]:
        return False
    return not any(_RUNNING.match(word.text) and word.text != "-cached" for word in words[2:])


def _varies(command: Command) -> bool:
    """Whether the command may do something else than its words say."""
    if not all(word.fixed for word in command.words) or _is_fed(command):
        return True
    return _is_configured(command)


def _is_configured(command: Command) -> bool:
    """Whether settings come with the command: to git, any of them may be an alias for another."""
    words = [word.text for word in command.words]
    own = f"{basename(words[0]).upper()}_"  # GIT_CONFIG_COUNT, npm_config_script_shell
    if any(one.name.upper().startswith(own) for one in command.assignments):
        return True
    return any(
        word.startswith(("-c", "--config")) and not _HARMLESS.match("".join(words[at : at + 2]))
        for at, word in enumerate(words)
        if basename(words[0]) == "git"
    )


def _is_fed(command: Command) -> bool:
    """Whether more words come from what `xargs` reads."""
    return any(basename(one[0].text) == "xargs" for one in unwrapped(command))


def _tokens(texts: Iterable[str]) -> Iterator[str]:
    """Yield what could be the name of a program in each of the texts, quotes taken away or not."""
    count = 0
    for text in texts:
        for spelled in {text, _QUOTES.sub("", text)}:
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


def _may_become(command: Command, first: str, rest: Sequence[str]) -> bool:
    """Whether words that are only known when it runs could make the command one of these."""
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
