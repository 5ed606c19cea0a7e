"""Rule files of any size: a few rules that decide the recorded calls, among many that do not."""

from collections.abc import Callable, Iterator

# The session whose calls are decided by the rules; every other one's wait.
RULED = "ruled-by-the-bench"

# What the recorded calls of tools need, so that each of them is allowed.
_DECIDING = (
    "Bash(echo *)",
    "Bash(touch *)",
    "Edit(//home/dev/project/**)",
    "Read(//home/dev/project/**)",
    "WebFetch(domain:example.com)",
    "mcp__deploy__release",
    "Agent(general-purpose)",
    "Skill(greet *)",
    "ToolSearch",
)

# Rules as people have them: of every kind, each about something else.
_OTHERS: tuple[Callable[[int], tuple[str, str]], ...] = (
    lambda number: ("allow", f"Bash(tool{number} run *)"),
    lambda number: ("deny", f"Bash(tool{number} publish *)"),
    lambda number: ("allow", f"Edit(/src/module{number}/**)"),
    lambda number: ("deny", f"Read(~/private{number}/**)"),
    lambda number: ("ask-operator", f"WebFetch(domain:host{number}.example.net)"),
    lambda number: ("allow", f"mcp__server{number}__get"),
)


def lawbook(size: int) -> str:
    """Return the text of a file of `size` rules, of which the last decide the session RULED."""
    return "".join(_rules(size - len(_DECIDING), _other))


def crowded_lawbook(size: int) -> str:
    """Return the same, but every other rule begins with the word of the recorded shell line.

    The index finds rules by that word, so it spares none of them: the worst a
    file of rules can be.
    """
    return "".join(_rules(size - len(_DECIDING), lambda n: ("deny", f"Bash(echo word{n} *)")))


def _rules(others: int, other: Callable[[int], tuple[str, str]]) -> Iterator[str]:
    for number in range(others):
        yield _rule(*other(number))
    for matcher in _DECIDING:
        yield _rule("allow", matcher) + f'scope = {{ session = "{RULED}" }}\n'


def _other(number: int) -> tuple[str, str]:
    return _OTHERS[number % len(_OTHERS)](number)


def _rule(verdict: str, matcher: str) -> str:
    return f'[[rule]]\nverdict = "{verdict}"\nmatch = "{matcher}"\n'
