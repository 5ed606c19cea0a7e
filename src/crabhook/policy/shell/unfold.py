"""Every text by which rules may match a command: what a line might run, and what surely runs.

A denial checks each command in each spelling, and hidden commands: there a guess too many is the
smaller fault. An allow takes the command as written, whole or inside a wrapper. Depth and number
are bounded: the line is hostile until shown safe.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import dropwhile
from posixpath import basename

from crabhook.datatypes import frozen
from crabhook.policy.shell.hidden import Argv, Inner, assigned, inner, reads_script
from crabhook.policy.shell.interpreters import sed_is_harmless
from crabhook.policy.shell.programs import listed
from crabhook.policy.shell.read import MAX_BYTES, read_script
from crabhook.policy.shell.script import Redirect, Script, ShellWord, SimpleCommand, Span
from crabhook.policy.shell.starting import may_start_another
from crabhook.policy.shell.wrappers import is_safe, unwrapped

MAX_DEPTH = 6
MAX_FOUND = 1200
MAX_HIDDEN_BYTES = 2 * MAX_BYTES
# Each level of a nested line repeats the words of all levels inside it.
MAX_HIDDEN_WORDS = 4096
MAX_TEXT = 256 * 1024  # of a longer line, so much is cut into pieces
MAX_SPELLINGS = 40

BLANK = "\x1f"  # a blank inside a word: no rule's text can hold it
_GIT_VALUED = ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path")


def unfold(text: str, script: Script, preset: Mapping[str, Sequence[str]]) -> Script:
    """Return the script with all that hides in it; `text` is what it was read from."""
    search = _Search(preset)
    search.take(script)
    if script.troubles:
        search.queue(_by_text(text))
    search.run()
    troubles = dict.fromkeys((*script.troubles, *search.troubles))
    nested = tuple(search.nested)
    return Script(
        tuple(search.commands),
        tuple(search.redirects),
        tuple(troubles),
        tuple(search.inputs),
        nested=nested,
    )


class _Search:
    """Looks behind each command for others, breadth first."""

    def __init__(self, preset: Mapping[str, Sequence[str]]) -> None:
        self.commands: list[SimpleCommand] = []
        self.redirects: list[Redirect] = []
        self.troubles: list[str] = []
        self.nested: list[SimpleCommand] = []  # of the scripts inside
        # Names of files that the line, or a script inside it, writes and may also run.
        self.written: frozenset[str] = frozenset()
        self._known = preset
        self._seen: set[tuple[Span, tuple[str, ...]]] = set()
        self._read: set[tuple[Span, str]] = set()
        self._bytes = self._words = 0
        self._todo: deque[tuple[SimpleCommand, int]] = deque()
        self.inputs: dict[str, None] = {}  # to any command, by the line or a script inside
        self._inputs: dict[str, None] = {}
        self._shell_listens = False
        self._unknown_input = False
        # Variables whose value may be more than a number: a shell inside inherits them.
        self._unfit: frozenset[str] = frozenset()
        # All that they can be; None where that is not known.
        self._texts: dict[str, tuple[str, ...] | None] = {}

    def take(self, script: Script, depth: int = 0) -> None:
        """Add what a script does.

        Any shell of the line may read the texts given to its commands: the grammar does not always
        say which command reads which text.
        """
        self._unfit |= script.unfit
        for name in script.unfit | script.texts.keys():
            texts, before = script.texts.get(name), self._texts.get(name, ())
            all_known = texts is not None and before is not None
            self._texts[name] = (*(before or ()), *(texts or ())) if all_known else None
        self.written |= {name for redirect in script.redirects for name in redirect.written}
        self._inputs |= dict.fromkeys(script.inputs)
        self.inputs |= dict.fromkeys(script.inputs)
        self._unknown_input |= script.varies
        self.queue(script.commands, depth)
        self.redirects += script.redirects

    def queue(self, commands: Iterable[SimpleCommand], depth: int = 0) -> None:
        """Add commands, to be looked behind in their turn."""
        for command in commands:
            self._unknown_input |= command.fed and not prints_what_it_says(command)
            self.commands.append(command)
            self._todo.append((command, depth))
            self._words += len(command.words) if depth else 0
            handed = set(_handed_on(command))
            self._unfit |= handed
            self._texts |= dict.fromkeys(handed)

    def _read_input(self) -> bool:
        """Read texts given to a shell as scripts; return whether there were any."""
        if not (self._shell_listens and self._inputs):
            return False
        # With a line's end before it, so that a text with a dash in front is no option.
        self.queue(hidden_command(("sh", "-c", f"\n{text}")) for text in self._inputs)
        self._inputs.clear()
        return True

    def run(self) -> None:
        """Look until there is no more, or enough."""
        while self._todo or self._read_input():
            if self._is_too_much():
                self.troubles.append("more hides in it than is looked at")
                return
            command, depth = self._todo.popleft()
            if depth >= MAX_DEPTH and any(inner(argv) != Inner() for argv in spellings(command)):
                self.troubles.append(f"scripts in one another, deeper than {MAX_DEPTH} levels")
                continue
            for assignment in command.assignments if depth < MAX_DEPTH else ():
                script = assigned(f"{assignment.name}={assignment.value.text}")
                self._look_into(script, depth + 1, command.span)
            for argv in spellings(command):
                # The same words at another time hide the same commands at that time.
                once = (command.span, tuple(argv))
                if depth < MAX_DEPTH and once not in self._seen:
                    self._seen.add(once)
                    # It may run a file that the line writes, as `sh x` or `./x`. Some read it in
                    # a language of their own; Perl obeys a first line that names a shell.
                    runs_written = not self.written.isdisjoint(map(basename, argv[:3]))
                    runs_written &= not _NO_SHELL.fullmatch(basename(argv[0]))
                    self._shell_listens |= reads_script(argv) or runs_written
                    behind = inner(argv)
                    hidden = map(hidden_command, behind.commands)
                    self.queue(
                        (replace(inner_command, span=command.span) for inner_command in hidden),
                        depth + 1,
                    )
                    self._look_into(behind.scripts, depth + 1, command.span)
        if self._shell_listens and self._unknown_input:
            self.troubles.append("a shell is given a script that is only known when it runs")

    def _is_too_much(self) -> bool:
        return (
            len(self.commands) > MAX_FOUND
            or self._bytes > MAX_HIDDEN_BYTES
            or self._words > MAX_HIDDEN_WORDS
        )

    def _look_into(self, scripts: Iterable[str], depth: int, span: Span) -> None:
        for text in scripts:
            if self._bytes > MAX_HIDDEN_BYTES:
                return
            if (span, text) in self._read:
                continue
            self._read.add((span, text))
            self._bytes += len(text)
            texts = {name: choices for name, choices in self._texts.items() if choices is not None}
            read = read_script(text, self._known, self._unfit, texts)
            self.troubles += [f"in a script inside it: {trouble}" for trouble in read.troubles[:2]]
            commands = tuple(
                replace(inner_command, hidden=True, span=span) for inner_command in read.commands
            )
            redirects = tuple(
                replace(redirect, hidden=True, span=span) for redirect in read.redirects
            )
            self.nested += commands
            self.take(replace(read, commands=commands, redirects=redirects), depth)
            if read.troubles:
                self.queue(_by_text(text), depth)


_NO_SHELL = re.compile(r"python[0-9.]*|node|deno|php|lua[0-9.]*|Rscript|go|javac?|rustc")


_ASSIGNS = re.compile(r"[A-Za-z_]\w*\+?=")
_HANDS_ON = re.compile(r"([A-Za-z_]\w*)\+?=(?!-?\d+\Z)", re.ASCII)


def _handed_on(command: SimpleCommand) -> Iterator[str]:
    """Yield the variables that its words may set to more than a number: `env x=… bash -c …`."""
    for word in command.words:
        for text in (word.raw, *word.values):
            if "=" in text and (match := _HANDS_ON.match(text)):
                yield match[1]


_PLAIN_TEXT = re.compile(r"(?:[^\\]|\\n)*")
_PLAIN_FORMAT = re.compile(r"(?:[^\\%]|\\n|%s|%%)*")


def prints_what_it_says(command: SimpleCommand) -> bool:
    """Whether what the command prints can be read off its words, or is a file's."""
    words = unwrapped(command)[-1]
    texts = [word.text for word in words]
    if not texts or not all(word.fixed for word in words):
        return not texts
    if texts[0] == "echo":
        return all(map(_PLAIN_TEXT.fullmatch, texts))
    if texts[0] == "printf":
        once = len(texts) - 2 <= texts[1].count("%s") if len(texts) > 1 else True
        return (once or texts[1] == r"%s\n") and all(map(_PLAIN_FORMAT.fullmatch, texts[1:2]))
    return texts[0] in ("cat", "cd", "true", ":")


