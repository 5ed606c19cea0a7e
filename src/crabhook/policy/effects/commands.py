"""What a command of a shell line does, by the table: its effects, each with what it is on."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from posixpath import basename

from crabhook.model.risk import Where
from crabhook.policy.effects.objects import (
    BROUGHT,
    DOUBT,
    Scene,
    Subject,
    branches,
    host,
    hosts,
)
from crabhook.policy.effects.table import CallWords, Interpreter, table
from crabhook.policy.shell.hidden import Argv, inner, reads_script
from crabhook.policy.shell.read import read_script
from crabhook.policy.shell.script import Command, Flow, Script, Word
from crabhook.policy.shell.unfold import spellings

FILES = frozenset({"paths", "first", "rest", "last", "before", "find"})
_TELLS = {("--help",), ("--version",)}
MAX_SPELLED = 8
MOST_NESTED = 3
_VARIABLE = re.compile(r"\$\{?(\w+)")
_FUNCTION = re.compile(r"(?:^|[\s;&|{(])(?:function\s+)?([\w.:-]+)\s*\(\s*\)")
_SYSTEM = re.compile(r"/(?:usr/|usr/local/|opt/homebrew/|opt/local/)?s?bin/[^/]+")
_REMOTE_COPY = re.compile(r"[^/\s]+:.*")
_EVALUATE = frozenset({"eval", "source", "."})
_COPIERS = frozenset({"scp", "rsync", "sftp"})
_PIPED = re.compile(r"\|&?\s*(?:xargs|parallel)\b(?!.*--?a)")
_BRING = frozenset({"xargs", "parallel"})
_DROP = {"grep": 1, "egrep": 1, "fgrep": 1, "head": 0, "tail": 0, "sort": 0, "uniq": 0, "find": 99}
_FIND_ACTS = {"-exec", "-execdir", "-ok", "-okdir", "-delete", "-x", "-X", "--exec"}
_NO_COMMAND = re.compile(r"-.*|.*=.*|\W*")


class Known:
    """What one line tells of its own words: variables it sets, functions, names brought by `find`.

    `elsewhere`: what is hidden in the line may run on another machine.
    """

    def __init__(self, text: str, script: Script, outside: Iterable[str]) -> None:
        fixed = {one.name: True for command in script.commands for one in command.assignments}
        for command in script.commands:
            for one in command.assignments:
                fixed[one.name] &= one.value.fixed and not one.array
        self._told = {name for name, sure in fixed.items() if sure} | set(outside)
        self._told -= {name for name, sure in fixed.items() if not sure}
        self.functions = frozenset(_FUNCTION.findall(text)) if "(" in text else frozenset()
        named = [(c, [word.text for word in c.words]) for c in script.commands if c.words]
        self.elsewhere = any(basename(texts[0]) in ("ssh", "mosh") for _, texts in named)
        self._bringers = [texts for _, texts in named if basename(texts[0]) in _BRING]
        self.stand_ins = frozenset({"{}"} | set(_stand_ins(texts for _, texts in named)))
        finds = [texts for _, texts in named if basename(texts[0]) in ("find", "fd")]
        self.find_acts = any(_FIND_ACTS.intersection(texts) for texts in finds)
        self.find_removes = {("rm", *texts[1:2]) for texts in finds if "-delete" in texts}
        piped = len(self._bringers) == len(_PIPED.findall(text))
        reads = script.given or any(one.flow is not Flow.WRITE for one in script.redirects)
        fed = [texts for c, texts in named if c.fed or basename(texts[0]) == "find"]
        self.found = _found(fed) if piped and not reads else ()

    def argvs(self, command: Command) -> Iterator[Argv]:
        """Yield the words that a command may come to, those in doubt marked by DOUBT."""
        choices = [tuple(self._texts(word)) for word in command.words]
        most = max(len(one) for one in choices)
        tail = (BROUGHT,) if self._is_brought(command) else ()
        for at in range(min(most, MAX_SPELLED)):
            chosen = (one[min(at, len(one) - 1)] for one in choices)
            yield (*(text for texts in chosen for text in texts), *tail)
        if not command.words[0].fixed:
            yield from map(tuple, islice(spellings(command), MAX_SPELLED))

    def _texts(self, word: Word) -> Iterator[tuple[str, ...]]:
        """Yield the words that one word may become."""
        if word.fixed:
            yield (word.text,)
        elif word.parts and not set(word.raw) & set("$`"):
            yield word.parts
        elif word.raw.startswith(("<(", ">(")):
            yield (f"{DOUBT}{word.raw}",)
        elif not set(word.raw) & set("$`"):
            yield (f"{DOUBT}{word.raw}",) if word.is_afar else (word.text,)
        else:
            names = _VARIABLE.findall(word.raw)
            sure = names and self._told.issuperset(names) and not re.search(r"\$\(|`", word.raw)
            several = len(names) > 1 and len(word.values) != 2 ** len(names)
            if not sure or several:
                yield (f"{DOUBT}{word.raw}",)
            else:
                values = word.values[:-1] if len(names) == 1 else word.values[:1]
                yield from ((one,) for one in values or word.values)

    def _is_brought(self, command: Command) -> bool:
        """Whether names that nobody knows yet come behind the words of a hidden command."""
        texts = [word.text for word in command.words]
        return command.hidden and any(
            one[-len(texts) :] == texts and len(one) > len(texts) for one in self._bringers
        )


def _stand_ins(named: Iterable[Sequence[str]]) -> Iterator[str]:
    for texts in named:
        if basename(texts[0]) in _BRING:
            for at, word in enumerate(texts):
                if word.startswith(("-I", "-i")) and len(word) > 2:
                    yield word[2:]
                elif word == "-I" and texts[at + 1 : at + 2] and texts[at + 1]:
                    yield texts[at + 1]


def _found(fed: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the folders in which all names are that commands hand on; none if not known."""
    roots: dict[str, None] = {}
    for texts in fed:
        name = basename(texts[0])
        words = [word for word in texts[1:] if not word.startswith("-")]
        if len(words) > _DROP.get(name, -1):
            return ()
        if name == "find":
            roots |= dict.fromkeys(find_roots(texts[1:]))
    return tuple(roots)


