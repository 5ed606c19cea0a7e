"""What the law is: under each rule file, what an allowed line may run.

The judge here knows no shell: it is told a program's name and arguments, after a shell made them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from crabhook.model.event import Event
from crabhook.policy.calls.read import read_call
from crabhook.policy.calls.shell_call import Call
from crabhook.policy.evaluate import Policy
from crabhook.policy.protected import ENTRY_NAMES
from crabhook.policy.shell.read import read_script
from crabhook.policy.shell.unfold import unfold
from tests.fuzz.running.cage import Ran
from tests.unit.policy.law import bash, context, policy, rule

BUILTINS = (
    "test", "[", "[[", "export", "declare", "typeset", "local", "readonly", "unset", "read", "mapfile", "readarray", "let", "hash",
    "enable", "compgen", "complete", "getopts", "set", "shopt", "alias", "cd", "pushd", "popd", "type", "wait", "shift", "return",
    "exit", "break", "continue", "times", "ulimit", "umask", "true", "false", ":",
)  # fmt: skip
_HERE = context()
_LOOKED_THROUGH = frozenset({"timeout", "time", "nice", "nohup", "stdbuf", "noglob", "xargs"})
"""Programs that an allow looks through: what they run is held to the rules in its turn."""
_BY_ZSH = frozenset({"cat", "more"})
"""What zsh runs for a redirect without a command."""
_PLACES = re.compile(r"/(?:usr/)?bin/[^/]+")


@lru_cache(maxsize=4)
def _read(line: str) -> tuple[Event, Call]:
    """Read a line once for all rule files."""
    event = bash(line)
    call = read_call(event, _HERE)
    assert call is not None
    return event, call


def is_troubled(line: str) -> bool:
    """Whether the reader alone keeps every rule from allowing the line: much sooner told."""
    script = read_script(line, {})
    return bool(script.troubles or unfold(line, script, {}).troubles)


def reads(shell: str, line: str) -> bool:
    """Whether the line is one for that shell: a test in `[[` is a program's name to dash."""
    return shell != "dash" or "[[" not in line


@dataclass(frozen=True)
class RuleFile:
    """Rules to judge by, and which programs they speak of.

    `allows` are `Bash(…)` specifiers; none of them stands for all. `denies` are denied, or asked
    about where `asks` is set.
    """

    name: str
    allows: Sequence[str]
    denies: Sequence[str] = ()
    files: Sequence[str] = ("Read(./**)", "Edit(./out/**)")
    asks: bool = False

    def root(self, line: str) -> str:
        """In which of the cage's roots a line that these rules allow is run."""
        if not self.denies:
            return "narrow"
        return "git" if "git" in line else "open"

    @cached_property
    def policy(self) -> Policy:
        allowed = [f"Bash({one})" for one in self.allows] or ["Bash"]
        rules = [rule("allow", *allowed, *self.files)]
        if self.denies:
            against = [f"Bash({one})" for one in self.denies]
            rules.append(rule("ask-operator" if self.asks else "deny", *against))
        return policy(*rules, off=ENTRY_NAMES)  # what is protected would only hide holes

    def allows_line(self, line: str) -> bool:
        """Whether the rules allow the line; raises what the reader raises."""
        event, call = _read(line)
        return self.policy.examine_call(call, event, _HERE).verdict == "allow"

    def broken_by(self, shell: str, ran: Sequence[Ran]) -> list[str]:
        """Return what ran, or was written, and no rule covers, or a rule denies; nothing in order."""
        return list(dict.fromkeys(_told(one) for one in ran if self._is_broken_by(shell, one)))

    def _is_broken_by(self, shell: str, one: Ran) -> bool:
        name, path, foreign, words = one
        if self.denies:
            return any(_is(specifier, name, words) for specifier in self.denies)
        if name == ">" or foreign or not _PLACES.fullmatch(path):
            return True
        if name in _LOOKED_THROUGH or (shell == "zsh" and name in _BY_ZSH and not words):
            return False
        if name == "builtin" and shell == "dash":  # which has no such builtin, nor has any machine
            return False
        return not any(_is(specifier, name, words) for specifier in self.allows)


def _is(specifier: str, name: str, words: Sequence[str]) -> bool:
    """Whether a program with these arguments is what `git commit *` stands for."""
    wanted = specifier.removesuffix(" *").split(" ")
    return [name, *words[: len(wanted) - 1]] == wanted


def _told(one: Ran) -> str:
    name, path, foreign, words = one
    if name == ">":
        return f"wrote {path}"
    by = "" if _PLACES.fullmatch(path) else f" as {path!r}"
    return f"{' '.join([name, *words])[:60]!r}{by}" + (
        f" with {foreign.strip()}" if foreign else ""
    )


_PLAIN = [
    "echo *",
    "ls *",
    "cat *",
    "printf *",
    "sed *",
    "git commit *",
    "git status *",
    "git log *",
]
_DENIED = ["rm *", "zz *", "dd *", "git push *"]
_WIDE = ("Read(//**)", "Edit(./**)")
RULES = (
    RuleFile("builtins", [*_PLAIN, *(f"{name} *" for name in BUILTINS)]),
    RuleFile("guarded", (), _DENIED, _WIDE),
    RuleFile("programs", _PLAIN),
    RuleFile("asking", (), _DENIED, _WIDE, asks=True),
    RuleFile(
        "shells",
        [*_PLAIN, *(f"{name} *" for name in ("bash", "sh", "dash", "csh", "env", "xargs", "timeout", "find", "git", "eval", "trap", ".", "source", "coproc", "exec", "command", "tee"))],
        _DENIED,
        _WIDE,
    ),
)  # fmt: skip
