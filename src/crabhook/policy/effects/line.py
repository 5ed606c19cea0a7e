"""What one shell line tells about its own words: variables, functions, names from commands."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise, takewhile
from posixpath import basename

from crabhook.data_files import names
from crabhook.policy.context import all_alternatives
from crabhook.policy.effects.objects import BROUGHT, DOUBT
from crabhook.policy.shell.hidden import Argv
from crabhook.policy.shell.programs import CONTENT_READERS, NAMES_ONLY
from crabhook.policy.shell.script import Flow, Script, ShellWord, SimpleCommand
from crabhook.policy.shell.unfold import spellings
from crabhook.policy.shell.wrappers import read_xargs

SHOWERS = (CONTENT_READERS - NAMES_ONLY) - names(
    "wc md5sum sha1sum sha256sum sha512sum shasum cksum shellcheck actionlint yamllint"
)
MAX_SPELLED = 8
_BEGINS_WITH = re.compile(r'"?\$\{?(\w+)\}?(?=[/"]|$)')
_MKTEMP = re.compile(r'"?\$\(mktemp(?: -d| -t [\w.-]+)*\)"?')
_VARIABLE = re.compile(r"\$\{?(\w+)")
_FUNCTION = re.compile(r"(?:^|[\s;&|{(])(?:function\s+)?([\w.:-]+)\s*\(\s*\)")
_PIPED = re.compile(r"\|&?\s*(?:xargs|parallel)\b(?!.*--?a)")
_BRING = frozenset({"xargs", "parallel"})
_LISTS = re.compile(r"-[rRlniwEFHsI]+|--(?:files-with-matches|recursive|hidden)")
_DROP = {"grep": 1, "egrep": 1, "fgrep": 1, "head": 0, "tail": 0, "sort": 0, "uniq": 0, "find": 99}
_FIND_ACTS = {"-exec", "-execdir", "-ok", "-okdir", "-delete", "-x", "-X", "--exec"}


class LineFacts:
    """What a line tells about its words: variables, functions, names that `find` brings.

    `elsewhere`: hidden commands may run on another machine.
    """

    def __init__(self, text: str, script: Script, outside: Iterable[str]) -> None:
        pairs = pairwise(script.commands)
        self.fed = {after.words for before, after in pairs if before.fed}  # by a pipe
        self._text, self._set = (
            text,
            [assignment for c in script.commands for assignment in c.assignments],
        )
        unsure = {
            assignment.name
            for assignment in self._set
            if assignment.array or not assignment.value.fixed
        }
        self._told = {*outside, *(assignment.name for assignment in self._set)} - unsure
        self.functions = frozenset(_FUNCTION.findall(text)) if "(" in text else frozenset()
        named = [(c, [word.text for word in c.words]) for c in script.commands if c.words]
        self.elsewhere = any(
            basename(texts[0]) in ("ssh", "mosh")
            and (c.hidden or not all(word.fixed for word in c.words))
            for c, texts in named
        )
        self._bringers = [texts for _, texts in named if basename(texts[0]) in _BRING]
        self.stand_ins = frozenset({"{}"} | set(_stand_ins(texts for _, texts in named)))
        finds = [texts for _, texts in named if basename(texts[0]) in ("find", "fd")]
        self.find_acts = any(_FIND_ACTS.intersection(texts) for texts in finds)
        self.find_removes = {("rm", *texts[1:2]) for texts in finds if "-delete" in texts}
        piped = len(self._bringers) == len(_PIPED.findall(text))
        reads = script.inputs or any(
            redirect.flow is not Flow.WRITE for redirect in script.redirects
        )
        fed = [texts for c, texts in named if c.fed or basename(texts[0]) == "find"]
        self.listed = _found(fed) if piped and not reads else ()
        self.found_globs = _found_globs(finds if self.find_acts else fed)
        self.tracked = any(basename(texts[0]) in ("git", "rg") for texts in fed)

    def argvs(self, command: SimpleCommand) -> Iterator[Argv]:
        """Yield the words that a command may come to, those in doubt marked by DOUBT."""
        choices = [tuple(self._texts(word)) for word in command.words]
        most = max(map(len, choices))
        tail = (BROUGHT,) if self._is_brought(command) else ()
        for at in range(min(most, MAX_SPELLED)):
            chosen = (texts[min(at, len(texts) - 1)] for texts in choices)
            yield (*(text for texts in chosen for text in texts), *tail)
        if not command.words[0].fixed:
            yield from map(tuple, islice(spellings(command), MAX_SPELLED))

    def _texts(self, word: ShellWord) -> Iterator[tuple[str, ...]]:
        """Yield the words that a word may become."""
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
            begun = _BEGINS_WITH.match(word.raw)
            if begun and names == [begun[1]] and self._is_temporary(begun[1], word.raw):
                rest = word.raw[begun.end() :].replace('"', "")
                yield (f"/tmp/${begun[1]}{rest}",)  # noqa: S108 - to know it
                return
            sure = names and self._told.issuperset(names) and not re.search(r"\$\(|`", word.raw)
            several = len(names) > 1 and len(word.values) != 2 ** len(names)
            if not sure or several:
                yield (f"{DOUBT}{word.raw}",)
            else:
                values = word.values[:-1] if len(names) == 1 else word.values[:1]
                yield from ((value,) for value in values or word.values)

    def _is_temporary(self, name: str, raw: str) -> bool:
        """Whether a variable has only the output of `mktemp`."""
        values = [assignment.value.raw for assignment in self._set if assignment.name == name]
        only = not re.search(rf"(?<![\w${{-]){name}(?![\w=])", self._text)
        return bool(values) and only and ".." not in raw and all(map(_MKTEMP.fullmatch, values))

    def _is_brought(self, command: SimpleCommand) -> bool:
        """Whether unknown names follow the words of a hidden command."""
        texts = [word.text for word in command.words]
        return command.hidden and any(
            bringer[-len(texts) :] == texts and len(bringer) > len(texts)
            for bringer in self._bringers
        )


def _stand_ins(named: Iterable[Sequence[str]]) -> Iterator[str]:
    for texts in named:
        if basename(texts[0]) == "xargs" and (stand_in := read_xargs(texts)[0]):
            yield stand_in
        elif basename(texts[0]) == "parallel":
            for word, after in pairwise((*texts, "")):
                if word.startswith("-I") and (replaced := word[2:] or after):
                    yield replaced


def _found(fed: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return folders with all names that commands hand on; none if unknown."""
    roots: dict[str, None] = {}
    for texts in fed:
        words = [word for word in texts[1:] if not word.startswith("-")]
        if named := _named_in(basename(texts[0]), texts[1:], words):
            roots |= dict.fromkeys(named)
        elif len(words) > _DROP.get(basename(texts[0]), -1):
            return ()
    return tuple(roots)


