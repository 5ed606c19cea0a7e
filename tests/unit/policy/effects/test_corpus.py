"""Each call of the corpus has the effects, the level and the words that the manuals tell."""

from crabhook.policy.effects.table import table
from tests.support.rows import every_row
from tests.unit.policy.effects.corpus import Expected, differs, lines, told, tools

LINES, TOOLS = list(lines()), list(tools())


@every_row("expected", [case for _, case in LINES])
def test_a_line_has_the_effects_of_its_programs(expected: Expected) -> None:
    assert differs(expected, told(expected)) == ""


@every_row("expected", [case for _, case in TOOLS])
def test_a_tools_call_has_the_effects_of_the_tool(expected: Expected) -> None:
    assert differs(expected, told(expected)) == ""


def test_the_corpus_is_large_and_tells_every_effect_but_a_few() -> None:
    assert len(LINES) + len(TOOLS) >= 500
    seen = {one.partition("~")[0] for _, case in (*LINES, *TOOLS) for one in case.effects}
    rest = {"listens", "credentials", "deletes-cache", "decodes", "unlooked"}
    assert set(table().kinds) - seen <= rest