def is_echo(command: SimpleCommand) -> bool:
    """Whether the command prints its words."""
    return unwrapped(command)[-1][0].text in ("echo", "printf")


def hidden_command(argv: Argv) -> SimpleCommand:
    """Return a command found behind another command."""
    words = tuple(ShellWord(word, (word,)) for word in argv)
    return SimpleCommand(words, source=" ".join(argv), hidden=True)


def _by_text(text: str) -> list[SimpleCommand]:
    """Return possible commands in a text without a trustworthy tree, cut at every separator."""
    text = text.replace("``", "").replace("$()", "")
    cut = re.split(r"[;&|\n\r(){}`<>]|\$\(", text[:MAX_TEXT])
    stripped = dict.fromkeys(piece.strip(" \t!\"'") for piece in cut)
    pieces = [re.sub(r"[\\'\"]", "", piece) for piece in [*filter(None, stripped)][:MAX_FOUND]]
    pieces += [piece.replace(",", " ") for piece in pieces if "," in piece]  # {rm,-rf,x}
    skipped = [list(dropwhile(_ASSIGNS.match, piece.split())) for piece in pieces]
    return [hidden_command(piece) for piece in skipped if piece]


def spellings(command: SimpleCommand) -> Iterator[Argv]:
    """Yield the words the command may come to, the likeliest first; never an empty list."""
    words = command.words
    count = 0
    for changed, word in [(-1, None), *enumerate(words)]:
        for value in word.values[1:] if word else ("",):
            argv = list(_spelled(words, changed, value))
            if argv:
                yield argv
                count += 1
            if count >= MAX_SPELLINGS:
                return


