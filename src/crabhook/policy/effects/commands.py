"""The effects of a shell line's commands, by the table, each with its object."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from posixpath import basename

from crabhook.model.card import Where
from crabhook.policy.calls.mentioned_files import STREAMS, Folders, searched
from crabhook.policy.effects import objects
from crabhook.policy.effects.line import SHOWERS, LineFacts, find_roots
from crabhook.policy.effects.table import Aside, CallWords, InterpreterProgram, chosen_words, table
from crabhook.policy.shell.hidden import SHELLS, Argv, Inner, inner, reads_script
from crabhook.policy.shell.read import read_script
from crabhook.policy.shell.script import Flow, ShellWord, SimpleCommand
from crabhook.policy.shell.starting import starts_another

FILES = frozenset({"paths", "first", "rest", "last", "before", "find"})
_TELLS = {("--help",), ("--version",)}
MOST_NESTED = 3
MOST_AWAY = 200  # commands of one line that run elsewhere
_SHELL_WORDS = frozenset(" \t\n;&|<>()$`'\"")
_SYSTEM = re.compile(r"/(?:usr/|usr/local/|opt/homebrew/|opt/local/)?s?bin/[^/]+")
_REMOTE_COPY = re.compile(r"[^/\s]+:.*")
_EVALUATE = frozenset({"eval", "source", "."})
_COPIERS = frozenset({"scp", "rsync", "sftp"})
_NO_COMMAND = re.compile(r"-.*|.*=.*|\W*")


class Reader:
    """Reads the commands of one line.

    `runs_output`: a command runs the output of others. `ran`: files that are run; `fetched`,
    `decoded`: what the line brings from the net, or decodes, for others.
    """

    def __init__(self, facts: LineFacts, scene: objects.Scene) -> None:
        self._known, self._scene = facts, scene
        self.effects: list[tuple[str, objects.Subject]] = []
        self.unknown: dict[str, None] = {}
        self.runs_output, self.decoded = False, False
        self.ran: set[str] = set()
        self.fetched: dict[str, None] = {}
        self.saved: set[str] = set()
        self.searches: dict[objects.Search, None] = {}
        self.away: dict[Argv, str] = {}  # what runs elsewhere, with where that is
        self.own_words: dict[tuple[ShellWord, ...], int] = {}  # of commands that bring such
        self._at, self._command = "", SimpleCommand(())

    def tell(self, name: str, subject: objects.Subject | str = "") -> None:
        """Add an effect and its object."""
        named = objects.Subject(subject) if isinstance(subject, str) else subject
        named = replace(named, at=self._at) if self._at else named
        is_disk = named.device and name in ("writes", "empties", "deletes", "moves")
        self.effects.append(("disk" if is_disk else name, named))

    def read(self, command: SimpleCommand, *, sure: bool, depth: int = 0) -> None:
        """Read a command's effects; `sure`: an unknown name is reported."""
        before = len(self.effects)
        self._command = self._command if self._at else command
        for number, argv in enumerate(dict.fromkeys(self._known.argvs(command))):
            if argv:
                self._read(argv, sure=sure and not number, hidden=command.hidden, depth=depth)
        if command.fed:
            for name, subject in self.effects[before:]:
                self.decoded |= name == "decodes"
                if name == "network":
                    self.fetched[subject.text] = None

    def _read(self, argv: Argv, *, sure: bool, hidden: bool, depth: int = 0) -> None:
        first = argv[0]
        if first.startswith(objects.DOUBT):
            self.runs_output = True
            self.tell("untold", first[1:])
        elif not (hidden and " " in first):  # that is a script, which is read as one beside this
            program, own = basename(first), "/" in first and not _SYSTEM.fullmatch(first)
            if own:
                self._runs_file(first)
            if starts_another(program, argv, apart="rules"):
                self.tell("starts-program", program)
            if name := table().name_of(program):
                self._read_known(name, argv, depth)
            elif sure and not own and program not in self._known.functions:
                self.unknown |= {} if _NO_COMMAND.fullmatch(program) else {program: None}
        if self._at and depth < MOST_NESTED and len(self.away) < MOST_AWAY:
            self._read_behind(argv, depth)

    def _read_known(self, name: str, argv: Argv, depth: int) -> None:
        doubtful = any(objects.DOUBT in word for word in argv[1:])
        self.runs_output |= name in _EVALUATE and doubtful
        if interpreter := table().interpreters.get(name):
            self._interpret(interpreter, argv, depth)
        self._by_forms(name, argv[1:], depth)
        if doubtful and depth < MOST_NESTED:
            self._behind(name, argv, depth + 1)

    def _read_behind(self, argv: Argv, depth: int) -> None:
        """Read what a remote command runs in turn; the line's other commands do not count there."""
        self.away[tuple(argv)] = self._at
        behind = Inner() if basename(argv[0]) in table().carriers else inner(argv)
        for rest in behind.commands:
            self._read(rest, sure=False, hidden=True, depth=depth + 1)
        for text in behind.scripts:
            self._read_script(text, depth + 1)

    def _read_script(self, text: str, depth: int) -> None:
        """Read a script text given to a shell elsewhere."""
        script = read_script(text.replace(objects.DOUBT, ""), {})
        for trouble in script.troubles[:1]:
            self.tell("untold", trouble)
        for command in script.commands:
            if command.words:
                self.read(command, sure=True, depth=depth)
        for redirect in script.redirects:
            if redirect.flow is not Flow.READ and redirect.target.text not in STREAMS:
                self.tell("writes", objects.Subject(redirect.target.text))

    @contextmanager
    def _elsewhere(self, where: str) -> Iterator[None]:
        """Read what runs in another place, where words name no local file."""
        before = self._at, self._scene
        self._at = f"{where} {self._at}".strip()
        self._scene = objects.Scene(self._scene.context, Folders((), sure=False))
        try:
            yield
        finally:
            self._at, self._scene = before

    def _behind(self, name: str, argv: Argv, depth: int) -> None:
        """Read the commands around doubtful words; for other places without these words."""
        for rest in inner(argv).commands:
            self._read(rest, sure=False, hidden=True, depth=depth)
        if name == "eval" or name in SHELLS:
            for word in argv[1:]:
                text = word[1:].strip('"') if word.startswith(objects.DOUBT) else ""
                for command in read_script(text, {}).commands:
                    for inside in self._known.argvs(command) if command.words else ():
                        if inside:
                            self._read(inside, sure=False, hidden=True, depth=depth)

    def _by_forms(self, name: str, words: Argv, depth: int) -> None:
        """Add the effects of a known program with these words."""
        facts = table()
        forms = facts.forms.get(name, ()) if tuple(words) not in _TELLS else ()
        call = CallWords(words, facts.valued.get(name, frozenset()))
        fitting = [(form, skip) for form in forms if (skip := form.fits(call)) >= 0]
        asks_nothing = max((form.weight for form, _ in fitting if not form.effects), default=0)
        doubtful = [operand for operand in call.operands[:1] if operand.startswith(objects.DOUBT)]
        if doubtful and any(form.verbs for form in forms):
            self.tell("untold", f"{name} {doubtful[0][1:]}")
        effects = {effect for form, _ in fitting for effect, _ in form.effects}
        for form, skip in fitting:
            for effect, designation in form.effects if form.weight >= asks_nothing else ():
                if effect in (Aside.READS_ALL, Aside.SEARCHES):
                    if Aside.ONLY_NAMES not in effects:
                        self._searches(effect, designation, call, call.operands[skip:], name)
                elif effect in facts.places:
                    self._runs_at(effect, designation, call, skip, depth)
                elif effect == Aside.AS:
                    if len(call.places) > skip and depth < MOST_NESTED:
                        rest = words[call.places[skip] :]
                        self._read(rest, sure=False, hidden=True, depth=depth + 1)
                elif effect != Aside.ONLY_NAMES:
                    common = effect == "runs-downloaded" and table().is_common(call, skip)
                    self._on("runs-package" if common else effect, designation, call, skip, name)

    def _runs_at(
        self, place: str, designation: str, call: CallWords, skip: int, depth: int
    ) -> None:
        """Read what the rest of the words, or an option's words, run in another place."""
        named, rest = call.operands[skip : skip + 1], call.places[skip : skip + 1]
        own = rest[0] + (designation == "first") if rest else len(call.words)
        words = () if designation[:1] == "-" else list(call.words[own:])
        texts = list(call.values(designation)) if designation[:1] == "-" else []
        if words and words[0][:1] == "-" and "--" in words:  # before which are options of its own
            words = words[words.index("--") + 1 :]
        if not (words or texts) or depth >= MOST_NESTED:
            return
        if words and not self._at and len(self._command.words) == len(call.words) + 1:
            self.own_words[self._command.words] = own + 1
        name = named[0].removeprefix(objects.DOUBT) if named and designation else ""
        name = objects.host(name).text if place == "on-host" else name
        with self._elsewhere(table().places[place].format(name or "another machine")):
            if place == "on-host" and any(set(word) & _SHELL_WORDS for word in words):
                texts.append(" ".join(words))
            elif words:
                self._read(tuple(words), sure=True, hidden=True, depth=depth + 1)
            for text in texts:
                self._read_script(text, depth + 1)

    def _searches(
        self, effect: str, designation: str, call: CallWords, operands: Sequence[str], name: str
    ) -> None:
        """Note folders read with all their content, for a look into them."""
        sort, _, default = designation.partition("|")
        patterned = sort == "rest" and call.brings_pattern(name)
        chosen = chosen_words("paths" if patterned else sort, operands)
        paths = searched(name, (name, *call.words))
        if not chosen and effect == Aside.SEARCHES and self._command.words in self._known.fed:
            return  # it searches its own arguments
        self._search(chosen or [default], paths[1] if paths else (), sure=effect == Aside.READS_ALL)

    def _search(self, words: Iterable[str], globs: tuple[str, ...], *, sure: bool) -> None:
        for word in words if not self._at else ():
            brought = self._scene.is_stand_in(word)
            for name in (self._known.listed or (".",)) if brought else (word,):
                certain = sure and not (brought and (self._known.tracked or not self._known.listed))
                taken = globs or (self._known.found_globs if brought else ())
                for place in self._scene.places(name):
                    self.searches[objects.Search(place.named, taken, certain)] = None

    def _on(self, effect: str, designation: str, call: CallWords, skip: int, name: str) -> None:
        """Add an effect for each of its objects."""
        operands = call.operands[skip:]
        if designation in FILES:
            self._on_files(effect, designation, call, operands, name)
        elif designation[:1] == "-" or designation[-1:] == "=":
            self._on_values(effect, designation, call)
        elif designation == "host":
            copies = name in _COPIERS
            addresses = list(objects.hosts(call.words if copies else operands, bare=not copies))
            for subject in addresses or ([] if copies else [objects.Subject("")]):
                self.tell(effect, subject)
            self.saved |= {basename(operand.partition("?")[0]) for operand in operands}
        elif designation == "to":
            # As `dig` has them.
            named = [operand for operand in operands if operand[:1] not in "+@"]
            self.tell(effect, objects.host(named[0]) if named else "")
        elif designation != "alone":
            names = {
                "": "",
                "remote": objects.branches(operands),
                "names": ", ".join(operand.removeprefix(objects.DOUBT) for operand in operands[:3]),
                "form": " ".join([name, *call.operands[: max(skip, 1)]]).replace(objects.DOUBT, ""),
            }
            self.tell(effect, names[designation])
        elif not call.words:
            self.tell(effect)

    def _on_values(self, effect: str, designation: str, call: CallWords) -> None:
        """Add an effect for each word of an option, or after `key=`."""
        if designation[:1] == "-":
            values = list(call.values(designation))
        else:
            begun = (word for word in call.words if word.startswith(designation))
            values = [word.removeprefix(designation) for word in begun]
        if effect in ("network", "sends"):
            for subject in objects.hosts(values, bare=True):
                self.tell(effect, subject)
            return
        values = values or (["."] if designation.endswith("|.") else [])
        for subject in self._scene.files(value for value in values if value != "-"):
            self.tell(effect, subject)
        self.saved |= set(map(basename, values))

    def _on_files(
        self, effect: str, designation: str, call: CallWords, operands: Sequence[str], name: str
    ) -> None:
        chosen = (
            find_roots(call.words) if designation == "find" else chosen_words(designation, operands)
        )
        if effect == "reads" and name in SHOWERS:
            self._search(filter(self._scene.is_stand_in, chosen), (), sure=True)
        if designation == "find":
            for subject in self._scene.files(chosen):
                self.tell(effect, replace(subject, text=f"what is found in {subject.text}"))
            return
        if objects.BROUGHT in operands and designation != "first":
            chosen = [*dict.fromkeys((*chosen, objects.BROUGHT))]
        if name in _COPIERS:
            chosen = [name for name in chosen if not _REMOTE_COPY.fullmatch(name)]
        if not table().kinds[effect].file:
            self.tell(effect, ", ".join(name.removeprefix(objects.DOUBT) for name in chosen[:3]))
            return
        for subject in self._scene.files(name for name in chosen if name != "-"):
            self.tell(effect, subject)

    def _runs_file(self, path: str) -> None:
        """Add that a file is run: the project's own, or another."""
        self.ran.add(basename(path))
        subject = self._scene.file(path)
        if subject is None:
            self.runs_output = True
        elif subject.where is Where.INSIDE:
            self.tell("runs-project", subject.text)
        else:
            self.tell("runs-outside", subject.text)

    def _interpret(self, interpreter: InterpreterProgram, argv: Argv, depth: int) -> None:
        """Add what an interpreter runs: a text, a module, a file, or its input."""
        words = argv[1:]
        codes = [at for at, word in enumerate(words) if word.partition("=")[0] in interpreter.code]
        module = words.index(interpreter.module) if interpreter.module in words else -1
        first = next((word for word in words if word[:1] != "-"), "")
        call = CallWords(words, interpreter.valued)
        if codes:
            self.runs_output |= any(objects.DOUBT in word for word in words[codes[0] :])
            self.tell("runs-code", interpreter.title)
        elif module >= 0 and words[module + 1 :]:
            runs = words[module + 1 :]
            if table().name_of(runs[0]) and depth < MOST_NESTED:
                self._read(runs, sure=False, hidden=True, depth=depth + 1)
            elif runs[0] in ("http.server", "smtpd", "pydoc"):
                self.tell("long-running")
            elif runs[0] not in table().modules:
                self.tell("runs-project", f"-m {runs[0]}")
        elif interpreter.shell and any(
            re.fullmatch(r"-[a-zA-Z]*c[a-zA-Z]*|--command.*", word) for word in words
        ):
            self.runs_output |= any(objects.DOUBT in word for word in words)
        elif interpreter.shell and reads_script(argv):
            self.runs_output = True
        else:
            operands = [word for word in call.operands if word not in interpreter.verbs]
            self._runs_operand(interpreter, operands, words, verb=first in interpreter.verbs)

    def _runs_operand(
        self,
        interpreter: InterpreterProgram,
        operands: Sequence[str],
        words: Sequence[str],
        *,
        verb: bool,
    ) -> None:
        file = operands[0] if operands else ""
        if file in ("", "-", "/dev/stdin"):
            if not interpreter.shell and (not words or file == "-"):
                self.runs_output = True
                self.tell("runs-code", interpreter.title)
            elif verb:
                self.tell("runs-project")
        elif file.startswith(objects.DOUBT):
            self.runs_output = True
            if not file.startswith(f"{objects.DOUBT}<("):
                self.tell("untold", file[1:])
        elif re.match(r"https?://|npm:|jsr:", file):
            self.tell("runs-downloaded", file)
        else:
            self._runs_file(file)
