"""The effects of one call while they are gathered, and which secrets it reads with a folder."""

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from itertools import takewhile

from crabhook.model.card import Effect, Level, Risk, Where
from crabhook.model.event import Event
from crabhook.policy.calls.mentioned_files import Folders, named_files
from crabhook.policy.calls.parts import CommandPart, FilePart, Use
from crabhook.policy.context import Context, Wanted
from crabhook.policy.effects.line import SHOWERS
from crabhook.policy.effects.objects import PLACE_WORDS, Scene, Search, Subject, cut
from crabhook.policy.effects.table import EffectKind, table
from crabhook.policy.paths import Bases, place
from crabhook.policy.protected import Protected
from crabhook.policy.shell.programs import NAMES_ONLY, READ_NOTHING
from crabhook.policy.shell.script import SimpleCommand

MOST_EFFECTS = 8  # shown; the rest are counted
MOST_OBJECTS = 3  # of one effect
MOST_LETTERS = 20  # that nobody sees: each is named
MOST_UNKNOWN = 5
MOST_FOLDERS = 8  # of one call that are looked into
MOST_SECRETS = 20  # of one folder that are named or counted


_CHANGE_ONLY = READ_NOTHING | {"tee", "touch", "truncate", "mkdir", "unlink", "rmdir"}


class RiskFindings:
    """The effects of one call while they are gathered."""

    def __init__(
        self, context: Context, protected: Protected, event: Event, wanted: Wanted
    ) -> None:
        self.context, self._protected, self.wanted = context, protected, wanted
        self.cwd = event.cwd if event.cwd.startswith("/") else context.project or "/"
        self._bases = Bases(context.home, context.project, self.cwd, context.real)
        self._told: dict[tuple[str, Where, str], dict[str, None]] = {}
        self.unknown: dict[str, None] = {}
        self.triggers = protected.triggers

    def tell(self, name: str, subject: Subject | str = "") -> None:
        """Add an effect and its object."""
        named = Subject(subject) if isinstance(subject, str) else subject
        if not table().kinds[name].quiet or named.where is Where.OUTSIDE:
            self._told.setdefault((name, named.where, named.at), {})[cut(named.text)] = None

    def look(self, searches: Iterable[Search], scene: Scene) -> None:
        """Add each secret in the folders, and each folder with an incomplete look.

        A folder that always has secrets, as the home folder, is not searched.
        """
        for number, search in enumerate(searches):
            folder = scene.file(search.folder) or Subject(search.folder)
            if self._holds_secret(search.folder, program="" if search.chosen else "grep"):
                self.tell("reads-secrets", folder.text)
                continue
            if number >= MOST_FOLDERS:
                self.tell("unlooked", folder)
                continue
            below = self.context.below(search.folder, self.wanted)
            named = list(filter(search.takes, below.files))[:MOST_SECRETS]
            held = [name for name in named if self._holds_secret(name, only=True)]
            for name in held:
                shown = scene.file(name) or Subject(name)
                self.tell("reads-secrets" if search.sure else "may-read-secrets", shown.text)
            if not (held or below.whole or search.chosen):
                self.tell("unlooked", folder)

    def _holds_secret(self, name: str, *, program: str = "", only: bool = False) -> bool:
        """Whether a file, or a folder that a program reads, is protected; `only`: as a secret."""
        where = place(name, "/", self.context)
        part = FilePart(name, Use.READ, (where,), program=program)
        entry = self._protected.concerned(part, self._bases)
        if entry is None or (only and not entry.secret):
            return False
        return not self._protected.may_be_shown(where, self._bases)

    def concern(self, part: FilePart | CommandPart, shown: str, at: str = "") -> None:
        """Add that a protected file is touched, or a command changes one."""
        entry = self._protected.concerned(part, self._bases)
        looks = table().looks if isinstance(part, CommandPart) else ()
        if entry is None or any(fnmatchcase(part.text, glob) for glob in looks):
            return
        changes = table().protected[entry.name].name
        program = part.program if isinstance(part, FilePart) else ""
        if isinstance(part, FilePart) and part.use is not Use.WRITE and entry.secret:
            if part.use is Use.READ and program in NAMES_ONLY:
                return
            if program not in _CHANGE_ONLY:
                changes = "reads-secrets"
        self.tell(changes, Subject(shown, at=at))

    def risk(self) -> Risk:
        """Return all that was found, as much as a person can read."""
        kinds = table().kinds
        covered = {(instead, at) for name, _, at in self._told for instead in kinds[name].instead}
        others = {
            text for (name, *_), texts in self._told.items() if name != "reads" for text in texts
        }
        for (name, _, at), texts in self._told.items():
            if name == "reads" and others.issuperset(texts):
                covered |= {(name, at)}
        effects = [
            _effect(kinds[name], where, at, tuple(filter(None, texts)))
            for (name, where, at), texts in self._told.items()
            if (name, at) not in covered
        ]
        return shortened(effects, _counted(self.unknown))


def shortened(effects: Iterable[Effect], unknown: tuple[str, ...]) -> Risk:
    """Return the risk of these effects, the worst first, as many as a person can read."""
    ordered = sorted(effects, key=lambda effect: -effect.level)
    level = max((effect.level for effect in ordered), default=Level.NONE)
    if more := ordered[MOST_EFFECTS:]:
        counted = Effect("more", more[0].level, f"and {len(more)} more")
        ordered = [*ordered[:MOST_EFFECTS], counted]
    return Risk(level, tuple(ordered), unknown)


def _effect(kind: EffectKind, where: Where, at: str, objects: tuple[str, ...]) -> Effect:
    shown = objects[:1] if kind.name == "untold" else objects
    place = f" ({cut(at)})" if at else PLACE_WORDS[where] if kind.file and objects else ""
    most = MOST_LETTERS if kind.name == "hides" else MOST_OBJECTS
    rest = f" and {len(shown) - most} more" if len(shown) > most else ""
    words = kind.worded(", ".join(shown[:most]) + rest) + place
    return Effect(kind.name, kind.levels[where], words, objects, where if kind.file else None)


def _counted(unknown: Iterable[str]) -> tuple[str, ...]:
    named = tuple(cut(text) for text in unknown)
    rest = len(named) - MOST_UNKNOWN
    return (*named[:MOST_UNKNOWN], f"and {rest} more") if rest > 0 else named


def chosen_by_wildcards(
    commands: Iterable[SimpleCommand], folders: Folders, findings: RiskFindings
) -> Iterator[Search]:
    """Yield the folders in which a shell's wildcards choose files whose text a command shows."""
    for part in named_files(commands, folders.all, findings.context):
        if part.glob and part.program in SHOWERS and part.text[-1:] != "/":
            for place in part.places:
                if findings.wanted.may_be_in(place.named):
                    parts = place.named.split("/")
                    fixed = takewhile(lambda name: not set(name) & set("*?["), parts)
                    yield Search("/".join(fixed) or "/", chosen=place.named)
