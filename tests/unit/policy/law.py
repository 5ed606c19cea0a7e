"""A small law to judge by: rules in one line, calls in one line, a machine that is not there."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from crabhook.model.event import Event, ToolCall
from crabhook.policy.context import ODD_NAME, Below, Context, Wanted
from crabhook.policy.evaluate import Policy
from crabhook.policy.matcher import parse_matcher
from crabhook.policy.protected import Protected
from crabhook.policy.rule import Rule, RuleScope, RuleSet, RuleVerdict

PROJECT, HOME = "/work/app", "/home/dev"
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
OPEN = "open"
# A control character in a table stands as its picture.
PICTURES = {0x2400 + code: code for code in range(0x20)} | {0x2424: 0x0A}


def context(
    links: Mapping[str, str] | None = None, now: datetime = NOW, files: Sequence[str] = ()
) -> Context:
    """A machine whose only files are these, and its only links.

    Each link's name, and all below it, leads elsewhere.
    """
    known = dict(links or {})

    def real(path: str) -> str:
        for name, target in known.items():
            if path == name or path.startswith(f"{name}/"):
                return target + path[len(name) :]
        return path

    def below(folder: str, wanted: Wanted) -> Below:
        start = folder.rstrip("/") + "/"
        inside = [one for one in files if one.startswith(start)]
        found = tuple(one for one in inside if any(map(wanted.means, names_to(one, start))))
        return Below(found, odd=any(ODD_NAME.search(one) for one in inside))

    return Context(PROJECT, HOME, now, real, below)


def names_to(path: str, start: str) -> list[str]:
    """Every name on the way to a file from a folder: of folders, and its own."""
    return [path[:at] for at in range(len(start), len(path)) if path[at] == "/"] + [path]


def rule(
    verdict: str, *texts: str, scope: RuleScope | None = None, expires: datetime | None = None
) -> Rule:
    said = RuleVerdict(verdict)
    matchers = tuple(parse_matcher(text, restricts=said.restricts) for text in texts)
    return Rule(said, texts, matchers, scope=scope or RuleScope(), expires=expires)


def policy(*rules: Rule, off: Sequence[str] = ()) -> Policy:
    return Policy([RuleSet(rules)], Protected(off=frozenset(off)))


def allowing(*texts: str) -> Policy:
    return policy(rule("allow", *texts))


def denying(*texts: str) -> Policy:
    """A law that allows what rules can allow, save for these."""
    return policy(
        rule("allow", "Bash", "Read(//**)", "Edit(//**)", "WebFetch"), rule("deny", *texts)
    )


def call(tool: str, cwd: str = PROJECT, platform: str = "claude", **inputs: Any) -> Event:
    return Event(platform, "PreToolUse", "s1", cwd, "default", tool=ToolCall(tool, inputs))


def bash(command: str, cwd: str = PROJECT) -> Event:
    return call("Bash", cwd, command=command)


def verdict(
    law: Policy,
    event: Event,
    links: Mapping[str, str] | None = None,
    files: Sequence[str] = (),
) -> str:
    """What the law says, `OPEN` where it leaves the call to the operator."""
    ruling = law.judge(event, context(links, files=files))
    return OPEN if ruling is None else str(ruling.verdict)


_PROGRAMS = (
    "echo ls cat git sed grep test [ [[ printf read mapfile export declare unset let hash enable "
    "compgen local readonly typeset bash sh cd true : wait exit set shopt f sort xargs timeout env "
    "time command builtin trap eval source kill return shift pushd getopts exec alias head for"
)
ALL_BUT_ZZ = allowing(
    *(f"Bash({name} *)" for name in _PROGRAMS.split()), "Edit(//work/app/**)", "Read(//**)"
)
"""A law that names every program of the lines that it is asked about, save `zz`."""
