"""The table of words and the checks fit each other, whichever finding a machine comes to."""

import ast
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

from crabhook import doctor
from crabhook.doctor.finding import Status
from crabhook.tables import tables

FOLDER = Path(doctor.__file__).parent
WORDS = tables(str(FOLDER / "finding.py"), "findings")
LISTED = {(id_, case) for id_, cases in WORDS.items() for case in cases}


def calls() -> Iterator[ast.Call]:
    """Every call of `told` in the doctor."""
    for path in sorted(FOLDER.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "told":
                yield node


def named(node: ast.expr) -> set[str]:
    """The texts that an argument may be; none where only running tells."""
    if isinstance(node, ast.IfExp):
        return named(node.body) | named(node.orelse)
    return {node.value} if isinstance(node, ast.Constant) else set()


def given(call: ast.Call) -> set[str]:
    return {keyword.arg for keyword in call.keywords if keyword.arg} - {"mend", "figures"}


def wanted(id_: str, case: str) -> set[str]:
    texts = "".join(WORDS[id_][case].values())
    return {name for _, name, _, _ in Formatter().parse(texts) if name}


def test_every_finding_is_told_with_all_that_its_words_need() -> None:
    told = [(call, named(call.args[0]), named(call.args[1])) for call in calls()]
    assert len(told) > len(WORDS)
    literal = {(id_, case) for _, ids, cases in told for id_ in ids for case in cases}
    assert literal <= LISTED
    for call, ids, cases in told:
        for id_ in ids:
            others = {case for case in WORDS[id_] if (id_, case) not in literal}
            for case in cases or others:
                assert wanted(id_, case) <= given(call), (id_, case)


@pytest.mark.parametrize(("id_", "case"), sorted(LISTED))
def test_the_words_of_a_finding_are_whole(id_: str, case: str) -> None:
    words = WORDS[id_][case]
    assert set(words) <= {"status", "what", "means", "advice"}
    assert Status(words["status"])
    assert words["what"]
