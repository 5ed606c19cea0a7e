"""Matchers: names with wildcards, and what no matcher may do."""

from crabhook.policy.matcher import InputMatcher, may_become, parse_matcher
from crabhook.policy.paths import Bases, path_pattern
from tests.support.rows import every_row
from tests.unit.policy.law import allowing, bash, call, denying, verdict

BASES = Bases("/home/dev", "/work/app", "/work/app", lambda path: path)


@every_row(
    "glob, pattern, may",
    [
        ("/home/dev/.ss*/a", "~/.ssh", True), ("/w/.e*", ".env", True), ("/w/.en?", ".env", True), ("/w/.[e]nv", ".env", True), ("/w/*", ".env", False),
        ("/w/*.env", ".env", False), ("/w/*", "secret", False), ("/w/s*", "secret", True), ("/w/s*/x", "secret/**", True), ("/w/x*", "secret", False),
        ("/w/s*", "**/secret", True), ("/w/a/s?cret", "**/secret", True), ("/w/x*", "**/secret", False),
        ("/home/*/.ssh", "~/.ssh", False), ("/home/d*/.ssh/a", "~/.ssh", True), ("/w/a*", "a*", False),
    ],
)  # fmt: skip
def test_a_name_with_wildcards_may_become_a_file(glob: str, pattern: str, may: bool) -> None:
    assert bool(may_become(glob, path_pattern(pattern), BASES)) is may


def test_an_input_never_allows() -> None:
    matcher = parse_matcher("Agent(model:opus)", restricts=True)
    assert isinstance(matcher, InputMatcher)
    assert (
        verdict(allowing("Agent(Explore)"), call("Agent", subagent_type="Explore", model="opus"))
        == "allow"
    )


def test_the_same_matcher_that_covers_also_hits() -> None:
    for text, event in [
        ("Bash(ls *)", bash("ls a")), ("Read(./a)", call("Read", file_path="a")), ("Write", call("Write", file_path="a")),
        ("WebFetch(domain:a.org)", call("WebFetch", url="https://a.org")), ("mcp__a__*", call("mcp__a__b")), ("Agent(a)", call("Agent", subagent_type="a")),
    ]:  # fmt: skip
        assert verdict(allowing(text), event) == "allow"
        assert verdict(denying(text), event) == "deny"


def test_a_tool_as_a_whole_does_not_cover_another_that_it_is_used_through() -> None:
    for line in ("ls > /srv/a", "ls > ~/a", 'ls > "$x"'):
        assert verdict(allowing("Bash"), bash(line)) == "open"
        assert verdict(allowing("Bash", "Write"), bash(line)) == "open"
        assert verdict(allowing("Bash", "Edit"), bash(line)) == "open"
    assert verdict(allowing("Bash", "Edit(//srv/**)"), bash("ls > /srv/a")) == "allow"
    assert verdict(allowing("Bash(ls *)"), bash("ls > a")) == "open"
    assert verdict(allowing("Bash(ls *)", "Edit"), bash("ls > a")) == "open"
    assert verdict(allowing("Edit"), call("Edit", file_path="a")) == "allow"
    assert verdict(allowing("Edit"), call("Write", file_path="a")) == "open"
    assert verdict(denying("Edit"), bash("ls > a")) == "deny"
    assert verdict(denying("Read"), call("Write", file_path="a")) == "deny"
