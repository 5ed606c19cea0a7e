"""From paths to findings: read all files, tie scripts to their registrations, judge.

Each finding counts once, unless a person has excused it: `# crabhook: ignore[CH003] why`.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from pathlib import Path

from crabhook.datatypes import frozen
from crabhook.lint import discover, rules
from crabhook.lint.configuration import protocols, read
from crabhook.lint.configuration.command import program
from crabhook.lint.python.read import read_python
from crabhook.lint.report import Report, Unread
from crabhook.lint.rules.subjects import RULES, Hook, Run, Setup
from crabhook.lint.script import (
    CannotParseError,
    CannotReadError,
    HookScript,
    LintFinding,
    LintRule,
    Remark,
    SourcePlace,
)
from crabhook.lint.shell import read_shell
from crabhook.platforms.event_table import Protocol

_READERS = {discover.FileKind.PYTHON: read_python, discover.FileKind.SHELL: read_shell}

_COMMENT = re.compile(r"#\s*crabhook:\s*ignore\[(?P<ids>[^\]]*)\](?P<reason>.*)")

MAX_ON_A_FILE = 200  # enough to tell what is wrong


def lint(paths: Sequence[Path], profile: rules.Profile, protocol: Protocol | None = None) -> Report:
    """Check files and folders; `protocol` is their agent, if known.

    Raises nothing because of a file's content, runs nothing and writes nothing.
    """
    linter = _Linter(profile, protocol)
    for path in paths:
        linter.take(path)
    return linter.report()


class _Linter:
    """Holds the files of one run, until all are known."""

    def __init__(self, profile: rules.Profile, protocol: Protocol | None) -> None:
        self._profile = profile
        self._protocol = protocol
        self._report = Report()
        self._files: dict[Path, discover.File] = {}
        self._scripts: dict[Path, HookScript | None] = {}
        self._setups: list[tuple[discover.File, Setup]] = []

    def take(self, path: Path) -> None:
        """Read a named file, or the files in a folder."""
        if os.path.isdir(path):  # noqa: PTH112 - unlike Path's, it raises for no path
            before, whole = len(self._files), path.resolve()
            for inner in discover.files_below(path):
                file = self._read(inner, reported=inner.name in discover.CONFIGURATIONS)
                if file is not None and discover.looks_like_a_hook(file):
                    self._keep(file, in_folder=True)
            read_before = any(key.is_relative_to(whole) for key in self._files)
            if len(self._files) == before and not read_before:
                self._unread(path, "nothing in it looks like a hook or a hook configuration")
        elif (file := self._read(path)) is not None:
            if file.kind is discover.FileKind.OTHER:
                reason = "it is neither Python nor shell nor a JSON or TOML configuration"
                self._unread(path, reason)
            else:
                self._keep(file)

    def _read(self, path: Path, *, reported: bool = True) -> discover.File | None:
        try:
            return discover.read_file(path)
        except CannotReadError as error:
            if reported:
                self._unread(path, str(error))
            return None

    def _unread(self, path: Path, reason: str) -> None:
        self._report.unread.append(Unread(path, reason))

    def _keep(self, file: discover.File, *, in_folder: bool = False) -> None:
        key = file.path.resolve()
        if key in self._files:
            return
        if file.kind in _READERS:
            self._files[key] = file
            return
        root = self._root(file)
        if root is None or (in_folder and not read.registers_hooks(file.path, root)):
            return
        self._files[key] = file
        named = self._protocol or read.protocol_of(file.path, root)
        configuration = read.read_configuration(file.path, root, named)
        self._setups.append((file, Setup(configuration, tuple(self._runs(configuration)))))

    def _root(self, file: discover.File) -> read.SourceValue | None:
        try:
            if file.kind is discover.FileKind.TOML:
                return read.read_toml(file.text)
            by_path = read.protocol_by_path(file.path) or self._protocol
            if by_path is None:
                return read.read_json(file.text)
            return read.read_json(file.text, comments=by_path.comments, commas=by_path.commas)
        except CannotParseError as error:
            self._files[file.path.resolve()] = file
            self._add(file, rules.UNREADABLE_SETUP, Remark(error.place, str(error)))
            return None

    def _runs(self, configuration: read.Configuration) -> Iterator[Run]:
        """Yield the handlers with the scripts that they start."""
        for handler in configuration.handlers:
            started = program(configuration, handler)
            if started is None or started.path is None:
                yield Run(handler, started)
                continue
            try:
                file = discover.read_file(_shown(started.path, configuration.path))
            except CannotReadError:
                yield Run(handler, started, missing=_is_missing(started.path))
                continue
            script = None
            if file.kind in _READERS:
                self._files.setdefault(file.path.resolve(), file)
                script = self._script(file)
            yield Run(handler, started, script, executable=file.executable)

    def _script(self, file: discover.File) -> HookScript | None:
        """Return a script's facts, read once; None, and a finding, if it does not parse."""
        key = file.path.resolve()
        if key not in self._scripts:
            try:
                script = self._scripts[key] = _READERS[file.kind](file.text)
            except CannotParseError as error:
                self._scripts[key] = None
                rule = (
                    rules.UNREAD_SHELL
                    if file.kind is discover.FileKind.SHELL
                    else rules.UNREADABLE_SCRIPT
                )
                self._add(file, rule, Remark(error.place, str(error)))
            else:
                message = "from here on a part of the script was not understood, and not judged"
                self._add(
                    file, rules.UNREAD_SHELL, *(Remark(place, message) for place in script.unread)
                )
        return self._scripts[key]

    def report(self) -> Report:
        """Judge what was read."""
        for file in list(self._files.values()):
            if file.kind in _READERS and (script := self._script(file)) is not None:
                hook = self._hook(file, script)
                for rule, judge in self._profile.scripts.items():
                    self._add(file, RULES[rule], *judge(hook))
        for file, setup in self._setups:
            for rule, check in self._profile.setups.items():
                self._add(file, RULES[rule], *check(setup))
        texts = {file.path: file.text for file in self._files.values()}
        self._report.files = [file.path for file in self._files.values()]
        self._report.findings = counting(self._report.findings, texts)
        return self._report

    def _hook(self, file: discover.File, script: HookScript) -> Hook:
        """Return a script with the agents and events that run it, as far as known."""
        registered = [
            (setup.configuration.protocol, run.handler.event)
            for _, setup in self._setups
            for run in setup.runs
            if run.script is script
        ]
        named = {configuration.name: configuration for configuration, _ in registered}
        protocol = self._protocol
        if protocol is None and named:
            protocol = registered[0][0] if len(named) == 1 else None
        elif protocol is None:
            protocol = read.protocol_by_path(file.path.absolute()) or _spoken(script)
        return Hook(script, protocol, frozenset(event for _, event in registered))

    def _add(self, file: discover.File, rule: LintRule, *remarks: Remark) -> None:
        for remark in remarks:
            self._report.findings.append(LintFinding(file.path, remark.place, rule, remark.message))


