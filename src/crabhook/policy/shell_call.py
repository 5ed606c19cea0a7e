"""A shell line as a call: its commands and redirects, and the files they name."""

from collections.abc import Iterable, Mapping, Sequence
from posixpath import basename

from crabhook.policy.elsewhere import Folders, files_elsewhere, is_inside, told_files
from crabhook.policy.named import expand_home, named_files
from crabhook.policy.parts import Call, CommandPart, FilePart, Part, ToolPart, Use
from crabhook.policy.patch import read_patch
from crabhook.policy.paths import LONGEST_PATH, normal, place
from crabhook.policy.programs import MOVES, VERSION_CONTROL
from crabhook.policy.removals import removal_trouble
from crabhook.policy.shell.mentions import mentions
from crabhook.policy.shell.read import read_script
from crabhook.policy.shell.script import Command, Flow, Redirect, Word
from crabhook.policy.shell.unfold import lines, unfold
from crabhook.policy.shell.whole import readings
from crabhook.policy.shell.wrappers import unwrapped
from crabhook.policy.surroundings import Surroundings
from crabhook.policy.tools import Kind

_MAX_FOLDERS = 8
_APPLY_PATCH = frozenset({"apply_patch", "applypatch"})
# Writing there changes no file; anything else below /dev is a device or the net.
_SINKS = frozenset({"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"})


def shell_call(
    text: str, cwd: str, tools: frozenset[str], tool: Part, surroundings: Surroundings
) -> Call:
    """Return what the shell line `text` comes to in the folder `cwd`."""
    cwd = normal(cwd)
    known = known_variables(cwd, surroundings)
    script = read_script(text, known)
    deep = unfold(text, script, known)
    folders = _folders(cwd, deep.commands, surroundings)
    stays = folders.sure and len(folders.all) == 1 and _is_root(cwd, surroundings)
    required: list[Part] = []
    suspected: list[Part] = [tool]
    troubles = dict.fromkeys(deep.troubles)
    for command in deep.commands:
        if command.words:
            named = _command_part(command, tools)
            (suspected if command.hidden else required).append(named)
            if not command.hidden:
                required += files_elsewhere(named, folders, surroundings)
                required += () if stays else _settings_elsewhere(named)
    for redirect in deep.redirects:
        for part in _redirect_parts(redirect, folders, surroundings, tools):
            (suspected if redirect.hidden else required).append(part)
            if not redirect.hidden and (trouble := _redirect_trouble(part, redirect, folders)):
                troubles[trouble] = None
    if any(map(_applies_patch, deep.commands)):
        troubles["a patch in a command, which Codex carries out itself"] = None
        suspected += _patched_files(text, folders, surroundings)
    if trouble := removal_trouble(deep.commands, folders.all, surroundings):
        troubles[trouble] = None
    if not required and not troubles:
        required.append(tool)
    suspected += named_files(deep.commands, folders.all, surroundings)
    suspected += told_files(deep.commands, folders, surroundings)
    return Call(
        "Bash",
        Kind.COMMAND,
        tuple(required),
        tuple(suspected),
        tuple(troubles),
        mentions(text, script),
    )


def _applies_patch(command: Command) -> bool:
    """Whether it is one of the names under which Codex takes a patch out of a shell line."""
    return bool(command.words) and any(
        basename(words[0].text) in _APPLY_PATCH for words in unwrapped(command)
    )


def _patched_files(text: str, folders: Folders, surroundings: Surroundings) -> Iterable[FilePart]:
    """Yield the files that a patch somewhere in the line names."""
    for path in read_patch(text).paths:
        named = folders.all if "\0" not in path else ()
        places = tuple(place(path, folder, surroundings) for folder in named)
        yield FilePart(path, Use.WRITE, places, frozenset({"Edit", "Write"}))


def known_variables(cwd: str, surroundings: Surroundings) -> Mapping[str, Sequence[str]]:
    """Return the variables whose values can be told before the line runs."""
    return {
        "HOME": (surroundings.home,),
        "PWD": (cwd,),
        "OLDPWD": (cwd,),
        "CLAUDE_PROJECT_DIR": (surroundings.project,),
    }