def _named_in(name: str, texts: Sequence[str], words: Sequence[str]) -> Sequence[str]:
    """Return folders with all files that this command names; none if unknown."""
    if name == "find":
        return find_roots(texts)
    if name == "ls":
        return () if any("/" in word or word == ".." for word in words) else (".",)
    if name == "git":
        names = texts[:1] in (["ls-files"], ["diff"]) and "--no-index" not in texts
        return (".",) if names and (texts[0] == "ls-files" or "--name-only" in texts) else ()
    options = [option for option in texts if option.startswith("-")]
    lists = all(map(_LISTS.fullmatch, options)) and any("l" in option for option in options)
    deep = name == "rg" or any("r" in option.lower() for option in options)
    return words[1:] or (".",) if name in ("grep", "rg") and lists and deep else ()


def _found_globs(fed: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return globs for all names that a program like `find` hands on; none if unknown."""
    all_globs: list[str] = []
    for texts in fed:
        name, words = (
            basename(texts[0]),
            list(takewhile(lambda text: text not in _FIND_ACTS, texts)),
        )
        globs: list[str] = []
        if name == "find" and not {"-o", "-or", "-not", "!", ","}.intersection(words):
            globs = [after for option, after in pairwise(words) if option in ("-name", "-iname")]
        elif list(texts[:2]) == ["git", "ls-files"] and all(text[:1] != "-" for text in texts[2:]):
            globs = list(texts[2:])
        if not globs and name in ("find", "git", "grep", "rg", "ls"):
            return ()
        all_globs += globs
    return all_alternatives(all_globs)


def find_roots(words: Sequence[str]) -> list[str]:
    """Return the folders that `find` looks in."""
    roots = []
    for word in words:
        if word[:1] in ("-", "(", "!") and word not in ("-H", "-L", "-P"):
            break
        roots += [word] if word[:1] != "-" else []
    return roots or ["."]
