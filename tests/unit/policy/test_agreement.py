"""Our side of `make agreement`: the engine says of every recorded pair what it said when asked."""

import pytest

from tests.agreement.ours import policy_of, we_say
from tests.agreement.page import page
from tests.agreement.pairs import Group, all_groups
from tests.agreement.record import read_record
from tests.agreement.scene import Scene
from tests.support.examples import share
from tests.support.requirements import pinned_version
from tests.support.rows import every_row

RECORD = read_record()
GROUPS = all_groups()

MORE_THAN_CLAUDE = {
    "spelling", "arguments", "the grammar", "folders followed", "standard streams", "wrappers",
    "assignments", "exact rules", "a folder above", "a slash first",
}  # fmt: skip
"""The kinds of difference in which we may give more, each with its reason in docs/reference/rules.md."""


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    laid_out = Scene(tmp_path_factory.mktemp("scene"))
    laid_out.lay_out()
    return laid_out


@pytest.mark.slow
@every_row("turn, group", [*enumerate(GROUPS)])
def test_our_verdict_on_every_pair_is_the_recorded_one(
    turn: int, group: Group, scene: Scene
) -> None:
    policy, wrong = policy_of(group, scene), []
    for call in share(group.calls, turn):
        pair = RECORD.of(group, call)
        told = scene.fill(call.input if pair.input is None else pair.input)
        said = we_say(policy, call.tool, told, scene)
        if said != pair.ours:
            wrong.append(f"{call.text!r} is {said}, not {pair.ours} (Claude Code: {pair.claude})")
    assert not wrong, "\n".join(wrong)


def test_the_record_has_every_pair_and_no_other_of_the_pinned_version() -> None:
    pairs = [(group.title, call.text) for group in GROUPS for call in group.calls]
    assert [(pair.group, pair.call) for pair in RECORD.pairs] == pairs
    assert len(pairs) >= 1000
    assert RECORD.version == pinned_version()


def test_the_printed_tables_have_a_row_for_every_pair_and_every_kind_of_difference() -> None:
    kinds = {call.differs for group in GROUPS for call in group.calls} - {""}
    rows = [line for line in page(RECORD, GROUPS).splitlines() if line.startswith("| ")]
    heads = 2 * (1 + len(GROUPS))
    assert len(rows) == heads + len(kinds) + len(RECORD.pairs)


def test_every_difference_is_named_and_nothing_else() -> None:
    for group in GROUPS:
        for call in group.calls:
            assert RECORD.of(group, call).agrees != bool(call.differs), (group.title, call.text)


def test_we_give_more_than_claude_code_only_where_we_say_why() -> None:
    laxer = {
        call.differs for group in GROUPS for call in group.calls if RECORD.of(group, call).laxer
    }
    assert laxer == MORE_THAN_CLAUDE
