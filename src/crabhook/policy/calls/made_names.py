"""Names that a line makes and then uses: a link among them leads to any file of the user's.

`git apply k.patch && cat n.txt` prints a key where the patch makes `n.txt` a link to it. What was
in the folder before the line proves nothing. A patch, a checkout or an archive may put a link in
the place of a plain file. So behind a command that can make links, a name that a program opens is
any file. It is not so where a look shows that no link can come from the command.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from posixpath import basename

from crabhook.datatypes import frozen
from crabhook.policy.calls import mentioned_files
from crabhook.policy.calls.mentioned_files import STREAMS, Folders
from crabhook.policy.calls.parts import FilePart, Use
from crabhook.policy.context import NO_NAME, Context
from crabhook.policy.paths import expand_home, is_within, normal, places_in
from crabhook.policy.shell import programs
from crabhook.policy.shell.interpreters import AWK_STARTS, sed_is_harmless
from crabhook.policy.shell.script import Flow, Redirect, ShellWord, SimpleCommand, Span
from crabhook.policy.shell.wrappers import is_brought_words, unwrapped

_MAKERS, _IDLE, _PLAIN = (programs.listed("made", key) for key in ("makers", "idle", "plain"))
_LEAVES, _FOLLOWS = programs.listed("made", "leaves"), programs.listed("made", "follows")
_OPENS, _TRIES = programs.listed("made", "opens"), programs.listed("made", "tries")
_RUNNING, _AWK = programs.listed("made", "running"), programs.listed("running", "awk")
_KEEPS, _TELLS, _TARGETS = map(programs.patterns, ("keeps", "tells", "targets"))
_ATTACHED = programs.patterns("attached")
_OPENS_ADDRESSES = frozenset({"curl", "wget"})


MAX_MAKERS = 64  # of one line; each use of a name is compared with each


class Makes(IntEnum):
    """What a command can make of a name; the higher, the worse for rules."""

    NOTHING = 0
    ANYTHING = 1
    """It runs code, which may also open and write files itself."""
    LINKS = 2
    """It runs no code of the project's, but unpacks, moves or makes links."""


@frozen
class _Maker:
    """A command that makes names; `below`: only below this new folder, if it can be told."""

    command: SimpleCommand
    makes: Makes
    below: str = ""


@frozen
class MadeNames:
    """What follows for a line: parts that only the tool as a whole covers, and troubles.

    `opened`: the names of the troubles, as they are written.
    """

    parts: tuple[FilePart, ...] = ()
    troubles: tuple[str, ...] = ()
    opened: tuple[str, ...] = ()


@frozen
class _Ground:
    """Where a line runs: the folders that it may be in, and facts of this machine."""

    folders: Folders
    context: Context


def made_names(
    commands: Sequence[SimpleCommand],
    redirects: Sequence[Redirect],
    folders: Folders,
    tools: frozenset[str],
    context: Context,
) -> MadeNames:
    """Return what a line's uses of names come to that a command of the line may have made."""
    ground = _Ground(folders, context)
    making = [(command, makes) for command in commands if (makes := _makes(command))]
    if not making:
        return MadeNames()
    if len(making) > MAX_MAKERS:
        return MadeNames(troubles=(f"more than {MAX_MAKERS} of its commands may make names",))
    makers = _makers(making, ground)
    # Once for each maker, and not for each use behind it: a line has a thousand of both.
    goings = _goings(commands, ground)
    moving = {id(maker) for maker in makers if _moves_by(maker, goings)}
    parts: dict[str, FilePart] = {}
    troubles: dict[str, str] = {}
    for use in _uses(commands, redirects):
        before = [maker for maker in makers if _may_come_before(use, maker)]
        if not before:
            continue
        settled = moving.isdisjoint(map(id, before))
        opens = [
            word
            for word in use.names
            if not _is_certain(word, use, before, ground, settled=settled)
        ]
        if not opens and (settled or use.idle):
            continue
        worst = max(before, key=lambda maker: maker.makes)
        if worst.makes is Makes.ANYTHING and not use.opens:
            continue
        shown = opens[0].raw if opens else "a folder's files"
        text = f"{shown} of {use.source}, a name that {worst.command.source} may have made"
        if worst.makes is Makes.LINKS and use.opener:
            troubles[f"{text}: a link there would lead to any file"] = shown
        else:
            what = Use.WRITE if use.writes else Use.READ
            parts[text] = FilePart(text, what, (), tools, program=use.program, own=tools, made=True)
    return MadeNames(
        tuple(parts.values()), tuple(troubles), tuple(dict.fromkeys(troubles.values()))
    )


