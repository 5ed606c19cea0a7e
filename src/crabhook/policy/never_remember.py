"""Commands that no rule is made of, and what a rule that allows gives away beside what it says.

The commands are written as rules, and matched as a denial would be: in any
spelling, behind any wrapper.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from posixpath import basename

from crabhook.policy.calls.parts import CommandPart, command_tools
from crabhook.policy.calls.shell_call import Call
from crabhook.policy.command_pattern import CommandPattern, command_pattern
from crabhook.policy.matcher import CommandMatcher, Matcher, ToolMatcher
from crabhook.policy.rule import Rule
from crabhook.policy.shell.read import read_script
from crabhook.policy.shell.unfold import lines, unfold
from crabhook.tables import names, tables
from crabhook.vocabulary import vocabulary

_TABLES = tables(__file__, "never_remember")
_OF_AGENTS = [f"{program} *" for program in vocabulary().programs]
_PATTERNS = tuple(map(command_pattern, (*_TABLES["commands"], *_OF_AGENTS)))
_ANYTHING_GOES = tuple(map(command_pattern, _TABLES["anything_goes"]))
_SHELLS, _INTERPRETERS = names(_TABLES["shells"]), names(_TABLES["interpreters"])
_HELD_BY_EXACTNESS = names(_TABLES["held_by_exactness"])
_OPTIONS: Mapping[str, str] = _TABLES["options"]
_VERSION = "0123456789."


def is_never_remembered(call: Call) -> bool:
    """Whether any command in the call, hidden or not, is one that no rule is made of."""
    commands = (part for part in call.parts if isinstance(part, CommandPart))
    return any(_is_never_line(line) for part in commands for line in part.lines)


def _is_never_line(line: str) -> bool:
    name, _, rest = line.partition(" ")
    plain = name.rstrip(_VERSION)  # python3.12 is python
    if name in _SHELLS or (plain in _INTERPRETERS and rest in ("", "-")):
        return True
    spellings = (line, f"{plain} {rest}") if plain in _INTERPRETERS else (line,)
    return any(pattern.hits_text(one) for one in spellings for pattern in _PATTERNS)


def reaches_never(matcher: Matcher) -> bool:
    """Whether no rule is offered with this matcher: it takes in too much, or nobody can tell.

    A star in the first word may be the end of any name.
    """
    open_name = isinstance(matcher, CommandMatcher) and " " not in matcher.pattern.written.parts[0]
    exact = isinstance(matcher, CommandMatcher) and matcher.pattern.written.exact
    return takes_in_never(matcher) or (open_name and not exact)


def takes_in_never(matcher: Matcher) -> bool:
    """Whether an allow by this matcher would take in some command that no rule is made of.

    `python3 *` has `python3 -c ...` in it, `git log *` nothing of the kind.
    So do arguments left open where these can be any command or any address.
    A command that may have such an option anywhere is not held against it.
    """
    if not isinstance(matcher, CommandMatcher):
        return False
    return any(map(_takes_in_never, patterns_run(matcher.pattern)))


_ANY_WORD = "ANYWORDATALL"  # stands for a pattern's star while the pattern is read as a line
_STAR_LENGTHS = (1, 3)  # words for which a star is tried: `timeout *` may be `timeout 5 rm`


@lru_cache(maxsize=1024)
def patterns_run(pattern: CommandPattern) -> tuple[CommandPattern, ...]:
    """Return the pattern, and a pattern for each command that a command of this kind runs.

    The pattern is read as a shell line, by the reader that a denial uses, so
    `timeout 5 rm *` gives `rm *` too, and `git -C sub push *` gives `git push *`.
    """
    found = {pattern: None}
    first = basename(pattern.written.parts[0].partition(" ")[0])
    if first in _HELD_BY_EXACTNESS and not pattern.exact:
        return (pattern,)  # no command that these run is covered by a star
    for length in _STAR_LENGTHS:
        star = " ".join([_ANY_WORD] * length)
        text = star.join(pattern.written.parts)
        for command in unfold(text, read_script(text, {}), {}).commands:
            for line in lines(command):
                written = line.replace("*", "\\*").replace(_ANY_WORD, "*")
                found[command_pattern(written)] = None
    return tuple(found)


def _takes_in_never(pattern: CommandPattern) -> bool:
    if pattern.written.exact:
        lines = (pattern.written.parts[0], pattern.unquoted.parts[0])
        bare = (re.sub("^[^ ]*/", "", one) for one in lines)
        return pattern.everything or any(map(_is_never_line, bare))
    begins = pattern.written.parts[0]
    name, blank, rest = begins.partition(" ")
    name = basename(name)
    if not blank:
        runs = (*_SHELLS, *_INTERPRETERS)
        return any(one.startswith(name) for one in runs) or _meets_any(name)
    if name in _SHELLS or name.rstrip(_VERSION) in _INTERPRETERS:
        return True
    return name not in _HELD_BY_EXACTNESS and _meets_any(f"{name} {rest}")


def _meets_any(begins: str) -> bool:
    """Whether some text that begins like this fits one of the patterns."""
    fixed = filter(None, (one.written.parts[0] for one in (*_PATTERNS, *_ANYTHING_GOES)))
    return any(begins.startswith(one) or one.startswith(begins) for one in fixed)


def never_made(rule: Rule) -> tuple[str, ...]:
    """Return the matchers of an allow that take in a command of which no rule is offered."""
    if rule.verdict.restricts:
        return ()
    return tuple(
        text
        for text, matcher in rule.pairs
        if takes_in_never(matcher)
        or (isinstance(matcher, ToolMatcher) and any(map(matcher.name.matches, command_tools())))
    )


def options_given(rule: Rule) -> tuple[str, ...]:
    """Return what to know of an allow with a star: options that run something else, in words."""
    if rule.verdict.restricts:
        return ()
    return tuple(dict.fromkeys(said for one in rule.matchers for said in _given(one)))


def misread(rule: Rule) -> tuple[str, ...]:
    """Return, in words, which matchers are read otherwise than their writer is likely to mean."""
    return tuple(
        f"in {text} the `:*` is a colon and any text, since it is not at the end, so it does not "
        f"match `{inside.replace(':*', ' x', 1)}`; for any arguments there write ` *`"
        for text, matcher in rule.pairs
        if isinstance(matcher, CommandMatcher)
        and ":*" in (inside := text.partition("(")[2].removesuffix(")")).removesuffix(":*")
    )


def _given(matcher: Matcher) -> Iterator[str]:
    if not isinstance(matcher, CommandMatcher) or matcher.pattern.exact:
        return
    for pattern in patterns_run(matcher.pattern):
        begins = pattern.written.parts[0]
        for words, options in _OPTIONS.items():
            if begins.startswith(f"{words} "):
                yield (
                    f"with any arguments `{words}` also takes {options}, and so runs something else"
                )
