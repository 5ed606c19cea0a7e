"""A shell line as a call: its commands and redirects, and the files they name."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from crabhook.policy.named import expand_home, named_files
from crabhook.policy.parts import Call, CommandPart, FilePart, Part, Use
from crabhook.policy.paths import normal, place
from crabhook.policy.shell.read import read_script
from crabhook.policy.shell.script import Command, Flow, Redirect, Word
from crabhook.policy.shell.unfold import lines, unfold
from crabhook.policy.shell.whole import readings
from crabhook.policy.shell.wrappers import unwrapped
from crabhook.policy.surroundings import Surroundings
from crabhook.policy.tools import Kind

_MOVES = frozenset({"cd", "chdir", "pushd", "popd"})
_MAX_FOLDERS = 8
# Writing there changes no file; anything else below /dev is a device or the net.
_SINKS = frozenset({"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"})


@dataclass(frozen=True, slots=True)
class _Folders:
    """Where the line may be when it names a file; `sure`: there are no others."""

    all: tuple[str, ...]
    sure: bool


def shell_call(
    text: str, cwd: str, tools: frozenset[str], tool: Part, surroundings: Surroundings
) -> Call:
    """Return what the shell line `text` comes to in the folder `cwd`."""
    known = known_variables(cwd, surroundings)
    script = read_script(text, known)
    deep = unfold(text, script, known)
    folders = _folders(cwd, deep.commands, surroundings)
    required: list[Part] = []
    suspected: list[Part] = [tool]
    troubles = dict.fromkeys(deep.troubles)
    for command in deep.commands:
        if command.words:
            (suspected if command.hidden else required).append(_command_part(command, tools))
    for redirect in deep.redirects:
        for part in _redirect_parts(redirect, folders, surroundings):
            (suspected if redirect.hidden else required).append(part)
            if not redirect.hidden and (trouble := _redirect_trouble(part, redirect, folders)):
                troubles[trouble] = None
    if not required and not troubles:
        required.append(tool)
    suspected += named_files(deep.commands, folders.all, surroundings)
    return Call("Bash", Kind.COMMAND, tuple(required), tuple(suspected), tuple(troubles))


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


def _folders(cwd: str, commands: Iterable[Command], surroundings: Surroundings) -> _Folders:
    """Return every folder that a `cd` may have gone to; each may also have failed."""
    folders, sure = [cwd], True
    for command in commands:
        for words in unwrapped(command) if command.words else ():
            if words[0].text not in _MOVES:
                continue
            where = [word for word in words[1:] if word.text not in ("-L", "-P", "-e", "--", "-q")]
            sure &= words[0].text != "popd" and all(map(_is_sure, where)) and len(where) < 2
            target = expand_home(where[0].text, surroundings.home) if where else surroundings.home
            for folder in list(folders):
                gone = normal(target if target.startswith("/") else f"{folder}/{target}")
                if gone not in folders:
                    folders.append(gone)
    return _Folders(tuple(folders[:_MAX_FOLDERS]), sure and len(folders) <= _MAX_FOLDERS)


def _is_sure(folder: Word) -> bool:
    if folder.raw in {"$HOME", '"$HOME"', "${HOME}", '"${HOME}"'}:
        return True
    other_home = folder.tilde and not (folder.raw == "~" or folder.raw.startswith("~/"))
    return folder.fixed and not other_home and folder.text[:1] not in ("-", "+", "")


def _redirect_parts(
    redirect: Redirect, folders: _Folders, surroundings: Surroundings
) -> Iterable[FilePart]:
    target = redirect.target
    path = expand_home(target.text, surroundings.home) if target.tilde else target.text
    places = tuple(
        place(path, folder, surroundings)
        for folder in (folders.all[:1] if path.startswith("/") else folders.all)
        if path and "\0" not in path
    )
    if all(one.named in _SINKS for one in places) and places and _is_known(redirect, folders):
        return
    for flow, use, tools in _USES:
        if redirect.flow in (flow, Flow.BOTH):
            yield FilePart(redirect.source, use, places, frozenset(tools), target.glob)


_USES = ((Flow.WRITE, Use.WRITE, ("Edit",)), (Flow.READ, Use.READ, ("Read",)))


def _is_known(redirect: Redirect, folders: _Folders) -> bool:
    target = redirect.target
    if not target.fixed or not target.text:
        return False
    if target.tilde and not (target.raw == "~" or target.raw.startswith("~/")):
        return False
    return folders.sure or target.text.startswith(("/", "~/"))


def _redirect_trouble(part: FilePart, redirect: Redirect, folders: _Folders) -> str:
    if any(one.named.startswith(("/dev/tcp", "/dev/udp")) for one in part.places):
        return "a redirect to the net"
    if not part.places or not _is_known(redirect, folders):
        return f"where {redirect.source} goes is only known when it runs"
    return ""