def _makers(making: Iterable[tuple[SimpleCommand, Makes]], ground: _Ground) -> list[_Maker]:
    """Return the commands that make names, of those that may."""
    makers = []
    moving = []
    for command, makes in making:
        if basename(_words(command)[0].text) in ("mv", "cp") and not is_brought_words(command):
            moving.append(command)
        else:
            makers.append(_Maker(command, makes, _new_folder(command, ground.folders)))
    # What is moved or copied is a link only where it is one now, or may become one before.
    for _ in range(len(moving)):
        more = [
            _Maker(command, makes)
            for command in moving
            if all(maker.command is not command for maker in makers)
            and (makes := _carries(command, makers, ground))
        ]
        makers += more
        if not more:
            break
    return makers


def _words(command: SimpleCommand) -> Sequence[ShellWord]:
    return unwrapped(command)[-1]


def _makes(command: SimpleCommand) -> Makes:
    words = _words(command)
    name, texts = basename(words[0].text), [word.text for word in words[1:]]
    if not words[0].fixed:
        return Makes.ANYTHING
    if name in _MAKERS:
        keeps = _KEEPS.get(name)
        open_words = is_brought_words(command) or any(_may_be_option(word) for word in words[1:])
        if keeps is None or open_words or not keeps.fullmatch(_joined(texts)):
            return Makes.LINKS
        return Makes.NOTHING
    return Makes.NOTHING if _makes_plain_names(name, words, texts) else Makes.ANYTHING


def _makes_plain_names(name: str, words: Sequence[ShellWord], texts: Sequence[str]) -> bool:
    if name in _AWK:
        return _is_tame_awk(words)
    if name == "sed":
        return sed_is_harmless(words[1:])
    if texts in (["--version"], ["--help"], ["-V"]):
        return True
    if name in programs.READERS or name in _IDLE or name in _PLAIN or name == "find":
        return True
    tells = _TELLS.get(name)
    return tells is not None and tells.fullmatch(_joined(texts)) is not None


def _is_tame_awk(words: Sequence[ShellWord]) -> bool:
    """Whether the program stands in the line, and starts no other."""
    return all(
        word.fixed
        and not AWK_STARTS.search(word.text)
        and (word.text[:1] != "-" or word.text[:2] in ("-F", "-v"))
        for word in words[1:]
    )


def _joined(texts: Iterable[str]) -> str:
    return "".join(f" {text}" for text in texts)


def _may_be_option(word: ShellWord) -> bool:
    """Whether a word that only the shell knows may be an option."""
    if word.fixed:
        return False
    texts = (*word.values, *word.parts)
    return any(text[:1] == "-" for text in texts) or (
        word.begins_open and (word.computed or word.glob)
    )


_CLONE = re.compile(
    r" clone(?: -q| --quiet| --depth[ =]\d+| --single-branch| -b [\w./-]+| --branch[ =][\w./-]+)*"
    r" (?!-)(\S+)(?: (?!-)(\S+))?"
)


def _new_folder(command: SimpleCommand, folders: Folders) -> str:
    """Return the folder below which alone a `git clone` makes names; nothing if unsure."""
    words = _words(command)
    match = _CLONE.fullmatch(_joined(word.text for word in words[1:]))
    alone = folders.sure and len(folders.all) <= 2 and not command.hidden
    if words[0].text != "git" or not match or not all(word.fixed for word in words) or not alone:
        return ""
    name = match[2] or basename(match[1].rstrip("/")).removesuffix(".git")
    return normal(name if name.startswith("/") else f"{folders.all[0]}/{name}") if name else ""


def _carries(command: SimpleCommand, makers: Iterable[_Maker], ground: _Ground) -> Makes:
    """Return what a `mv` or `cp` makes of names, by what it is given."""
    before = [maker.makes for maker in makers if _may_follow(command, maker.command)]
    words = _words(command)[1:]
    sources = [word for word in words if not (word.fixed and word.text[:1] == "-")]
    if not any(word.text.startswith(("-t", "--t")) for word in words):
        sources = sources[:-1]
    if not all(_has_no_link(word, ground) for word in sources):
        return Makes.LINKS
    return max(before, default=Makes.NOTHING)


def _has_no_link(word: ShellWord, ground: _Ground) -> bool:
    """Whether what the word names is no link now, and holds none."""
    names = _places(word, ground)
    return bool(names) and all(
        (below := ground.context.below(name, NO_NAME)).whole and not below.links for name in names
    )


