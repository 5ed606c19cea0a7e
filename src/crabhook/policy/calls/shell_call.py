"""A call as rules see it; a shell line as one, with the files that its commands name.

Codex takes patches out of shell lines, so they are read here. A header counts anywhere: a file too
many only costs a question.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from posixpath import basename, dirname

from crabhook.datatypes import frozen
from crabhook.policy.calls import mentioned_files
from crabhook.policy.calls.computed_names import computed_names
from crabhook.policy.calls.made_names import made_names
from crabhook.policy.calls.mentioned_files import STREAMS, Folders, is_inside
from crabhook.policy.calls.parts import CallKind, CommandPart, FilePart, Part, ToolPart, Use
from crabhook.policy.context import Context
from crabhook.policy.paths import (
    LONGEST_PATH,
    NamedFile,
    expand_home,
    is_within,
    normal,
    place,
    places_in,
)
from crabhook.policy.shell import programs
from crabhook.policy.shell.interpreters import IsStream
from crabhook.policy.shell.mentions import Mentions, mentions
from crabhook.policy.shell.read import read_script
from crabhook.policy.shell.script import Flow, Redirect, ShellWord, SimpleCommand
from crabhook.policy.shell.unfold import lines, readings, unfold
from crabhook.policy.shell.wrappers import is_brought_words, unwrapped

_MAX_FOLDERS = 8
_APPLY_PATCH = frozenset({"apply_patch", "applypatch"})
NO_MENTIONS = Mentions()


@frozen
class Call:
    """A tool call as rules see it.

    `required`: what an allow must cover. `suspected`: counts against the call only. `troubles`: why
    no rule may allow it. `mentions`: names that may be programs', unseen. `computed`: what opens
    files whose names only the running line knows.
    """

    tool: str
    kind: CallKind
    required: tuple[Part, ...]
    suspected: tuple[Part, ...]
    troubles: tuple[str, ...] = ()
    mentions: Mentions = NO_MENTIONS
    computed: tuple[FilePart, ...] = ()

    @property
    def parts(self) -> tuple[Part, ...]:
        """All parts, the sure parts first."""
        return (*self.required, *self.suspected)


def shell_call(text: str, cwd: str, tools: frozenset[str], tool: Part, context: Context) -> Call:
    """Return what the shell line `text` comes to in the folder `cwd`."""
    cwd = normal(cwd)
    preset = known_variables(cwd, context)
    script = read_script(text, preset)
    deep = unfold(text, script, preset)
    commands = [command for command in deep.commands if command.words]
    folders = folders_of(cwd, commands, context)
    stays = folders.sure and len(folders.all) == 1 and _is_root(cwd, context)
    required: list[Part] = []
    suspected: list[Part] = [tool]
    troubles = dict.fromkeys(deep.troubles)
    feeds_text = bool(script.inputs) or any(
        redirect.flow is not Flow.WRITE for redirect in script.redirects
    )
    for command in commands:
        texts = () if command.hidden else readings(command)
        named = CommandPart(command.source, command, texts, frozenset(lines(command)), tools)
        if command.hidden:
            suspected.append(named)
            continue
        required += (named, *mentioned_files.files_elsewhere(named, folders, context))
        required += _brought_files(named, commands, feeds_text=feeds_text)
        # A folder's settings may name programs, and an agent could make a folder below its
        # project's root that looks like git's: there only the tool as a whole covers git.
        if not stays and basename(unwrapped(command)[-1][0].text) in programs.VERSION_CONTROL:
            required.append(ToolPart(f"{named.text}, in another folder", tools))
    for redirect in deep.redirects:
        for part in _redirect_parts(redirect, folders, context, tools):
            # A script inside the line, or one that a shell is given, writes as the line does.
            required.append(part)
            if trouble := _redirect_trouble(part, redirect, folders):
                troubles[trouble] = None
    made = made_names(commands, deep.redirects, folders, tools, context)
    required += made.parts
    troubles |= dict.fromkeys(made.troubles)
    if any(map(_applies_patch, commands)):
        troubles["a patch in a command, which Codex carries out itself"] = None
        suspected += _patched_files(text, folders, context)
    if trouble := removal_trouble(commands, folders.all, context):
        troubles[trouble] = None
    if not required and not troubles:
        required.append(tool)
    suspected += mentioned_files.named_files(commands, folders.all, context)
    suspected += mentioned_files.told_files(commands, script.inputs, folders, context)
    computed = tuple(computed_names(deep, commands, deep.redirects, folders, context))
    suspected += (part for part in computed if part.deep)
    parts = tuple(required), tuple(suspected)
    mentioned = mentions(text, script, deep, _is_stream_in(folders, context))
    return Call("Bash", CallKind.COMMAND, *parts, tuple(troubles), mentioned, computed)


_STREAMS = ("/dev", "/proc")
_NO_STREAM = re.compile(r"(?:.*/)?[\w-][\w.-]*\.[A-Za-z]\w*")


def _is_stream_in(folders: Folders, context: Context) -> IsStream:
    """Return how to tell a plain file from a stream, in any folder that the line may be in."""

    def is_stream(name: str) -> bool:
        if len(name) > LONGEST_PATH:
            return True
        if not folders.sure and not name.startswith("/") and not _NO_STREAM.fullmatch(name):
            return True
        places = places_in(expand_home(name, context.home), folders.all, context)
        return any(
            is_within(name, top) for where in places for name in where.both for top in _STREAMS
        )

    return is_stream


def _applies_patch(command: SimpleCommand) -> bool:
    """Whether it is a name under which Codex takes a patch out of a shell line."""
    return any(basename(words[0].text) in _APPLY_PATCH for words in unwrapped(command))


def _patched_files(text: str, folders: Folders, context: Context) -> Iterable[FilePart]:
    for path in read_patch(text).paths:
        places = places_in(path, folders.all, context)
        yield FilePart(path, Use.WRITE, places, frozenset({"Edit", "Write"}))


def known_variables(cwd: str, context: Context) -> Mapping[str, Sequence[str]]:
    """Return the variables whose values can be told before the line runs."""
    return {
        "HOME": (context.home,),
        "PWD": (cwd,),
        "OLDPWD": (cwd,),
        "CLAUDE_PROJECT_DIR": (context.project,),
    }


def _brought_files(
    part: CommandPart, commands: Iterable[SimpleCommand], *, feeds_text: bool
) -> Iterator[FilePart]:
    """Yield what only the tool as a whole covers: files whose names are brought to the command.

    Not so where the names can only be of files below the folder. Then only programs that list such
    names print for other commands, and the line `feeds_text` to none.
    """
    readings = unwrapped(part.command)
    program = basename(readings[-1][0].text)
    texts = tuple(word.text for word in readings[-1])
    brought = is_brought_words(part.command)
    if not (brought and program in programs.OPENERS) and not programs.reads_names(program, texts):
        return
    fed = [unwrapped(command)[-1] for command in commands if command.fed and not command.hidden]
    listed = all(
        all(word.fixed for word in words) and programs.lists_names([word.text for word in words])
        for words in fed
    )
    if feeds_text or not fed or not listed:
        text = f"the files whose names are brought to {part.text}"
        yield FilePart(text, Use.READ, (), part.tools, program=program, own=part.tools, by=part)


def _is_root(cwd: str, context: Context) -> bool:
    if len(cwd) > LONGEST_PATH or not context.project:
        return False
    if cwd == context.project:
        return True
    here, root = place(cwd, "/", context), place(context.project, "/", context)
    return here.named == root.named or here.real == root.real


def folders_of(cwd: str, commands: Iterable[SimpleCommand], context: Context) -> Folders:
    """Return every folder that a `cd` may have gone to; each may also have failed."""
    folders, sure = [cwd], True
    for command in commands:
        for words in unwrapped(command):
            if words[0].text not in programs.MOVES:
                continue
            where = [word for word in words[1:] if word.text not in ("-L", "-P", "-e", "--", "-q")]
            sure &= words[0].text != "popd" and all(map(_is_sure, where)) and len(where) < 2
            named = (where[0].text, *where[0].names) if where else (context.home,)
            for target in [expand_home(name, context.home) for name in dict.fromkeys(named)]:
                for folder in list(folders):
                    gone = normal(target if target.startswith("/") else f"{folder}/{target}")
                    if gone not in folders:
                        folders.append(gone)
    return Folders(tuple(folders[:_MAX_FOLDERS]), sure and len(folders) <= _MAX_FOLDERS)


def _is_sure(folder: ShellWord) -> bool:
    if folder.raw in {"$HOME", '"$HOME"', "${HOME}", '"${HOME}"'}:
        return True
    return folder.fixed and not folder.is_afar and folder.text[:1] not in ("-", "+", "")


def _redirect_parts(
    redirect: Redirect, folders: Folders, context: Context, covering: frozenset[str]
) -> Iterable[FilePart]:
    """Yield the files of a redirect; `covering`: tools whose bare rules cover the command.

    Such a rule covers files given by name (`cat f`, `tee f`), so in the project it covers the same
    file behind `<` or `>` too.
    """
    target = redirect.target
    paths = _targets_of(redirect, context)
    places = tuple(where for path in paths for where in places_in(path, folders.all, context))
    is_sure = bool(places) and _is_known(redirect, folders)
    if is_sure and all(place.named in STREAMS for place in places):
        return
    free = is_sure and all(is_inside(place, context) or _is_temporary(place) for place in places)
    # `wc -l < "$f"` opens the file that a variable of the user's own names, as `wc -l "$f"` does.
    outside = _is_from_outside(redirect)
    own = covering if free or outside else frozenset()
    glob = target.glob or any(set(path) & set("*?[") for path in target.names)
    for flow, use, tools in _USES:
        if redirect.flow in (flow, Flow.BOTH):
            yield FilePart(
                redirect.source, use, places, frozenset(tools), glob, own=own, made=outside
            )


def _targets_of(redirect: Redirect, context: Context) -> Sequence[str]:
    """Return every name that the file of a redirect can have; an empty name opens nothing."""
    target = redirect.target
    text = expand_home(target.text, context.home) if target.tilde else target.text
    names = [expand_home(name, context.home) for name in _names_of(target)]
    return redirect.settled or names or (text,)


def _names_of(target: ShellWord) -> list[str]:
    """Return all names of a target by its variables; what braces make, shells open apart."""
    return [name for name in target.names if name and not (target.glob or target.parts)]


def _is_from_outside(redirect: Redirect) -> bool:
    """Whether only variables that the line does not set say which file it reads."""
    target = redirect.target
    return redirect.flow is Flow.READ and target.names == ("",)


_TEMPORARY = ("/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp")  # noqa: S108 - read alone


def _is_temporary(where: NamedFile) -> bool:
    """Whether a file is below the folder for temporary files, and so is where its name leads."""
    return all(
        any(is_within(name, top) and name != top for top in _TEMPORARY) for name in where.both
    )


_USES = ((Flow.WRITE, Use.WRITE, ("Edit",)), (Flow.READ, Use.READ, ("Read",)))


def _is_known(redirect: Redirect, folders: Folders) -> bool:
    target = redirect.target
    if redirect.settled:
        return all(text and (folders.sure or text.startswith("/")) for text in redirect.settled)
    if names := _names_of(target):
        return not target.is_afar and all(folders.sure or name[0] in "/~" for name in names)
    if not target.fixed or not target.text or target.is_afar:
        return False
    return folders.sure or target.text.startswith(("/", "~/"))


def _redirect_trouble(part: FilePart, redirect: Redirect, folders: Folders) -> str:
    if any(place.named.startswith(("/dev/tcp", "/dev/udp")) for place in part.places):
        return "a redirect to the net"
    if _is_from_outside(redirect):
        return ""
    if not part.places or not _is_known(redirect, folders):
        return f"where {redirect.source} goes is only known when it runs"
    return ""


_REMOVERS = frozenset({"rm", "rmdir"})
_EVERYTHING = re.compile(r"[*?.\[\]!^{},]*[*?\[][*?.\[\]!^{},]*")  # `*`, `.*`, `{*,.*}`
_BEGINS_UNKNOWN = re.compile(r"[\"']?\$(?!HOME\b|\{HOME\}|PWD\b|\{PWD\})[^/]*/[*.\"'/]*")
"""`"$X"/` and `$X/*`: all of the system where the variable is empty."""


def removal_trouble(
    commands: Iterable[SimpleCommand], folders: Sequence[str], context: Context
) -> str:
    """Return why no rule may allow the line, if one of its commands removes too much."""
    for command in commands:
        words = unwrapped(command)[-1]
        optioned = any(word.text.startswith("-") for word in words[1:])
        if command.hidden and not optioned:
            continue  # `find -delete` removes its matches, not its arguments
        if basename(words[0].text) in _REMOVERS:
            for word in words[1:]:
                if _BEGINS_UNKNOWN.fullmatch(word.raw):
                    return f"what {command.source} removes is only known when it runs"
                if any(_is_critical(name, folders, context) for name in _targets(word)):
                    return f"it removes {word.raw}, which is too much to allow by rule"
    return ""


def _targets(word: ShellWord) -> Iterator[str]:
    """Yield what a word may name; for wildcards that match all of a folder, the folder."""
    for text in (*word.values, *word.parts):
        whole = text.rstrip("/") or text[:1]
        above, last = dirname(whole), basename(whole)
        everything = (word.glob or word.parts) and _EVERYTHING.fullmatch(last)
        yield (above or ".") if everything else whole


def _is_critical(name: str, folders: Sequence[str], context: Context) -> bool:
    if len(name) > LONGEST_PATH:
        return False
    places = places_in(expand_home(name, context.home), folders, context)
    kept = (context.home, context.project, folders[0])
    return any(
        dirname(where) == "/" or any(is_within(folder, where) for folder in kept)
        for place in places
        for where in place.both
    )


_NAMES_FILE = re.compile(r"\s*\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.*[^ \t\r])")


@frozen
class Patch:
    """The files a patch names, in their order, and why it may not be all of them."""

    paths: tuple[str, ...]
    trouble: str = ""


def read_patch(text: str) -> Patch:
    """Return what the patch in `text` touches; a patch not fully understood has a trouble."""
    lines = text.strip().split("\n")
    paths = tuple(match[1] for line in lines if (match := _NAMES_FILE.match(line)))
    trouble = "" if paths else "a patch that names no file"
    if lines[0].strip() != "*** Begin Patch" or lines[-1].strip() != "*** End Patch":
        trouble = "a patch without its first or last line"
    elif not all(map(_is_known_line, lines[1:-1])):
        trouble = "a line of a patch that rules do not know"
    return Patch(paths, trouble)


def _is_known_line(line: str) -> bool:
    head = line.strip()
    if line.startswith(("+", "-")) or head in ("", "*** End of File") or _NAMES_FILE.match(line):
        return True
    # A line of a hunk that is kept, or a place.
    return line.startswith((" ", "@@")) and not head.startswith("***")
