"""Files that a command names, by its words or by the output of another command.

Files named in words are suspected, never sure. A program may open, change or go to a file outside
the project. It needs a rule on that file too, or a rule with the whole command and no star
(docs/reference/rules.md).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise, takewhile
from posixpath import basename

from crabhook.datatypes import frozen
from crabhook.policy.calls.parts import CommandPart, Deep, FilePart, Use
from crabhook.policy.context import Context, all_alternatives
from crabhook.policy.paths import LONGEST_PATH, NamedFile, expand_home, is_within, place, places_in
from crabhook.policy.shell import programs
from crabhook.policy.shell.script import ShellWord, SimpleCommand
from crabhook.policy.shell.unfold import is_echo, spellings
from crabhook.policy.shell.wrappers import is_brought_words, unwrapped

MAX_NAMES = 400  # of one call; from a longer line as many as this

_CUT = re.compile(r"[\s'\"(),;=@<>|&:\[\]{}]+")
_SHORT_OPTION = re.compile(r"-[A-Za-z]+(?=[~./])")
_BUNDLED = re.compile(r"-[A-Za-z]{1,2}(?=[\w-]{4})")  # `-oMakefile`, `-uoMakefile`
_IN_SED = re.compile(r"(?=[rRwW][ \t]*([^\s;}]+))")  # a file of its `r` and `w`: `s/a/b/w.env`
_WILD = re.compile(r"[*?\[]")
_BRINGS_GLOB, _TAKES_NOTHING = map(programs.patterns, ("brings_glob", "takes_nothing"))


def named_files(
    commands: Iterable[SimpleCommand], folders: Sequence[str], context: Context
) -> list[FilePart]:
    """Return every file that the words of the commands may mean, from each of the folders."""
    parts: dict[tuple[str, str, Use, bool, Deep | None], FilePart] = {}
    for command in commands:
        for argv in spellings(command):
            program, words = basename(argv[0]), tuple(argv)
            use = Use.READ if programs.only_reads(program, words) else Use.NAMED
            writes = programs.writes(program, words)
            what, into, here = _deep(program, words)
            into_here = (".",) if program in programs.UNPACKERS else ()
            for name in (*here, *into_here, *_names(argv)):
                # The program itself is run, and not changed.
                changes = writes and name is not argv[0]
                if len(parts) >= MAX_NAMES:
                    return list(parts.values())
                deep = what if name in into else None
                key = (program, name, use, changes, deep)
                if key not in parts:
                    places, wild = _places(name, folders, context), bool(_WILD.search(name))
                    parts[key] = FilePart(
                        name, use, places, glob=wild, program=program, deep=deep, writes=changes
                    )
    return [*parts.values(), *_by_variables(commands, folders, context)]


def _by_variables(
    commands: Iterable[SimpleCommand], folders: Sequence[str], context: Context
) -> Iterator[FilePart]:
    """Yield every file that a word can name by all that the line sets its variables to."""
    for command in commands:
        if not any(word.names for word in command.words):
            continue
        words = unwrapped(command)[-1]
        program, texts = basename(words[0].text), tuple(word.text for word in words)
        writes = programs.writes(program, texts)
        use = Use.READ if programs.only_reads(program, texts) else Use.NAMED
        seen = {text for word in words for text in (*word.values, *word.parts)}
        for name in dict.fromkeys(name for word in words[1:] for name in word.names if name):
            if name not in seen:
                places, wild = _places(name, folders, context), bool(_WILD.search(name))
                yield FilePart(name, use, places, glob=wild, program=program, writes=writes)


def _deep(
    program: str, argv: tuple[str, ...]
) -> tuple[Deep | None, frozenset[str], tuple[str, ...]]:
    """Return the command's use of folders, its words that may be folders, and its current one.

    The last is the folder that it may search without a word.
    """
    if not programs.reads_deep(program, argv):
        return None, frozenset(), ()
    values = [word for word in argv if word[:1] == "-"]
    options = [piece for word in values for piece in (word[2:], *_CUT.split(word)[1:]) if piece]
    follows = programs.follows_links(program, argv)
    if wanted := searched(program, argv):
        paths, globs = wanted
        here = () if paths else (".",)
        return Deep(globs, follows), frozenset((*paths, *here)), here
    named = program == "find" and argv[1:2] and argv[1][:1] not in ("-", "(", "!")
    here = (".",) if program in programs.SEARCH_HERE and not named else ()
    words = [word for word in argv[1:] if word[:1] != "-" or "--" in argv]
    return (
        Deep(_of_find(argv) if program == "find" else (), follows),
        frozenset((*words, *options, *here)),
        here,
    )


_WIDENS = frozenset({"-o", "-or", ",", "(", ")"})


def _of_find(argv: tuple[str, ...]) -> tuple[str, ...]:
    """Return globs for all files that a `find` acts on; none if they may be any."""
    tests = list(takewhile(lambda word: word != "-exec", argv))
    if _WIDENS.intersection(argv) or argv.count("-exec") != 1:
        return ()
    names = [
        name
        for before, option, name in zip(tests, tests[1:], tests[2:], strict=False)
        if option in ("-name", "-iname") and before not in ("-not", "!")
    ]
    return all_alternatives(names[:1])


def searched(program: str, argv: tuple[str, ...]) -> tuple[list[str], tuple[str, ...]] | None:
    """Return the paths and globs that bound a search, or None if unsure.

    An unknown option may take the next word, or add a glob.
    """
    option = _BRINGS_GLOB.get(program)
    if option is None:
        return None
    globs, operands = [], []
    words = iter(argv[1:])
    for word in words:
        if match := option.fullmatch(word):
            globs.append(match[1] or next(words, ""))
        elif not word.startswith("-") or word == "-":
            operands.append(word)
        elif not _TAKES_NOTHING[program].fullmatch(word):
            return None
    return operands[1:], all_alternatives(globs)


def _names(argv: Sequence[str]) -> Iterator[str]:
    """Yield possible paths: whole words first, then parts of words."""
    yield from argv[1:]
    if "/" in argv[0]:
        yield argv[0]
    for word in argv[1:]:
        for glued in (_SHORT_OPTION.match(word), _BUNDLED.match(word)):
            if glued:
                yield from (word[at:] for at in {2, glued.end()})
        yield from (piece for piece in _CUT.split(word) if piece and piece != word)
        if argv[0].endswith("sed"):
            yield from _IN_SED.findall(word)


def _places(name: str, folders: Sequence[str], context: Context) -> tuple[NamedFile, ...]:
    path = expand_home(name, context.home)
    if len(path) > LONGEST_PATH:
        return ()
    prose = " " in path or "\n" in path  # no link has such a name
    return places_in(path or ".", folders, replace(context, real=str) if prose else context)


# With one of these, a pattern or a program is given that way, and each word is a file.
_SCRIPT_GIVEN = ("--e", "--r", "--f")
STREAMS = frozenset({"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"})
_HOME = ShellWord("~", ("~",), tilde=True)


@frozen
class Folders:
    """The possible folders of a line when it names a file; `sure`: there are no others."""

    all: tuple[str, ...]
    sure: bool


def files_elsewhere(part: CommandPart, folders: Folders, context: Context) -> Iterator[FilePart]:
    """Yield each file that the command is given and that is not, or may not be, in the project.

    Also any file where `git log` or a command like it writes a file: nobody who allows them expects
    that.
    """
    words = unwrapped(part.command)[-1]
    program = basename(words[0].text)
    texts = tuple(word.text for word in words)
    writes = programs.writes(program, texts)
    use = Use.WRITE if writes else Use.READ
    unmeant = writes and texts[0] == "git" and texts[1] in _GIT_SHOWS
    for word in files_given(program, words[1:]):
        for name in _names_in(word):
            places = _places_of(name, folders, context)
            wild = word.glob and writes
            inside = places and all(is_inside(place, context) for place in places)
            if unmeant or wild or not inside:
                text = f"what {part.text} writes" if unmeant else name or word.raw
                yield FilePart(
                    text, use, places, part.tools, wild, program, part.tools, part, writes=writes
                )


def files_given(program: str, words: Sequence[ShellWord]) -> Iterable[ShellWord]:
    """Return the words that the program takes as files, or as options with files."""
    if program in programs.MOVES:
        named = [word for word in words if not (word.fixed and word.text.startswith("-"))]
        goes_home = program == "cd" and not named and all(word.text != "-" for word in words)
        return [_HOME] if goes_home else named
    if program == "git":
        return _files_of_git(words)
    if program not in programs.OPENERS:
        return ()
    if program in programs.FLAGS_ALONE:
        ends = next((place for place, word in enumerate(words) if word.text == "--"), len(words))
        flags = {
            at
            for at, word in enumerate(words[:ends])
            if word.fixed and re.fullmatch("-[A-Za-z]+", word.text)
        }
        return [word for at, word in enumerate(words) if at not in flags]
    if program not in programs.SCRIPT_FIRST:
        return words
    scripts = {id(word) for before, word in pairwise(words) if before.text == "-e"}
    if not any(map(_gives_script, words)):
        first = next((word for word in words if word.text[:1] != "-"), None)
        if first is not None and first.fixed:  # an unquoted word may become an option, or several
            scripts.add(id(first))
    return [word for word in words if id(word) not in scripts]


_GIT_SHOWS = frozenset({"log", "diff", "show", "difftool"})  # with `--output`, into any file
_GIT_TEXT = re.compile(
    r"-[a-z]*m|-[GLS]|--(?:message|grep|author|format|pretty|since|until)(?:=|$)"
)


def _files_of_git(words: Sequence[ShellWord]) -> Iterator[ShellWord]:
    """Yield the words of git that may be files elsewhere, or options that name some.

    Beside its own files git opens few, so an unknown word counts only where it may be an option.
    """
    kind = words[0].text if words else ""
    anywhere = any(word.text.startswith("--no-i") for word in words)
    texts = {id(after) for option, after in pairwise(words) if _GIT_TEXT.fullmatch(option.text)}
    for word in files_given("grep", words[1:]) if kind == "grep" else words[1:]:
        if anywhere or (word.fixed and not _GIT_TEXT.match(word.text) and id(word) not in texts):
            yield word
        elif kind in _GIT_SHOWS and word.begins_open:
            yield replace(word, glob=False, parts=())


def _gives_script(word: ShellWord) -> bool:
    """Whether an option gives the pattern or program, so that no operand does."""
    short = word.text[:1] == "-" and word.text[:2] != "--" and set(word.text) & {"e", "f"}
    return bool(short) or word.text.startswith(_SCRIPT_GIVEN)


def _names_in(word: ShellWord) -> Iterator[str]:
    """Yield names of files that may be in a word; an empty name where that is unknown."""
    if word.raw.startswith(("<(", ">(")) and word.raw.endswith(")"):
        return  # a pipe from or to a command, which is read as another part
    if not word.fixed and (set(word.raw) & set("$`") or not (word.glob or word.parts)):
        yield ""
        return
    for text in word.parts or (word.text,):
        before, _, value = text.partition("=")
        texts = [value if text.startswith("--") else text[2:] if text.startswith("-") else text]
        if glued := _SHORT_OPTION.match(text):
            texts.append(text[glued.end() :])
        if before.isalnum():  # dd of=…, curl -F file=@…
            texts.insert(0, value)
        # Without what curl and its like put before a name.
        yield from (text.removeprefix("@").removeprefix("file://") for text in texts if text)


def _places_of(name: str, folders: Folders, context: Context) -> tuple[NamedFile, ...]:
    path = expand_home(name, context.home)
    is_settled = path.startswith("/") or (folders.sure and not path.startswith("~"))
    return places_in(path, folders.all, context) if is_settled else ()


def is_inside(where: NamedFile, context: Context) -> bool:
    """Whether a file is in the project, by its name and by its links' target."""
    if where.named in STREAMS:
        return True
    if not context.project:
        return False
    roots = {context.project, context.real(context.project)}
    return all(any(is_within(name, root) for root in roots) for name in where.both)