@frozen
class _Uses:
    """What opens names: a command, or a redirect.

    `opener`: it is known to open what it is given. `opens`: that, or it runs what it is given.
    `leaves`: it works on a name in its own folder,
    and not on what that leads to. `idle`: without a name it opens nothing. `command`: nothing for a
    redirect.
    """

    span: Span
    source: str
    names: tuple[ShellWord, ...]
    program: str = ""
    opener: bool = True
    opens: bool = True
    writes: bool = False
    leaves: bool = False
    idle: bool = True
    hidden: bool = False
    command: SimpleCommand | None = None


def _uses(commands: Iterable[SimpleCommand], redirects: Iterable[Redirect]) -> Iterator[_Uses]:
    for redirect in redirects:
        writes = redirect.flow is not Flow.READ
        yield _Uses(
            redirect.span,
            redirect.source,
            (redirect.target,),
            writes=writes,
            hidden=redirect.hidden,
        )
    for command in commands:
        words = _words(command)
        name, texts = basename(words[0].text), tuple(word.text for word in words)
        idle = _opens_nothing(name, texts)
        if idle or name in programs.PRINTERS:
            continue
        opened = tuple(_opened(name, words))
        if is_brought_words(command):
            opened = (*opened, ShellWord("what it is brought", ("",), fixed=False))
        opens_names = name in programs.OPENERS | _OPENS | {"git"} or _brings_to_opener(name, words)
        yield _Uses(
            command.span,
            command.source or name,
            opened,
            name,
            opener=opens_names and name not in _RUNNING,
            opens=opens_names or name in _TRIES,
            writes=programs.writes(name, texts),
            leaves=name in _LEAVES,
            idle=False,
            hidden=command.hidden,
            command=command,
        )


def _brings_to_opener(name: str, words: Sequence[ShellWord]) -> bool:
    """Whether `xargs`, with options, hands names to an opener, or reads names from a file."""
    return name in programs.BRING_WORDS and any(
        word.text.startswith(("-a", "--a", "::")) or basename(word.text) in programs.OPENERS
        for word in words[1:]
    )


def _opens_nothing(name: str, texts: Sequence[str]) -> bool:
    if name == "find":
        acts = programs.listed("running", "find_acts")
        return not any(text in acts for text in texts)
    return name in _IDLE or name in programs.NAMES_ONLY or name in programs.MOVES


_BARE_OPTION = re.compile(r"-{1,2}|-[A-Za-z]?\d*|--[\w-]+|--[\w-]+=\d*|\d+")
_BUNDLE = re.compile(r"-[A-Za-z0-9]+")
_MAY_ATTACH = frozenset("foOkKTtSdDCEXiI")
_ADDRESS = re.compile(r"https?://.*")
_SELECTS = re.compile(
    r"--(?:include|exclude|exclude-dir|colou?r|glob|iglob|type|format|delimiter)=.*"
)


def _opened(name: str, words: Sequence[ShellWord]) -> Iterator[ShellWord]:
    """Yield the words that may name files that the program opens."""
    texts = [word.text for word in words[1:]]
    if name == "git":
        yield from _opened_by_git(words)
        return
    if name in programs.OPENERS:
        for word in mentioned_files.files_given(name, words[1:]):
            if not (word.fixed and _names_no_file(name, word.text)):
                yield word
        return
    targets = _TARGETS.get(name)
    fixed = all(word.fixed for word in words)
    if fixed and targets is not None and targets.fullmatch(_joined(texts)):
        return
    yield from (word for word in words[1:] if not (word.fixed and _names_no_file(name, word.text)))


def _names_no_file(name: str, text: str) -> bool:
    """Whether a word of a program is an option without a name, or an address on the net."""
    if _BARE_OPTION.fullmatch(text) or _SELECTS.fullmatch(text):
        return True
    if name in _OPENS_ADDRESSES and _ADDRESS.fullmatch(text):
        return True
    if not _BUNDLE.fullmatch(text):
        return False
    letters = _ATTACHED.get(name)
    return not set(text[1:-1]) & (set(letters.pattern) if letters else _MAY_ATTACH)


_GIT_OPENS = re.compile(
    r"-[A-Za-z]*F.*|-[A-Za-z]*O.+|--(?:f|t|o|no-i|cont|path|excl|gi|w|bare|ref|sep).*|-C.*"
)
# These begin as one of those does, and bring no file.
_GIT_OPENS_NOT = programs.listed("made", "git_harmless")
_GIT_LEAVES_FILES = programs.listed("made", "git_tree")
_GIT_SHORT = {"grep": "-f", "commit": "-t"}


