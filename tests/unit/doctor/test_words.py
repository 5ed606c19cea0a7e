"""The table of words and the checks fit each other, whichever finding a machine comes to."""

import ast
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

from crabhook import doctor
from crabhook.data_files import tables
from crabhook.doctor.finding import Status
from tests.support.rows import every_row

FOLDER = Path(doctor.__file__).parent
WORDS = tables(str(FOLDER / "finding.py"), "findings")
LISTED = {(id_, case) for id_, cases in WORDS.items() for case in cases}


def calls() -> Iterator[tuple[ast.Call, set[str]]]:
    """Every call of `make_finding` in the doctor, with the names of all that it fills in."""
    for path in sorted(FOLDER.rglob("*.py")):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef):
                nodes = list(ast.walk(function))
                for node in nodes:
                    if (
                        isinstance(node, ast.Call)
                        and getattr(node.func, "id", "") == "make_finding"
                    ):
                        yield node, given(node, nodes)


def given(call: ast.Call, around: list[ast.AST]) -> set[str]:
    """What a call gives by name, by its figures, and by a dict of the same function."""
    spread = [*call.args[3:], *(one.value for one in call.keywords if one.arg is None)]
    dicts = {one.id for one in spread if isinstance(one, ast.Name)}
    for node in around:
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Dict):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(one, ast.Name) and one.id in dicts for one in targets):
                spread.append(node.value)
    keys = [key for one in spread if isinstance(one, ast.Dict) for key in one.keys if key]
    return {one.arg for one in call.keywords if one.arg}.union(*map(named, keys))


def named(node: ast.expr) -> set[str]:
    """The texts that an argument may be; none where only running tells."""
    if isinstance(node, ast.IfExp):
        return named(node.body) | named(node.orelse)
    value = node.value if isinstance(node, ast.Constant) else None
    return {value} if isinstance(value, str) else set()


def wanted(id_: str, case: str) -> set[str]:
    texts = "".join(WORDS[id_][case].values())
    return {name.partition(".")[0] for _, name, _, _ in Formatter().parse(texts) if name}


def test_every_finding_is_made_with_all_that_its_words_need() -> None:
    told = [(call, named(call.args[0]), named(call.args[1]), filled) for call, filled in calls()]
    assert len(told) > len(WORDS)
    literal = {(id_, case) for _, ids, cases, _ in told for id_ in ids for case in cases}
    assert literal <= LISTED
    for _, ids, cases, filled in told:
        for id_ in ids:
            others = {case for case in WORDS[id_] if (id_, case) not in literal}
            for case in cases or others:
                assert wanted(id_, case) <= filled, (id_, case)


@every_row("id_, case", sorted(LISTED))
def test_the_words_of_a_finding_are_whole(id_: str, case: str) -> None:
    words = WORDS[id_][case]
    (status,) = set(words) - {"means", "advice"}
    assert words[Status(status)]
