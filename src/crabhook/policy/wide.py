"""What a rule that allows gives away beside what its text says: told before it is written."""

from collections.abc import Iterator

from crabhook.policy.matcher import CommandMatcher, Matcher, ToolMatcher
from crabhook.policy.never import patterns_run, takes_in_never
from crabhook.policy.rule import Rule
from crabhook.policy.tools import command_tools

# By the words a command begins with: options that name a shell, a program, or another folder
# whose settings name programs.  A rule whose star stands behind those words takes them in.
_OPTIONS = {
    "ant": "-f",
    "awk": "system() in its program",
    "bun": "--cwd",
    "bundle": "--gemfile",
    "cargo": "--config, --manifest-path",
    "cmake": "-P, -E",
    "composer": "--working-dir",
    "deno": "--config",
    "docker compose": "-f",
    "dotnet": "a project elsewhere",
    "eslint": "--config, --resolve-plugins-relative-to",
    "git archive": "--exec",
    "git clone": "--upload-pack, --config",
    "git difftool": "--extcmd",
    "git fetch": "--upload-pack",
    "git grep": "--open-files-in-pager",
    "git ls-remote": "--upload-pack",
    "git pull": "--upload-pack",
    "go": "-C, -exec, -toolexec",
    "gradle": "-p, -I",
    "jest": "--config, --rootDir",
    "just": "--shell, -f",
    "make": "-C, -f, SHELL=",
    "mvn": "-f",
    "mypy": "--config-file",
    "ninja": "-C",
    "nox": "-f",
    "npm": "--script-shell, --prefix",
    "pip": "an address or a folder to install from",
    "pnpm": "--script-shell, --dir",
    "prettier": "--plugin, --config",
    "pytest": "-c, -p, --rootdir",
    "rake": "-f",
    "rg": "--pre",
    "sed": "the `e` command in its script",
    "sort": "--compress-program",
    "tar": "--to-command, --use-compress-program",
    "terraform": "-chdir",
    "tox": "-c",
    "vitest": "--config, --root",
    "yarn": "--cwd",
    "zip": "--unzip-command",
}


def never_made(rule: Rule) -> tuple[str, ...]:
    """Return the matchers of an allow that take in a command of which no rule is offered."""
    if rule.verdict.restricts:
        return ()
    return tuple(text for text, matcher in rule.pairs if _takes_in_never(matcher))


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


def _takes_in_never(matcher: Matcher) -> bool:
    if isinstance(matcher, ToolMatcher):
        return any(map(matcher.name.matches, command_tools()))
    return takes_in_never(matcher)


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