def find_roots(words: Sequence[str]) -> list[str]:
    """Return the folders that `find` looks in."""
    roots = []
    for word in words:
        if word[:1] in ("-", "(", "!") and word not in ("-H", "-L", "-P"):
            break
        roots += [word] if word[:1] != "-" else []
    return roots or ["."]


class Reader:
    """Reads the commands of one line.

    `given`: one of them runs what it is given by others.  `ran`: names of files that
    are run; `fetched` and `decoded`: what the line brings from the net, or decodes, for others.
    """

    def __init__(self, known: Known, scene: Scene) -> None:
        self._known, self._scene = known, scene
        self.told: list[tuple[str, Subject]] = []
        self.unknown: dict[str, None] = {}
        self.given, self.decoded = False, False
        self.ran: set[str] = set()
        self.fetched: dict[str, None] = {}
        self.saved: set[str] = set()

    def tell(self, name: str, subject: Subject | str = "") -> None:
        """Keep an effect, and what it is on."""
        one = Subject(subject) if isinstance(subject, str) else subject
        is_disk = one.device and name in ("writes", "empties", "deletes", "moves")
        self.told.append(("disk" if is_disk else name, one))

    def read(self, command: Command, *, sure: bool) -> None:
        """Take what a command does; `sure`: its name is told if it is unknown."""
        before = len(self.told)
        for number, argv in enumerate(dict.fromkeys(self._known.argvs(command))):
            if argv:
                self._read(argv, sure=sure and not number, hidden=command.hidden)
        if command.fed:
            for name, subject in self.told[before:]:
                self.decoded |= name == "decodes"
                if name == "network":
                    self.fetched[subject.text] = None

    def _read(self, argv: Argv, *, sure: bool, hidden: bool, depth: int = 0) -> None:
        first, facts = argv[0], table()
        if first.startswith(DOUBT):
            self.given = True
            self.tell("untold", first[1:])
        elif not (hidden and " " in first):  # that is a script, which is read as one beside this
            program, own = basename(first), "/" in first and not _SYSTEM.fullmatch(first)
            if own:
                self._runs_file(first)
            if name := facts.name_of(program):
                self.given |= name in _EVALUATE and any(DOUBT in word for word in argv[1:])
                if interpreter := facts.interpreters.get(name):
                    self._interpret(interpreter, argv, depth)
                self._by_forms(name, argv[1:], depth)
                if any(DOUBT in word for word in argv[1:]) and depth < MOST_NESTED:
                    self._behind(name, argv, depth + 1)
            elif sure and not own and program not in self._known.functions:
                self.unknown |= {} if _NO_COMMAND.fullmatch(program) else {program: None}

    def _behind(self, name: str, argv: Argv, depth: int) -> None:
        """Read the commands that words in doubt stand in: elsewhere these are read without them."""
        for rest in inner(argv).commands:
            self._read(rest, sure=False, hidden=True, depth=depth)
        interpreter = table().interpreters.get(name)
        if name == "eval" or (interpreter and interpreter.shell):
            for word in argv[1:]:
                text = word[1:].strip('"') if word.startswith(DOUBT) else ""
                for command in read_script(text, {}).commands:
                    for inside in self._known.argvs(command) if command.words else ():
                        if inside:
                            self._read(inside, sure=False, hidden=True, depth=depth)

    def _by_forms(self, name: str, words: Argv, depth: int) -> None:
        """Tell what a known program does with these words."""
        facts = table()
        forms = facts.forms.get(name, ()) if tuple(words) not in _TELLS else ()
        call = CallWords(words, facts.valued.get(name, frozenset()))
        fitting = [(form, skip) for form in forms if (skip := form.fits(call)) >= 0]
        asks_nothing = max((form.weight for form, _ in fitting if not form.effects), default=0)
        doubtful = [one for one in call.operands[:1] if one.startswith(DOUBT)]
        if doubtful and any(form.verbs for form in forms):
            self.tell("untold", f"{name} {doubtful[0][1:]}")
        for form, skip in fitting:
            for effect, designation in form.effects if form.weight >= asks_nothing else ():
                if effect != "as":
                    self._on(effect, designation, call, skip, name)
                elif (place := call.places[skip : skip + 1]) and depth < MOST_NESTED:
                    self._read(words[place[0] :], sure=False, hidden=True, depth=depth + 1)

    def _on(self, effect: str, designation: str, call: CallWords, skip: int, name: str) -> None:
        """Tell an effect with each thing that it is on."""
        operands = call.operands[skip:]
        if designation in FILES:
            self._on_files(effect, designation, call, operands, name)
        elif designation[:1] == "-" or designation[-1:] == "=":
            self._on_values(effect, designation, call)
        elif designation == "host":
            copies = name in _COPIERS
            found = list(hosts(call.words if copies else operands, bare=not copies))
            for subject in found or ([] if copies else [Subject("")]):
                self.tell(effect, subject)
            self.saved |= {basename(one.partition("?")[0]) for one in operands}
        elif designation == "to":
            named = [one for one in operands if one[:1] not in "+@"]  # as `dig` has them
            self.tell(effect, host(named[0]) if named else "")
        elif designation != "alone":
            names = {
                "": "",
                "remote": branches(operands),
                "names": ", ".join(one.removeprefix(DOUBT) for one in operands[:3]),
                "form": " ".join([name, *call.operands[: max(skip, 1)]]).replace(DOUBT, ""),
            }
            self.tell(effect, names[designation])
        elif not call.words:
            self.tell(effect)

    def _on_values(self, effect: str, designation: str, call: CallWords) -> None:
        """Tell an effect with each word that belongs to an option, or stands behind `key=`."""
        if designation[:1] == "-":
            values = list(call.values(designation))
        else:
            begun = (one for one in call.words if one.startswith(designation))
            values = [one.removeprefix(designation) for one in begun]
        if effect in ("network", "sends"):
            for subject in hosts(values, bare=True):
                self.tell(effect, subject)
            return
        values = values or (["."] if designation.endswith("|.") else [])
        for subject in self._scene.files(one for one in values if one != "-"):
            self.tell(effect, subject)
        self.saved |= set(map(basename, values))

    def _on_files(
        self, effect: str, designation: str, call: CallWords, operands: Sequence[str], name: str
    ) -> None:
        chosen = {
            "paths": operands,
            "first": operands[:1],
            "rest": operands[1:],
            "last": operands[-1:] if len(operands) > 1 or BROUGHT in operands else [],
            "before": operands[:-1],
            "find": find_roots(call.words) if designation == "find" else [],
        }[designation]
        if designation == "find":
            for subject in self._scene.files(chosen):
                self.tell(effect, replace(subject, text=f"what is found in {subject.text}"))
            return
        if BROUGHT in operands and designation != "first":
            chosen = [*dict.fromkeys((*chosen, BROUGHT))]
        if name in _COPIERS:
            chosen = [one for one in chosen if not _REMOTE_COPY.fullmatch(one)]
        if not table().kinds[effect].file:
            self.tell(effect, ", ".join(one.removeprefix(DOUBT) for one in chosen[:3]))
            return
        for subject in self._scene.files(one for one in chosen if one != "-"):
            self.tell(effect, subject)

    def _runs_file(self, path: str) -> None:
        """Tell that a file is run: the project's own, or another."""
        self.ran.add(basename(path))
        subject = self._scene.file(path)
        if subject is None:
            self.given = True
        elif subject.where is Where.INSIDE:
            self.tell("runs-project", subject.text)
        else:
            self.tell("runs-outside", subject.text)

    def _interpret(self, one: Interpreter, argv: Argv, depth: int) -> None:
        """Tell what an interpreter runs: a text, a module, a file, or what it reads."""
        words = argv[1:]
        codes = [at for at, word in enumerate(words) if word.partition("=")[0] in one.code]
        module = words.index(one.module) if one.module in words else -1
        first = next((word for word in words if word[:1] != "-"), "")
        call = CallWords(words, one.valued)
        if codes:
            self.given |= any(DOUBT in word for word in words[codes[0] :])
            self.tell("runs-code", one.title)
        elif module >= 0 and words[module + 1 :]:
            runs = words[module + 1 :]
            if table().name_of(runs[0]) and depth < MOST_NESTED:
                self._read(runs, sure=False, hidden=True, depth=depth + 1)
            else:
                server = runs[0] in ("http.server", "smtpd", "pydoc")
                self.tell(
                    "long-running" if server else "runs-project", "" if server else f"-m {runs[0]}"
                )
        elif one.shell and any(
            re.fullmatch(r"-[a-zA-Z]*c[a-zA-Z]*|--command.*", word) for word in words
        ):
            self.given |= any(DOUBT in word for word in words)
        elif one.shell and reads_script(argv):
            self.given = True
        else:
            operands = [word for word in call.operands if word not in one.verbs]
            self._runs_operand(one, operands, words, verb=first in one.verbs)

    def _runs_operand(
        self, one: Interpreter, operands: Sequence[str], words: Sequence[str], *, verb: bool
    ) -> None:
        file = operands[0] if operands else ""
        if file in ("", "-", "/dev/stdin"):
            if not one.shell and (not words or file == "-"):
                self.given = True
                self.tell("runs-code", one.title)
            elif verb:
                self.tell("runs-project")
        elif file.startswith(DOUBT):
            self.given = True
            if not file.startswith(f"{DOUBT}<("):
                self.tell("untold", file[1:])
        elif re.match(r"https?://|npm:|jsr:", file):
            self.tell("runs-downloaded", file)
        else:
            self._runs_file(file)
