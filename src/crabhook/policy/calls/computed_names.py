"""Names of files that a line computes: what is opened by one may be any file that a rule denies.

`cat ~/srv/$(base64 -d <<< eA==)` names no file that a denial could match, and opens one. So where a
program that opens files is given such a name, a denial of any file and a secret entry hold against
it. A name whose texts the line tells is looked at as if it were written. So are names from a
program that lists a folder: there the folder is looked into.
"""

from collections.abc import Callable, Iterator, Sequence
from posixpath import basename, dirname

from crabhook.policy.calls import mentioned_files
from crabhook.policy.calls.mentioned_files import Folders
from crabhook.policy.calls.parts import Deep, FilePart, Use
from crabhook.policy.context import Context
from crabhook.policy.paths import NamedFile, expand_home, is_within, places_in
from crabhook.policy.shell import programs
from crabhook.policy.shell.hidden import RUNNERS
from crabhook.policy.shell.script import Flow, Redirect, Script, ShellWord, SimpleCommand
from crabhook.policy.shell.wrappers import is_brought_words, unwrapped

_OPENERS = programs.OPENERS - programs.NAMES_ONLY - programs.MOVES
_OPEN = programs.listed("made", "opens")
_GIT_TELLS = programs.listed("files", "git_tells")


def computed_names(
    script: Script,
    commands: Sequence[SimpleCommand],
    redirects: Sequence[Redirect],
    folders: Folders,
    context: Context,
) -> Iterator[FilePart]:
    """Yield a part for each command that opens a name which only the running line knows.

    `script`: the line as it was read; `commands` and `redirects`: with all that hides in it.
    """
    listed = _only_lists(script, commands, redirects)
    far = tuple(_listed_elsewhere(commands, context)) if listed else ()
    movers = [command for command in commands if _goes_anywhere(command)]
    for command in commands:
        lost = any(command.span.ends >= mover.span.begins for mover in movers)
        for words in unwrapped(command)[-1:]:
            yield from _of_git(command, words, folders, context, lost=lost)
            program = _opener(words)
            texts = (program, *(word.text for word in words[1:]))
            writes = programs.writes(program, texts)
            text, use = command.source or program, Use.WRITE if writes else Use.READ
            if program and _is_computed(command, words, context, listed=listed, lost=lost):
                yield FilePart(text, use, (), program=program, writes=writes, computed=True)
            elif (
                program
                and far
                and (any(word.computed for word in words) or is_brought_words(command))
            ):
                deep = Deep((), split=True)
                yield FilePart(text, use, far, program=program, writes=writes, deep=deep)


def _goes_anywhere(command: SimpleCommand) -> bool:
    """Whether it goes to a folder that only the running line knows."""
    return any(
        words[0].text in programs.MOVES and any(word.computed for word in words[1:])
        for words in unwrapped(command)
    )


def _opener(words: Sequence[ShellWord]) -> str:
    """Return the program that opens files: the command itself, or what it runs."""
    name = basename(words[0].text)
    if name in _OPENERS | _OPEN or (name == "git" and any(map(_is_file_of_git(words), words))):
        return name
    if name in RUNNERS or not words[0].fixed:
        return next(
            (program for word in words[1:] if (program := basename(word.text)) in _OPENERS), ""
        )
    return ""


def _is_file_of_git(words: Sequence[ShellWord]) -> Callable[[ShellWord], bool]:
    """Return how to tell a computed word by which git shows a file, and not a commit."""
    texts = [word.text for word in words]
    any_word = not {"grep", "blame", "--no-index"}.isdisjoint(texts[1:])
    dashes = texts.index("--") if "--" in texts else len(texts)
    files = {id(word) for word in words[dashes:]}
    return lambda word: word.computed and (any_word or ":" in word.raw or id(word) in files)


def _is_computed(
    command: SimpleCommand,
    words: Sequence[ShellWord],
    context: Context,
    *,
    listed: bool,
    lost: bool,
) -> bool:
    """Whether a name that the command opens may be any file."""
    name, rest = basename(words[0].text), words[1:]
    names = rest
    if name in programs.OPENERS:
        names = tuple(mentioned_files.files_given(name, rest))
    if any(_may_be_any(word, context, listed=listed) for word in names):
        return True
    texts = tuple(word.text for word in words)
    if not listed and (is_brought_words(command) or programs.reads_names(name, texts)):
        return True
    return lost and (programs.reads_deep(name, texts) or any(map(_is_relative, names)))