def _is_missing(path: Path) -> bool:
    """Whether a path surely leads to nothing, as far as we may look."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        pass
    return False


def _shown(path: Path, beside: Path) -> Path:
    """Return a path for people: relative to here, if the configuration's was."""
    here = Path.cwd()
    relative = not beside.is_absolute() and path.is_relative_to(here)
    return path.relative_to(here) if relative else path


def _spoken(script: HookScript) -> Protocol | None:
    """Return the only agent whose words a script uses; None for none or several."""
    spoken = [protocol for protocol in protocols().values() if protocol.spoken & script.words]
    return spoken[0] if len(spoken) == 1 else None


@frozen
class Suppression:
    """The rules that a line is excused from, and whether it says why: else it does not count."""

    rules: frozenset[str]
    column: int
    reasoned: bool


def suppressions(text: str) -> Mapping[int, Suppression]:
    """Return the suppressions in a text, by line from 1."""
    by_line: dict[int, Suppression] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if "crabhook:" in line and (match := _COMMENT.search(line)):
            ids = frozenset(rule_id.strip() for rule_id in match["ids"].split(","))
            by_line[number] = Suppression(ids, match.start() + 1, bool(match["reason"].strip()))
    return by_line


def counting(findings: Iterable[LintFinding], texts: Mapping[Path, str]) -> list[LintFinding]:
    """Return the findings without an excuse, and a finding for each excuse without a reason.

    `texts` are the files that were read.
    """
    kept, excused = set(findings), set[tuple[Path, int, str]]()
    for path, text in texts.items():
        for line, note in suppressions(text).items():
            if note.reasoned:
                excused |= {(path, line, rule) for rule in note.rules}
            else:
                message = f"it does not say why {', '.join(sorted(note.rules))} is excused"
                kept.add(
                    LintFinding(path, SourcePlace(line, note.column), rules.UNREASONED, message)
                )
    kept = {
        finding
        for finding in kept
        if (finding.path, finding.place.line, finding.rule.id) not in excused
    }
    ordered = sorted(
        kept,
        key=lambda finding: (str(finding.path), finding.place, finding.rule.id, finding.message),
    )
    by_file = groupby(ordered, key=lambda finding: finding.path)
    return [finding for _, of_file in by_file for finding in islice(of_file, MAX_ON_A_FILE)]