def told_files(
    commands: Sequence[SimpleCommand], texts: Iterable[str], folders: Folders, context: Context
) -> Iterator[FilePart]:
    """Yield what is read by each command that reads files named by other commands' output.

    Any file of its folder may be, unless a `find -name` or `git ls-files` with patterns gives all
    the names; and any file that the line itself names in one of the `texts`, or an `echo`.
    """
    globs = _brought(commands)
    # Which names a wildcard means is not known: hidden ones too, or in another folder.
    open_globs = not folders.sure or any(
        word.text == "dotglob" for command in commands for word in command.words
    )
    printed = [
        word.text
        for command in commands
        if command.fed and is_echo(command)
        for word in command.words
    ]
    names = dict.fromkeys(
        piece for text in (*texts, *printed) for piece in _CUT.split(text) if piece
    )
    for command in commands:
        program = _reads_told(command, open_globs=open_globs)
        if program:
            places = tuple(place(folder, "/", context) for folder in folders.all)
            text = command.source or program
            writes, deep = program in programs.WRITERS, Deep(globs, split=True)
            yield FilePart(text, Use.READ, places, program=program, deep=deep, writes=writes)
            for name in islice(names, MAX_NAMES):
                where = _places(name, folders.all, context)
                yield FilePart(name, Use.NAMED, where, program=program, writes=writes)