def _may_be_any(word: ShellWord, context: Context, *, listed: bool) -> bool:
    """Whether a word may be any file: not where a folder's names stand below the project alone."""
    if not word.computed:
        return False
    if word.free or not listed:
        return True
    before = word.raw.lstrip('"')
    if before[:1] in ("$", "`"):
        return False
    path = expand_home(before.partition("$")[0].partition("`")[0], context.home)
    if ".." in path.split("/") or path[:1] == "~":
        return True
    return path.startswith("/") and not is_within(path, context.project or "/dev/null")


def _is_relative(word: ShellWord) -> bool:
    return word.text[:1] not in ("/", "~", "-", "") or not word.fixed


def _only_lists(
    script: Script, commands: Sequence[SimpleCommand], redirects: Sequence[Redirect]
) -> bool:
    """Whether all that commands of the line print for others is names of files in folders."""
    if script.inputs or any(redirect.flow is not Flow.WRITE for redirect in redirects):
        return False
    fed = [unwrapped(command)[-1] for command in commands if command.fed]
    return bool(fed) and all(map(_lists, fed))


def _listed_elsewhere(commands: Sequence[SimpleCommand], context: Context) -> Iterator[NamedFile]:
    """Yield the folders outside the project whose names the commands list for others."""
    for command in commands:
        for word in unwrapped(command)[-1][1:] if command.fed else ():
            path = expand_home(word.text, context.home)
            if path.startswith("/"):
                yield from places_in(path, ("/",), context)


def _lists(words: Sequence[ShellWord]) -> bool:
    texts = [word.text for word in words]
    up = any(".." in text.split("/") for text in texts)
    listing = programs.lists_names(texts) or programs.only_drops(texts)
    return listing and not up and all(word.fixed or _is_wild(word) for word in words)


def _is_wild(word: ShellWord) -> bool:
    """Whether the shell makes names below the folder of the word's wildcards alone."""
    return word.glob and not word.computed and word.raw[:1] not in ("/", "~", "-")


_GIT_FOLDERS = ("-C", "--git-dir", "--work-tree", "--separate-git-dir")


def _of_git(
    command: SimpleCommand,
    words: Sequence[ShellWord],
    folders: Folders,
    context: Context,
    *,
    lost: bool,
) -> Iterator[FilePart]:
    """Yield the other folders whose history, or files, git may show: by `-C`, or behind a `cd`."""
    if basename(words[0].text) != "git":
        return
    named, rest = _git_folders(words)
    if rest and rest[0].text in _GIT_TELLS and rest[0].fixed:
        return
    source, where = command.source or "git", list(folders.all[1:])
    for option, word in named:
        for text in word.names or word.values:
            path = expand_home(text.removeprefix(f"{option}="), context.home)
            for folder in folders.all:
                full = path if path.startswith("/") else f"{folder}/{path}"
                where.append(dirname(full.rstrip("/")) if option == "--git-dir" else full)
    if lost or any(word.computed for _, word in named):
        yield FilePart(source, Use.READ, (), program="git", computed=True)
    places = tuple(
        place for folder in dict.fromkeys(where) for place in places_in(folder, ("/",), context)
    )
    if places:
        yield FilePart(source, Use.READ, places, program="git", repository=True)


def _git_folders(
    words: Sequence[ShellWord],
) -> tuple[list[tuple[str, ShellWord]], Sequence[ShellWord]]:
    """Return git's options with folders, each with its folder, and the words behind all options."""
    at, named = 1, []
    while at < len(words) and words[at].text[:1] == "-":
        option, _, value = words[at].text.partition("=")
        if option in _GIT_FOLDERS and value:
            named.append((option, words[at]))
        elif option in (*_GIT_FOLDERS, "-c", "--namespace", "--exec-path"):
            at += 1
            if option in _GIT_FOLDERS and at < len(words):
                named.append((option, words[at]))
        at += 1
    return named, words[at:]