def _spelled(words: Sequence[ShellWord], changed: int, value: str) -> Iterator[str]:
    for place, word in enumerate(words):
        if place == changed:
            yield from value.split()
        elif word.fixed or (word.raw.startswith('"') and not word.parts):
            yield word.text
        else:
            yield from word.parts or word.text.split()


def lines(command: SimpleCommand) -> set[str]:
    """Return every text by which a rule may know the command, to deny it."""
    texts = {" ".join(command.source.split())} if command.source else set()
    for argv in spellings(command):
        for words in _namings(argv):
            texts.add(" ".join(words))
            texts.add(line(words))
            if command.assignments:
                set_before = [
                    f"{assignment.name}={assignment.value.text}"
                    for assignment in command.assignments
                ]
                texts.add(line([*set_before, *words]))
    return texts


def line(words: Argv) -> str:
    """Return the words as one text in which blanks inside a word cannot pass for ends of one."""
    return " ".join(re.sub(r"\s", BLANK, word) or "''" for word in words)


def _namings(argv: Argv) -> Iterator[Argv]:
    yield argv
    short = [basename(argv[0]) or argv[0], *argv[1:]]
    if short[0] != argv[0]:
        yield short
    if short[0] == "git" and len(argv) > 1 and argv[1].startswith("-"):
        yield ["git", *behind_gits_options(argv[1:])]


def behind_gits_options(words: Sequence[str]) -> Sequence[str]:
    """Return the words of git from its subcommand on; `words`: all that stands behind `git`."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in _GIT_VALUED else 1
    return words[at:]


_UNBOUNDED, _FIND_ACTS = listed("running", "unbounded"), listed("running", "find_acts")
_EVALUATORS = listed("running", "evaluators")


@frozen
class Reading:
    """One text for a command; `exact`: only a rule without wildcards may allow it.

    `reads`: what it runs only reads, so that a rule with the whole tool covers it all the same.
    `assigned`: the text begins with assignments, which a rule must name. `starts`: by an option, it
    may start another program.
    """

    text: str
    exact: bool = False
    reads: bool = False
    assigned: bool = False
    starts: bool = False


def readings(command: SimpleCommand) -> tuple[Reading, ...]:
    """Return the texts of which a rule must match one to allow the command."""
    texts, inside_xargs = [], False
    skippable = all(map(is_safe, command.assignments))
    for words in unwrapped(command):
        if not _evaluates(words):
            tail = [BLANK] if inside_xargs else []  # arguments unknown until the line runs
            text = line([*map(_text, words), *tail])
            exact = _needs_exact(words, unknown_tail=inside_xargs)
            starts = may_start_another(basename(words[0].text), words, fed=inside_xargs)
            starts |= basename(words[0].text) == "sed" and not sed_is_harmless(words[1:])
            reads = exact and not inside_xargs and _finds_and_reads(words)
            if skippable:
                texts.append(Reading(text, exact, reads, starts=starts))
            if command.assignments and len(words) == len(command.words):
                before = line(
                    [
                        f"{assignment.name}={_text(assignment.value)}"
                        for assignment in command.assignments
                    ]
                )
                whole = f"{before} {text}"
                texts.append(Reading(whole, exact, reads, assigned=True, starts=starts))
        inside_xargs |= words[0].text == "xargs"
    return tuple(texts)


def _text(word: ShellWord) -> str:
    """Return the word for rules: as written, where shells make different texts of it.

    For dash, `$'…'` is a dollar sign and a quoted text.
    """
    return word.text if word.fixed and "$'" not in word.raw else word.raw


def _needs_exact(words: Sequence[ShellWord], *, unknown_tail: bool) -> bool:
    if words[0].text != "find":
        return words[0].text in _UNBOUNDED
    acts = any(word.text in _FIND_ACTS for word in words)
    return acts or unknown_tail or not all(word.fixed for word in words)


_FIND_RUNS = listed("running", "find_runs")
_FIND_ENDS = (";", "\\;", "+")


def _finds_and_reads(words: Sequence[ShellWord]) -> bool:
    """Whether a `find` hands what it finds, whole words, to programs that only read."""
    texts = [word.text for word in words]
    if not all(word.fixed for word in words) or texts[0] != "find":
        return False
    at = 1
    while at < len(texts):
        if texts[at] in _FIND_ACTS:
            ends = next((n for n in range(at, len(texts)) if texts[n] in _FIND_ENDS), 0)
            run = texts[at + 1 : ends]
            if texts[at] != "-exec" or not run or run[0] not in _FIND_RUNS:
                return False
            if any("{}" in word and word != "{}" for word in run):
                return False
            at = ends
        at += 1
    return True


def _evaluates(words: Sequence[ShellWord]) -> bool:
    if words[0].text not in _EVALUATORS:
        return False
    texts = (text for word in words[1:] for text in word.values)
    return any("[" in text and ("$(" in text or "`" in text) for text in texts)
