"""The risk of a call: what it may do, from the parse that the rules use, and how bad that is.

Nothing here decides.  What nobody can tell is never called safe: a line that is not read has
the effect `untold`, and what is not in the table is named in `Risk.unknown`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from posixpath import basename

from crabhook.model.event import Event
from crabhook.model.risk import NO_RISK, Effect, Level, Risk, Where
from crabhook.policy.calls.mentioned_files import Folders, named_files
from crabhook.policy.calls.parts import CommandPart, FetchPart, FilePart, Use, mcp_name
from crabhook.policy.calls.parts import Kind as Sort
from crabhook.policy.calls.read import CommandLine, command_line, read_call
from crabhook.policy.calls.shell_call import Call, folders_of, known_variables, removal_trouble
from crabhook.policy.context import Context
from crabhook.policy.effects.commands import Known, Reader
from crabhook.policy.effects.objects import DOUBT, Scene, Subject, cut, host, place_words
from crabhook.policy.effects.table import Kind, table
from crabhook.policy.paths import Bases, normal
from crabhook.policy.protected import Protected
from crabhook.policy.shell.programs import MOVES, NAMES_ONLY, PRINTERS, READ_NOTHING
from crabhook.policy.shell.read import read_script
from crabhook.policy.shell.script import Command, Flow, Redirect, Script
from crabhook.policy.shell.unfold import lines, unfold

MOST_EFFECTS = 8  # shown; the rest are counted
MOST_OBJECTS = 3  # of one effect
MOST_UNKNOWN = 5
MOST_UNREAD = 8 * 1024  # letters of a line that is not read, in which words are looked for


EVERYTHING_PROTECTED = Protected()


def effects_of(event: Event, context: Context, protected: Protected = EVERYTHING_PROTECTED) -> Risk:
    """Return what the event's call may do.  `protected`: the list, with crabhook's own places."""
    if event.tool is None:
        return NO_RISK
    context = replace(context, real=cache(context.real))  # the same names are looked up often
    found = _Found(context, protected, event)
    if line := command_line(event, context):
        _of_line(line, found)
    elif call := read_call(event, context):
        _of_tool(call, event, found)
    return found.risk()


_CHANGE_ONLY = READ_NOTHING | {"tee", "touch", "truncate", "mkdir", "unlink", "rmdir"}


@lru_cache(maxsize=4)
def _triggers(protected: Protected) -> frozenset[str]:
    """Return words of which a command must have one for an entry of the list to speak of it."""
    patterns = [one for entry in protected.entries for one in entry.commands]
    found = {one.first_word for one in patterns if one.first_word}
    for one in patterns:
        if not one.first_word:
            found |= {word for part in one.written.parts for word in part.split()}
    return frozenset(found)


class _Found:
    """The effects of one call while they are gathered."""

    def __init__(self, context: Context, protected: Protected, event: Event) -> None:
        self.context, self._protected = context, protected
        self.cwd = event.cwd if event.cwd.startswith("/") else context.project or "/"
        self._bases = Bases(context.home, context.project, self.cwd, context.real)
        self._told: dict[tuple[str, Where], dict[str, None]] = {}
        self.unknown: dict[str, None] = {}
        self.triggers = _triggers(protected)

    def tell(self, name: str, subject: Subject | str = "") -> None:
        """Keep an effect, and what it is on."""
        one = Subject(subject) if isinstance(subject, str) else subject
        if not table().kinds[name].quiet or one.where is Where.OUTSIDE:
            self._told.setdefault((name, one.where), {})[cut(one.text)] = None

    def concern(self, part: FilePart | CommandPart, shown: str) -> None:
        """Tell what it is to touch a protected file, or to run a command that changes one."""
        entry = self._protected.concerned(part, self._bases)
        if entry is None:
            return
        changes = table().protected[entry.name].name
        program = part.program if isinstance(part, FilePart) else ""
        if isinstance(part, FilePart) and part.use is not Use.WRITE and entry.secret:
            if part.use is Use.READ and program in NAMES_ONLY:
                return
            if program not in _CHANGE_ONLY:
                changes = "reads-secrets"
        self.tell(changes, shown)

    def risk(self) -> Risk:
        """Return all that was found, as much as a person can read."""
        kinds = table().kinds
        covered = frozenset[str]().union(*(kinds[name].instead for name, _ in self._told))
        others = {
            text for (name, _), texts in self._told.items() if name != "reads" for text in texts
        }
        for (name, _), texts in self._told.items():
            if name == "reads" and others.issuperset(texts):
                covered |= {name}
        told = [
            _effect(kinds[name], where, tuple(filter(None, texts)))
            for (name, where), texts in self._told.items()
            if name not in covered
        ]
        return shortened(told, _counted(self.unknown))


def shortened(effects: Iterable[Effect], unknown: tuple[str, ...]) -> Risk:
    """Return the risk of these effects, the worst first, as many as a person can read."""
    ordered = sorted(effects, key=lambda one: -one.level)
    level = max((one.level for one in ordered), default=Level.NONE)
    if more := ordered[MOST_EFFECTS:]:
        counted = Effect("more", more[0].level, f"and {len(more)} more")
        ordered = [*ordered[:MOST_EFFECTS], counted]
    return Risk(level, tuple(ordered), unknown)


def _effect(kind: Kind, where: Where, objects: tuple[str, ...]) -> Effect:
    shown = objects[:1] if kind.name == "untold" else objects
    place = place_words(where) if kind.file and objects else ""
    words = kind.told(_listed(shown)) + place
    return Effect(kind.name, kind.levels[where], words, objects, where if kind.file else None)


def _listed(objects: tuple[str, ...]) -> str:
    rest = len(objects) - MOST_OBJECTS
    return ", ".join(objects[:MOST_OBJECTS]) + (f" and {rest} more" if rest > 0 else "")


def _counted(unknown: Iterable[str]) -> tuple[str, ...]:
    named = tuple(cut(one) for one in unknown)
    rest = len(named) - MOST_UNKNOWN
    return (*named[:MOST_UNKNOWN], f"and {rest} more") if rest > 0 else named


_OPTION = re.compile(r"-[\w-]*")
_CHAINED = re.compile(r"\s*cd\s+[^\s;&|()<>`$]+(?:\s*&&(?:[^;&|\n`(]|>&|&>|\|(?!\|))+)+", re.ASCII)


def _of_line(line: CommandLine, found: _Found) -> None:
    """Gather what a shell line does."""
    cwd, context = normal(line.cwd), found.context
    known = known_variables(cwd, context)
    script = read_script(line.text, known)
    deep = unfold(line.text[:MOST_UNREAD], script, known)
    if line.loosened:
        found.tell("sandbox")
    for trouble in (*deep.troubles[:1], line.trouble, "" if line.text else "it has no command"):
        if trouble:
            found.tell("untold", trouble)
    commands = [one for one in deep.commands if one.words]
    told = Known(line.text, deep, known)
    folders = _narrowed(line.text, folders_of(cwd, commands, context), commands)
    scene = Scene(context, folders, told.stand_ins, told.found)
    away = Scene(context, Folders((), sure=False)) if told.elsewhere else scene
    near, far = Reader(told, scene), Reader(told, away)
    _read_all(commands, script, told, near, far)
    ran = near.ran | far.ran  # a script is no program that a table could have
    for one in (near, far):
        for name, subject in one.told:
            found.tell(name, subject)
        found.unknown |= {
            f"{name}: not known here": None for name in one.unknown if name not in ran
        }
    _of_what_is_run(near, far, deep, found)
    _of_redirects(deep.redirects, scene, found)
    _of_protected(commands, told, folders, found)
    if removal_trouble(map(_as_written, commands), folders.all, context):
        found.tell("deletes-all")


def _as_written(command: Command) -> Command:
    """Return a hidden command with the wildcards that its words had before they were found."""
    if not command.hidden:
        return command
    words = (replace(one, glob=one.glob or "*" in one.text) for one in command.words)
    return replace(command, words=tuple(words))


def _read_all(
    commands: Sequence[Command], script: Script, told: Known, near: Reader, far: Reader
) -> None:
    """Read each command: those that are hidden with `far`, since they may run elsewhere.

    Of these, some are guesses: what begins later in another, or stands in a given text.
    """
    tails = {one.words[at:] for one in commands if one.hidden for at in (1, 2)}
    for command in commands:
        if not command.hidden:
            near.read(command, sure=True)
        elif tuple(word.text for word in command.words) not in told.find_removes:
            heard = any(command.source in one for one in script.given)
            far.read(command, sure=not (script.troubles or command.words in tails or heard))


def _narrowed(text: str, folders: Folders, commands: Iterable[Command]) -> Folders:
    """Return where a line runs, without the folder that its first `cd` surely has left."""
    moves = sum(one.words[0].text in MOVES for one in commands)
    if moves == 1 and folders.sure and len(folders.all) == 2 and _CHAINED.fullmatch(text):
        return Folders(folders.all[1:], sure=True)
    return folders


def _of_what_is_run(near: Reader, far: Reader, script: Script, found: _Found) -> None:
    """Tell what the parts of a line do together: run what others of its commands bring."""
    fetched = [*near.fetched, *far.fetched]
    if near.given or far.given:
        if fetched:
            found.tell("runs-downloaded", ", ".join(filter(None, fetched)))
        if near.decoded or far.decoded:
            found.tell("runs-decoded")
    saved = near.saved | far.saved
    downloads = any(name == "network" for name, _ in (*near.told, *far.told))
    if downloads:
        saved |= {name for one in script.redirects for name in one.written}
        for name in sorted((near.ran | far.ran) & saved):
            found.tell("runs-downloaded", name)


_USES: Mapping[Flow, Use] = {Flow.READ: Use.READ, Flow.WRITE: Use.WRITE, Flow.BOTH: Use.WRITE}


def _of_redirects(redirects: Iterable[Redirect], scene: Scene, found: _Found) -> None:
    """Tell of the files behind redirects."""
    for redirect in redirects:
        target, use = redirect.target, _USES[redirect.flow]
        doubtful = not target.fixed and set(target.raw) & set("$`") and not redirect.settled
        for text in redirect.settled or target.values[:1]:
            name = f"{DOUBT}{target.raw}" if doubtful else text
            if text.startswith(("/dev/tcp/", "/dev/udp/")):
                at = host(text.split("/")[3])
                found.tell("network", at)
                found.tell("sends", at)
                continue
            subject = scene.file(name)
            if subject is None:
                continue
            device = use is Use.WRITE and subject.device
            written = "disk" if device else "writes" if use is Use.WRITE else "reads"
            found.tell(written, subject)
            places = scene.places(text)
            found.concern(FilePart(text, use, places, glob=target.glob), subject.text)


def _of_protected(
    commands: Sequence[Command], told: Known, folders: Folders, found: _Found
) -> None:
    """Tell of protected files that commands name, and of commands that change what is protected."""
    for command in commands:
        if not found.triggers.isdisjoint(basename(word.text) for word in command.words):
            texts = frozenset(lines(command))
            run = CommandPart(command.source, command, (), texts, frozenset())
            found.concern(run, command.source)
    whole = {word.text for one in commands for word in one.words}
    for part in named_files(commands, folders.all, found.context):
        looks = part.program in ("find", "fd") and not told.find_acts
        idle = looks or part.program in PRINTERS or _OPTION.fullmatch(part.text)
        if not idle and (not part.glob or part.text in whole):  # a piece of a word may be no glob
            found.concern(part, part.text)


def _of_tool(call: Call, event: Event, found: _Found) -> None:
    """Gather what a tool that is no command does."""
    scene = Scene(found.context, Folders((found.cwd,), sure=True))
    files = [part for part in call.parts if isinstance(part, FilePart)]
    for part in dict.fromkeys(part for part in files if "\x1f" not in part.text and part.text):
        subject = scene.file(part.text) or Subject(part.text)
        writes = part.use is Use.WRITE
        deletes = call.kind is Sort.PATCH and f"*** Delete File: {part.text}" in str(event.tool)
        if not part.glob:
            name = "deletes" if deletes else "writes" if writes else "reads"
            found.tell(name, subject)
        found.concern(part, subject.text)
    for one in call.parts:
        if isinstance(one, FetchPart):
            found.tell("network", host(one.host) if one.host else one.text)
    if call.kind in (Sort.AGENT, Sort.SKILL):
        name = "subagent" if call.kind is Sort.AGENT else "skill"
        found.tell(name, call.required[0].text)
    elif call.kind is Sort.OTHER:
        _of_other_tool(call.tool, event, found)
    if call.troubles and call.kind is not Sort.ASKING:
        found.tell("untold", call.troubles[0])


_DELETES = re.compile(
    r"(?:^|[_\W])(?:delete|remove|drop|destroy|purge|erase|wipe|truncate)(?:s|d)?(?=$|[_\W]|[A-Z])"
)
_SPLIT = re.compile(r"(?<=[a-z])(?=[A-Z])")


def _of_other_tool(name: str, event: Event, found: _Found) -> None:
    """Tell of a tool by its name: the agent's own, or a server's, of which nothing is known."""
    own = table().tools.get(name)
    for effect, _ in own or ():
        found.tell(effect)
    if own is not None:
        return
    whole = mcp_name(event.fields) or name
    server = whole.startswith("mcp_")
    if _DELETES.search(_SPLIT.sub("_", whole).lower()):
        found.tell("named-deletion", whole)
    found.unknown["what MCP tools do is not known" if server else f"{whole}: not known here"] = None