def _reads_told(command: SimpleCommand, *, open_globs: bool) -> str:
    """Return a program that reads files named by other commands' output, if there is one.

    `open_globs`: some wildcards may match names unknown here.
    """
    readings = unwrapped(command)
    words = readings[-1]
    program = basename(words[0].text)
    if is_brought_words(command):
        readers = (basename(word.text) for word in words)
        return next((reader for reader in readers if reader in programs.CONTENT_READERS), "")
    if programs.reads_names(program, tuple(word.text for word in words)):
        return program
    if program not in programs.CONTENT_READERS:
        return ""
    is_told = any(
        word.computed or (open_globs and not word.fixed) or (word.glob and word.is_afar)
        for word in files_given(program, words[1:])
        if word.raw[:2] not in ("<(", ">(")
    )
    return program if is_told else ""


def _brought(commands: Sequence[SimpleCommand]) -> tuple[str, ...]:
    """Return globs for all names that commands hand to each other; none if unknown."""
    every_glob: list[str] = []
    for command in commands:
        if not command.fed or command.hidden:
            continue
        texts = [word.text for word in unwrapped(command)[-1]]
        globs = programs.globs_told(texts)
        if not all(word.fixed for word in command.words):
            return ()
        if not (globs or programs.only_drops(texts)):
            return ()
        every_glob += globs
    return all_alternatives(every_glob)
