"""Rule files: any text is rules or an error that names its line; a change leaves the rest alone."""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from pathlib import Path

from crabhook.policy.matcher import parse_matcher
from crabhook.policy.rule import Rule, RuleFileError, RuleScope, RuleVerdict
from crabhook.policy.rulefile import read_rules
from crabhook.rulebook.edit import add, written
from crabhook.rulebook.files import RuleFiles, RulesError, read_trusted, write_trusted
from tests.fuzz.folder import own_folder
from tests.fuzz.mutation import words
from tests.fuzz.target import Target
from tests.fuzz.text import text_of
from tests.support.ruled import cut

SAMPLES = Path(__file__).parents[2] / "samples" / "shell"
MOST_CHANGED = 4
"""Rules of one file that are taken out, each by itself."""

NEW = Rule(
    RuleVerdict.DENY,
    ('Bash(rm "x" *)', "Edit(//etc/**)"),
    tuple(parse_matcher(text, restricts=True) for text in ('Bash(rm "x" *)', "Edit(//etc/**)")),
    note='a "note"\n\u202e\\',
    scope=RuleScope(project=("/p",), mode=("plan", "")),
)


def law(data: bytes) -> None:
    """The bytes are the user's own rule file."""
    files = RuleFiles(own_folder())
    files.user.write_bytes(data)
    _trusted(data)
    try:
        rules = files.user_rules().rules
    except RuleFileError as error:
        assert 1 <= error.line <= data.count(b"\n") + 1, error
        return
    for rule in rules:
        _written_and_read(rule)
    _added(files, data, rules)
    for number in range(1, min(len(rules), MOST_CHANGED) + 1):
        _removed(files, data, rules, number)


def _written_and_read(rule: Rule) -> None:
    (again,) = read_rules(written(rule), "again").rules
    was = replace(rule, line=0, origin="", expires=None)
    assert replace(again, line=0, origin="", expires=None) == was
    if rule.expires is not None:
        assert again.expires == rule.expires.replace(microsecond=0)


def _added(files: RuleFiles, data: bytes, rules: tuple[Rule, ...]) -> None:
    try:
        kept = add(files, NEW)
    except (RulesError, RuleFileError):
        assert files.user.read_bytes() == data
        return
    now = files.user.read_bytes()
    assert now.startswith(data)
    assert (kept.texts, kept.note, kept.scope) == (NEW.texts, NEW.note, NEW.scope)
    cut(files, len(rules) + 1)
    assert files.user.read_bytes().rstrip(b"\n") == data.rstrip(b"\n")


def _removed(files: RuleFiles, data: bytes, rules: tuple[Rule, ...], number: int) -> None:
    """One run of bytes is gone and no other; the others are the rules they were."""
    files.user.write_bytes(data)
    try:
        gone = cut(files, number)
    except RulesError:
        assert files.user.read_bytes() == data
        return
    assert gone == rules[number - 1]
    now = files.user.read_bytes()
    assert _alike(data, now) + _alike(data[::-1], now[::-1]) >= len(now)
    others = [*rules[: number - 1], *rules[number:]]
    left = files.user_rules().rules
    assert [replace(one, line=0) for one in left] == [replace(one, line=0) for one in others]


def _alike(one: bytes, other: bytes) -> int:
    """How many bytes two begin with alike."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _trusted(data: bytes) -> None:
    """The list of trusted files, read the same way: what is read is written and read again."""
    try:
        found = read_trusted(text_of(data), "trusted.toml")
    except RuleFileError:
        return
    if all(isinstance(one.folder, str) and isinstance(one.sha256, str) for one in found):
        assert read_trusted(write_trusted(found), "again") == found


WORDS = (
    "[[rule]]", "[rule.scope]", "[[ 'rule' ]]", "rule = []", "unprotect = ['ci']", "verdict = ", '"allow"', '"deny"', '"pass"', '"ask-operator"', "\"ask-agent's-user\"",
    "match = ", '"Bash(ls *)"', '"Bash"', '"Edit(/src/**)"', '"Read(~/x)"', '"WebFetch(domain:a.b)"', '"mcp__s__*"', '"Agent(x)"', "[", "]", ",", "note = ", '"""', "'''", '"', "'",
    "scope = ", "{ project = '/p', mode = 'plan' }", "expires = ", "2027-01-31T00:00:00Z", "2027-01-31", "12:00:00", "0x1F", "nan", "inf", "true", "#", "\n", "\r\n", "=", ".", "\\u202e", "\\ud800", "\\", "\0", "[[trusted]]\nfolder='/p'\nsha256='0'\nlevel='full'\n",
)  # fmt: skip


def seeds() -> list[bytes]:
    """The tables' laws, and a file as people write them."""
    own = f"# mine\nunprotect = ['ci']\n\n{written(NEW)}\n# between\n[[rule]] # x\nverdict = 'allow'\nmatch = 'Bash(ls *)'\nexpires = 2027-01-31T00:00:00Z\n[rule.scope]\nmode = 'plan'\n"
    laws = [path.read_bytes()[:3000] for path in sorted(SAMPLES.glob("*.toml"))]
    return [own.encode(), own.replace("\n", "\r\n").encode(), b"", *laws]


TARGET = Target(law, words.of(WORDS, (('"""', '"""'), ("[", "]"), ("'", "'"))), seeds)
