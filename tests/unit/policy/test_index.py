"""The index finds what a look at every rule would."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from crabhook.policy.calls.read import read_call
from crabhook.policy.paths import Bases
from crabhook.policy.rule import Rule
from crabhook.policy.rule_index import Placed, RuleIndex, keys_of
from tests.support.examples import examples
from tests.unit.policy.law import bash, call, context, rule

TEXTS = [
    "Bash",
    "Bash(git *)",
    "Bash(git status)",
    "Bash(ls*)",
    "Bash(* x)",
    "Bash(A=1 git *)",
    'Bash("git" *)',
    "Read(./a)",
    "Edit(a)",
    "Edit",
]
TEXTS += [
    "Read(//work/**)",
    "Edit(./src/*.py)",
    "Read(~/x)",
    "WebFetch(domain:*.a.org)",
    "WebFetch(domain:*)",
    "Edit(*)",
]
TEXTS += [
    "WebFetch(domain:a.org)",
    "mcp__*",
    "mcp__a__b",
    "Agent(a)",
    "Agent(model:b)",
    "Skill(a *)",
    "*",
]
EVENTS = [
    bash("git status"),
    bash("sudo git x"),
    bash("ls a > a; A=1 git x"),
    bash("cat a"),
    call("Read", file_path="a"),
    call("Write", file_path="a"),
]
EVENTS += [
    call("WebFetch", url="https://a.org"),
    call("mcp__a__b"),
    call("Agent", subagent_type="a", model="b"),
    call("Skill", skill="a"),
]
BASES = Bases("/home/dev", "/work/app", "/work/app", lambda path: path)


@examples(40)
@given(st.lists(st.sampled_from(TEXTS), max_size=8), st.sampled_from(EVENTS))
def test_no_rule_that_speaks_of_a_part_is_missed_and_the_order_is_kept(
    texts: list[str], event: object
) -> None:
    rules: Sequence[Rule] = [rule("deny", text) for text in texts]
    placed = [Placed(order, one, "") for order, one in enumerate(rules)]
    found = read_call(event, context())  # type: ignore[arg-type]
    assert found is not None
    for part in found.parts:
        candidates = RuleIndex(placed).candidates(part, keys_of(part))
        hits = [one for one in placed if one.rule.matchers[0].hits(part, BASES)]
        assert [one for one in candidates if one in hits] == hits
        assert [one.order for one in candidates] == sorted({one.order for one in candidates})


def test_a_rule_for_another_command_is_not_even_tried() -> None:
    placed = [Placed(n, rule("deny", f"Bash(tool{n} *)"), "") for n in range(100)]
    found = read_call(bash("tool7 a"), context())
    assert found is not None
    part = found.required[0]
    assert [one.order for one in RuleIndex(placed).candidates(part, keys_of(part))] == [7]
