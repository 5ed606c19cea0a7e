"""Commands that no rule is made of, and what a rule that allows gives away beside what it says.

The commands are written as rules, and matched as a denial would be: in any
spelling, behind any wrapper.
"""

from collections.abc import Iterator
from functools import lru_cache
from posixpath import basename

from crabhook.policy.calls.parts import Call, CommandPart, command_tools
from crabhook.policy.command_pattern import CommandPattern, command_pattern
from crabhook.policy.matcher import CommandMatcher, Matcher, ToolMatcher
from crabhook.policy.rule import Rule
from crabhook.policy.shell.programs import names
from crabhook.policy.shell.read import read_script
from crabhook.policy.shell.unfold import lines, unfold
from crabhook.vocabulary import vocabulary

_PATTERNS = tuple(
    map(
        command_pattern,
        (
            # files lost
            "rm -*", "rm * -*", "rm /*", "rm ~*", "rm *\\**", "shred *", "dd *", "mkfs*",
            "truncate *", "find * -delete*", "find * -exec*", "find * -ok*", "* --delete*",
            "unlink *", "chmod -R *", "chmod *777*", "chown *", "mv * /dev/null",
            # another person, another machine
            "sudo *", "su *", "doas *", "pkexec *", "ssh *", "scp *", "rsync *", "nc *", "ncat *",
            "socat *", "telnet *",
            # work lost, history rewritten, others reached
            "git push *", "git reset --hard*", "git reset * --hard*", "git clean *",
            "git checkout -- *", "git checkout .*", "git restore *", "git branch -D *",
            "git stash drop*", "git stash clear*", "git rebase *", "git filter-branch *",
            "git filter-repo *", "git config *", "git gc *", "git reflog expire*",
            "git update-ref *", "git rm *", "git submodule foreach *", "npm publish *",
            "pnpm publish *", "yarn publish *", "cargo publish *", "twine upload *", "gem push *",
            "docker push *", "docker run *", "docker exec *", "docker system prune*",
            "gh repo delete *", "gh release *", "gh secret *", "gh api *",
            # whole systems
            "kubectl delete *", "kubectl apply *", "kubectl exec *", "helm uninstall *",
            "terraform apply *", "terraform destroy *", "pulumi up *", "pulumi destroy *", "aws *",
            "gcloud *", "az *", "systemctl *", "service *", "launchctl *", "crontab *", "at *",
            "shutdown *", "reboot *", "halt *", "poweroff *", "kill *", "killall *", "pkill *",
            "iptables *", "ufw *", "mount *", "umount *", "useradd *", "usermod *", "passwd *",
            "visudo *", "psql *DROP*", "psql *drop*", "mysql *DROP*", "mysql *drop*",
            "redis-cli *flush*",
            # anything at all
            "eval *", "exec *", "source *", ". *", "trap *", "alias *", "xargs *", "parallel *",
            "env *", "watch *", "setsid *", "nohup *", "python -c *", "python2 -c *",
            "python3 -c *", "node -e *", "node --eval *", "perl -e *", "perl -*e *", "ruby -e *",
            "php -r *", "lua -e *", "deno eval *", "osascript *", "awk *system*", "history *",
            "chsh *", "crabhook *", "base64 -d*",
            "base64 --decode*", "openssl enc*",
            # agents
            *(f"{program} *" for program in vocabulary().programs),
        ),
    )
)  # fmt: skip
# What reads a program from standard input or from its words.
_SHELLS = names("sh bash zsh dash ksh mksh ash fish rbash pwsh powershell")
_INTERPRETERS = names("python python2 python3 node perl ruby php lua deno bun")
# With any arguments at all, these run any command, or send any file anywhere.
_ANYTHING_GOES = tuple(
    map(
        command_pattern,
        (
            "uv run *", "uvx *", "npx *", "npm exec *", "pnpm exec *", "pnpm dlx *", "yarn exec *",
            "yarn dlx *", "bunx *", "bun x *", "poetry run *", "pipx run *",
            "curl *", "wget *",
        ),
    )
)  # fmt: skip
_VERSION = "0123456789."
# What these can run or lose needs a rule without a star anyway.
_HELD_BY_EXACTNESS = names("find watch setsid ionice flock")


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
        return pattern.everything or any(_is_never_line(_bare(one)) for one in lines)
    begins = pattern.written.parts[0]
    name, blank, rest = begins.partition(" ")
    name = basename(name)
    if not blank:
        runs = (*_SHELLS, *_INTERPRETERS)
        return any(one.startswith(name) for one in runs) or _meets_any(name)
    if name in _SHELLS or name.rstrip(_VERSION) in _INTERPRETERS:
        return True
    if name in _HELD_BY_EXACTNESS:
        return False
    return _meets_any(f"{name} {rest}")


def _meets_any(begins: str) -> bool:
    return any(_meet(begins, pattern) for pattern in (*_PATTERNS, *_ANYTHING_GOES))


def _bare(line: str) -> str:
    """Return a command's line with its program's name alone."""
    name, blank, rest = line.partition(" ")
    return f"{basename(name)}{blank}{rest}"


def _meet(begins: str, pattern: CommandPattern) -> bool:
    """Whether some text that begins like this fits the pattern."""
    fixed = pattern.written.parts[0]
    return bool(fixed) and (begins.startswith(fixed) or fixed.startswith(begins))


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
    return tuple(text for text, matcher in rule.pairs if _covers_never(matcher))


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


def _covers_never(matcher: Matcher) -> bool:
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