def _command_part(command: Command, tools: frozenset[str]) -> CommandPart:
    texts = () if command.hidden else readings(command)
    return CommandPart(command.source, command, texts, frozenset(lines(command)), tools)


def _settings_elsewhere(part: CommandPart) -> Iterable[ToolPart]:
    """Yield what only the tool as a whole covers: git and its like in a folder that is no root.

    A folder's own settings may name programs, and an agent that may write below its
    project's root can make a folder there that looks like git's own.
    """
    if basename(unwrapped(part.command)[-1][0].text) in VERSION_CONTROL:
        yield ToolPart(f"{part.text}, in another folder", part.tools)


def _is_root(cwd: str, surroundings: Surroundings) -> bool:
    if len(cwd) > LONGEST_PATH or not surroundings.project:
        return False
    here, root = place(cwd, "/", surroundings), place(surroundings.project, "/", surroundings)
    return here.named == root.named or here.real == root.real


def _folders(cwd: str, commands: Iterable[Command], surroundings: Surroundings) -> Folders:
    """Return every folder that a `cd` may have gone to; each may also have failed."""
    folders, sure = [cwd], True
    for command in commands:
        for words in unwrapped(command) if command.words else ():
            if words[0].text not in MOVES:
                continue
            where = [word for word in words[1:] if word.text not in ("-L", "-P", "-e", "--", "-q")]
            sure &= words[0].text != "popd" and all(map(_is_sure, where)) and len(where) < 2
            target = expand_home(where[0].text, surroundings.home) if where else surroundings.home
            for folder in list(folders):
                gone = normal(target if target.startswith("/") else f"{folder}/{target}")
                if gone not in folders:
                    folders.append(gone)
    return Folders(tuple(folders[:_MAX_FOLDERS]), sure and len(folders) <= _MAX_FOLDERS)


def _is_sure(folder: Word) -> bool:
    if folder.raw in {"$HOME", '"$HOME"', "${HOME}", '"${HOME}"'}:
        return True
    other_home = folder.tilde and not (folder.raw == "~" or folder.raw.startswith("~/"))
    return folder.fixed and not other_home and folder.text[:1] not in ("-", "+", "")


def _redirect_parts(
    redirect: Redirect, folders: Folders, surroundings: Surroundings, covering: frozenset[str]
) -> Iterable[FilePart]:
    """Yield the files of a redirect; `covering`: the tools whose bare rules cover the command.

    Such a rule covers what a program is given by name (`cat f`, `tee f`), so it
    covers the same file behind `<` or `>` too, as long as it is in the project.
    """
    target = redirect.target
    text = expand_home(target.text, surroundings.home) if target.tilde else target.text
    places = tuple(
        place(path, folder, surroundings)
        for path in redirect.settled or (text,)
        for folder in (folders.all[:1] if path.startswith("/") else folders.all)
        if path and "\0" not in path
    )
    known = bool(places) and _is_known(redirect, folders)
    if known and all(one.named in _SINKS for one in places):
        return
    inside = known and all(is_inside(one, surroundings) for one in places)
    own = covering if inside else frozenset()
    for flow, use, tools in _USES:
        if redirect.flow in (flow, Flow.BOTH):
            yield FilePart(redirect.source, use, places, frozenset(tools), target.glob, own=own)


_USES = ((Flow.WRITE, Use.WRITE, ("Edit",)), (Flow.READ, Use.READ, ("Read",)))


def _is_known(redirect: Redirect, folders: Folders) -> bool:
    target = redirect.target
    if redirect.settled:
        return all(text and (folders.sure or text.startswith("/")) for text in redirect.settled)
    if not target.fixed or not target.text:
        return False
    if target.tilde and not (target.raw == "~" or target.raw.startswith("~/")):
        return False
    return folders.sure or target.text.startswith(("/", "~/"))


def _redirect_trouble(part: FilePart, redirect: Redirect, folders: Folders) -> str:
    if any(one.named.startswith(("/dev/tcp", "/dev/udp")) for one in part.places):
        return "a redirect to the net"
    if not part.places or not _is_known(redirect, folders):
        return f"where {redirect.source} goes is only known when it runs"
    return ""
