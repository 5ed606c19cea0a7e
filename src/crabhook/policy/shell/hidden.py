"""Commands hidden in others, which a denial must find.

A wrong guess costs a question, a missed guess lets a denied command run. So an unknown option is
read both with a value and without. Nothing here helps an allow.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import takewhile
from posixpath import basename

from crabhook.data_files import names, tables
from crabhook.datatypes import frozen
from crabhook.policy.shell.programs import listed

Argv = Sequence[str]

SHELLS = listed("running", "shells")


@frozen
class Inner:
    """What one command runs: other commands, and texts that a shell will read."""

    commands: tuple[Argv, ...] = ()
    scripts: tuple[str, ...] = ()


@frozen
class _Wrapper:
    """How a program that runs the rest of its words is called, as `programs.toml` writes it."""

    valued: frozenset[str] = frozenset()
    positional: int = 0
    assigns: bool = False


_WRAPPERS = {  # by a program's name, or by that and its subcommand
    tuple(name.split()): _Wrapper(
        names(row.get("valued", "")), row.get("positional", 0), row.get("assigns", False)
    )
    for row in tables(__file__, "programs")["wrapper"]
    for name in row["names"]
}
# Programs that run what their words or their input say.
RUNNERS = SHELLS | {name for name, *more in _WRAPPERS if not more} | listed("running", "runners")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\+?=")
# Variables that tell a program what to run.
NAMES_A_PROGRAM = re.compile(
    r"GIT_.*|(?:.*_)?(?:EDITOR|PAGER|VISUAL|BROWSER|SHELL|COMMAND|DIFF|RSH|SSH|ASKPASS|LESSOPEN|LESSCLOSE)"
    r"|MANPAGER|BASH_ENV|ENV|PS[0-4]|PROMPT_COMMAND"
)
_OPTION = re.compile(r"[-+]+(?:\w[\w-]*)?")
_VALUED = re.compile(r"[-+][a-zA-Z]*[oO]|--rcfile|--init-file")
_DASH_C = re.compile(r"-[a-zA-Z]*c[a-zA-Z]*")


def inner(argv: Argv) -> Inner:
    """Return what the command `argv` would run in its turn, as far as its words tell."""
    name = basename(argv[0])
    commands: list[Argv] = []
    scripts: list[str] = []
    for words in (1, 2) if len(argv) > 2 else (1,):
        if wrapper := _WRAPPERS.get((name, *argv[1:words])):
            commands += _rest(argv[words:], wrapper)
            for word in argv[words:] if wrapper.assigns else ():
                scripts += assigned(word)
    if read := _SPECIAL.get(name):
        special = read(argv)
        commands += special.commands
        scripts += special.scripts
    if name in SHELLS:
        scripts += _dash_c(argv).scripts
        files = [at for at, word in enumerate(argv) if at and word[:1] not in ("-", "+")]
        commands += [argv[at:] for at in files[:2]]  # the first may be an option's own
    if name in ("source", "."):
        commands.append(argv[1:])
    return Inner(tuple(rest for rest in commands if rest), tuple(scripts))


def assigned(assignment: str) -> tuple[str, ...]:
    """Return the script that `NAME=value` before a command tells it to run; none if it does not."""
    match = _ASSIGNMENT.match(assignment)
    if match is None or not NAMES_A_PROGRAM.fullmatch(match[1]):
        return ()
    return (assignment[match.end() :].lstrip("|- "),)  # `LESSOPEN='|program %s'`


def reads_script(argv: Argv) -> bool:
    """Whether the command is a shell that takes its script from standard input."""
    if not argv or basename(argv[0]) not in SHELLS:
        return False
    if "-s" in argv[1:] or any(word.startswith(("/dev/", "/proc/")) for word in argv[1:]):
        return True
    at = 1
    while at < len(argv) and argv[at][:1] in ("-", "+"):
        at += 2 if _VALUED.fullmatch(argv[at]) else 1
    return at >= len(argv)


def _rest(words: Argv, wrapper: _Wrapper) -> list[Argv]:
    at, unsure = 0, False
    while at < len(words):
        word = words[at]
        if word == "--":
            at, unsure = at + 1, False
            break
        if wrapper.assigns and _ASSIGNMENT.match(word):
            at, unsure = at + 1, False
        elif len(word) > 1 and word[0] in "-+":
            takes_value = word in wrapper.valued
            at += 2 if takes_value else 1
            unsure = not takes_value and "=" not in word
        else:
            break
    at += wrapper.positional
    return [words[at:], words[at + 1 :]] if unsure else [words[at:]]


def _dash_c(argv: Argv) -> Inner:
    """Read `sh -c '…'`: the first word after the options, if one is `-c`.

    Behind `--` a script may look like an option; so impossible options count as scripts.
    """
    asked, before, scripts = False, "", []
    for word in argv[1:]:
        if _DASH_C.fullmatch(word) or word.startswith(("--command", "--init-command")):
            asked = True
            if "=" in word:
                return Inner(scripts=(word.partition("=")[2],))
        elif asked:
            if not _OPTION.fullmatch(word):
                scripts.append(word)
            if not word.startswith(("-", "+")) and not _VALUED.fullmatch(before):
                break
        before = word
    return Inner(scripts=tuple(scripts))


def _trap(argv: Argv) -> Inner:
    words = [word for word in argv[1:] if word != "--"]
    return Inner(scripts=tuple(word for word in words[:1] if word != "-"))


def _behind(argv: Argv, options: Collection[str]) -> Iterator[Argv]:
    return (argv[at:] for at, word in enumerate(argv, 1) if word in options)


def _find(argv: Argv) -> Inner:
    behind = _behind(argv, ("-exec", "-execdir", "-ok", "-okdir"))
    runs = [
        tuple(takewhile(lambda word: word not in (";", "+", "\\;"), argv_behind))
        for argv_behind in behind
    ]
    return Inner((*runs, ("rm", *argv[1:2])) if "-delete" in argv else tuple(runs))


_SPLIT = re.compile(r"--split-string=|-[a-zA-Z0]*S")


def _env(argv: Argv) -> Inner:
    texts = []  # words of `env` in their turn: `env -S'-iSrm'`
    for at, word in enumerate(argv[1:], 1):
        if word in {"-S", "--split-string"}:
            texts.append(" ".join(["env", *argv[at + 1 :]]))
        elif split := _SPLIT.match(word):
            texts.append(" ".join(["env", word[split.end() :], *argv[at + 1 :]]))
    return Inner(scripts=tuple(texts))


def _joined(argv: Argv) -> Inner:
    """Read programs that join their words for a shell: a command may begin anywhere."""
    rest = [words for words in _rest(argv[1:], _WRAPPERS[(basename(argv[0]),)]) if words]
    return Inner(scripts=(*(" ".join(words) for words in rest), *_dash_c(argv).scripts))


def _git(argv: Argv) -> Inner:
    texts: list[str] = []
    commands: list[Argv] = []
    rebases = "rebase" in argv
    for at, word in enumerate(argv[1:], 1):
        if rebases and (bundle := _GIT_BUNDLE.match(word)):
            texts += [word[bundle.end() :]] if bundle.end() < len(word) else argv[at + 1 : at + 2]
        elif word == "foreach":
            words = [
                word for word in argv[at + 1 :] if word not in ("--recursive", "-q", "--quiet")
            ]
            texts.append(" ".join(words))
        elif word in _GIT_SCRIPTS:
            texts += argv[at + 1 : at + 2]
        elif script := _GIT_SCRIPT.match(word):
            texts.append(word[script.end() :])
        elif alias := re.match(r"(?:-c)?alias\.[^=]*=(!?)", word):
            text = word[alias.end() :]
            texts.append(text) if alias[1] else commands.append(["git", *text.split()])
    if "bisect" in argv and "run" in argv:
        commands.append(argv[argv.index("run") + 1 :])
    return Inner(tuple(commands), tuple(texts))


_GIT_SCRIPTS = frozenset(
    {"--exec", "--exe", "--ex", "-x", "--tree-filter", "--index-filter", "--msg-filter"}
)
_GIT_BUNDLE = re.compile(r"-[A-Za-z]*?x")  # of `git rebase`: -x'…', -qx '…'
_GIT_SCRIPT = re.compile(r"--exe?c?=|-x(?=.)|--(?:tree|index|msg|env|commit|parent)-filter=")


_SPECIAL: Mapping[str, Callable[[Argv], Inner]] = {
    "eval": lambda argv: Inner(scripts=(" ".join(word for word in argv[1:] if word != "--"),)),
    "trap": _trap,
    "alias": lambda argv: Inner(
        scripts=tuple(word.partition("=")[2] for word in argv[1:] if "=" in word)
    ),
    "find": _find,
    "fd": lambda argv: Inner(tuple(_behind(argv, ("-x", "-X", "--exec")))),
    "env": _env,
    **dict.fromkeys(names("watch ssh parallel"), _joined),
    **dict.fromkeys(names("su runuser script flock"), _dash_c),
    "git": _git,
}
