"""Who imports whom: no two modules import each other in a circle.

Where a change makes a circle, merge the two modules, or move what both need to a third.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"


_IMPORT = re.compile(
    r"^( *)(?:from|import) (crabhook[\w.]*)(?: import (\([^)]*\)|.*))?", re.MULTILINE
)


@cache
def modules() -> Mapping[str, str]:
    """The text of every module that people wrote, by its name, but those that open a package."""
    files = sorted(SOURCE.rglob("*.py"))
    found = {".".join(path.relative_to(SOURCE).with_suffix("").parts): path for path in files}
    return {
        name: path.read_text("utf-8")
        for name, path in found.items()
        if path.name != "__init__.py" and not name.startswith("crabhook.v1.")
    }


def imported(name: str) -> Iterator[str]:
    """What a module imports: for types alone and late as well, but what the hook imports late."""
    for indent, module, names in _IMPORT.findall(modules()[name]):
        if not (indent and name.startswith("crabhook.hook.")):
            yield module
            yield from (f"{module}.{one}" for one in re.findall(r"\w+", names))


@cache
def graph() -> Mapping[str, set[str]]:
    return {name: {*imported(name)} & modules().keys() - {name} for name in modules()}


def circle(of: Mapping[str, set[str]]) -> list[str]:
    """The modules of one circle, in order; none where there is no circle."""
    try:
        TopologicalSorter(of).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circle(graph()) == []


def test_no_pattern_repeats_a_group_possessively() -> None:
    """Python 3.11 before 3.11.5 reads `(…)*+` wrongly, or for ever; `(?>(…)*)` says the same."""
    possessive = re.compile(r"\)(?:[*+?]|\{\d*,?\d*\})\+")
    files = [*SOURCE.rglob("*.py"), *SOURCE.rglob("*.toml")]
    assert {str(file): possessive.findall(file.read_text("utf-8")) for file in files} == {
        str(file): [] for file in files
    }


def test_a_circle_is_found() -> None:
    assert sorted(circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})[1:]) == ["a", "b", "c"]