def _opened_by_git(words: Sequence[ShellWord]) -> Iterator[ShellWord]:
    """Yield the words by which git may open a file or a folder where a link leads.

    In its own tree git follows no link, so for most that it does a name is only a name.
    """
    rest = words[1:]
    kind = rest[0].text if rest else ""
    if kind in _GIT_LEAVES_FILES and not any(_brings_git_a_file(kind, word) for word in rest[1:]):
        return
    yield from (word for word in rest[1:] if not (word.fixed and _BARE_OPTION.fullmatch(word.text)))


def _brings_git_a_file(kind: str, word: ShellWord) -> bool:
    if not word.fixed:
        return _may_be_option(word)
    if kind in _GIT_SHORT and word.text.startswith(_GIT_SHORT[kind]):
        return True
    return bool(_GIT_OPENS.fullmatch(word.text)) and word.text not in _GIT_OPENS_NOT


def _may_come_before(use: _Uses, maker: _Maker) -> bool:
    """Whether a command may make names before, or while, they are used.

    What runs code of its own needs no second turn to open what it made.
    """
    if use.command is None:
        return use.span.ends >= maker.command.span.begins
    if use.command is maker.command and maker.makes is Makes.ANYTHING:
        return False
    return _may_follow(use.command, maker.command)


def _may_follow(command: SimpleCommand, maker: SimpleCommand) -> bool:
    """Whether a command may run behind or beside another command, or again behind itself."""
    if command is maker:
        return command.span.again
    if command.span.at == maker.span.at >= 0 and not command.span.again:
        return command.hidden and maker.hidden and not _is_inside(command, maker)
    return command.span.ends >= maker.span.begins


def _is_inside(first: SimpleCommand, other: SimpleCommand) -> bool:
    """Whether one of the commands is the rest of the other's words: the same, read twice."""
    # From their ends, where most differ: a line has up to a million pairs of commands.
    pairs = zip(reversed(first.words), reversed(other.words), strict=False)
    return all(word.text == another.text for word, another in pairs)


@frozen
class _Going:
    """A command that goes to another folder; `places`: where that is for sure, none if unsure."""

    command: SimpleCommand
    places: tuple[str, ...]


def _goings(commands: Iterable[SimpleCommand], ground: _Ground) -> list[_Going]:
    """Return the commands by which the line goes to a folder that may have been made."""
    goings = []
    for command in commands:
        words = _words(command)
        if words[0].text not in programs.MOVES or len(words) == 1 or words[-1].text in ("-", "~"):
            continue
        goings.append(_Going(command, _places(words[-1], ground) if words[-1].fixed else ()))
    return goings


def _moves_by(maker: _Maker, goings: Iterable[_Going]) -> bool:
    """Whether the line may go to another folder by a name that the command made."""
    return any(
        not going.places
        or not maker.below
        or any(is_within(place, maker.below) and place != maker.below for place in going.places)
        for going in goings
        if _may_follow(going.command, maker.command)
    )


def _places(word: ShellWord, ground: _Ground) -> tuple[str, ...]:
    """Return where a name is for sure, and without a link on the way to it."""
    if not word.fixed or word.is_afar or not ground.folders.sure:
        return ()
    places = places_in(
        expand_home(word.text, ground.context.home), ground.folders.all, ground.context
    )
    return (
        tuple(place.named for place in places)
        if all(place.named == place.real for place in places)
        else ()
    )


def _is_certain(
    word: ShellWord,
    use: _Uses,
    makers: Iterable[_Maker],
    ground: _Ground,
    *,
    settled: bool,
) -> bool:
    """Whether the name cannot be a link that one of the commands made.

    `settled`: the line goes to no folder that was made.
    """
    text = word.text
    if (word.fixed and text in STREAMS) or word.raw[:2] in ("<(", ">("):
        return True
    if settled and word.fixed and text in (".", "./") and use.program not in _FOLLOWS:
        texts = tuple(word.text for word in use.command.words) if use.command else ()
        return not programs.follows_links(use.program, texts)
    if settled and use.leaves and "/" not in word.raw and not set(word.raw) & set("$`~{"):
        return text != ".."
    places = _places(word, ground)
    return bool(places) and all(
        maker.below
        and not any(is_within(place, maker.below) and place != maker.below for place in places)
        for maker in makers
    )
