"""The house in numbers: how many modules there are, how long they are, and who imports whom.

The bounds are those of issue 13.  Where a change breaks one, merge what belongs together, or move
what two modules need of each other to the one that both may import.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"
MODULES = 300
LINES = 350
FILES = 14
WITH_ONE_IMPORTER = 60
"""Each is a whole concern, or is imported late so that a start costs less; more want a reason."""


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


def test_there_are_no_more_modules_than_a_newcomer_can_learn() -> None:
    assert len(modules()) <= MODULES


def test_no_module_is_longer_than_can_be_read_at_once() -> None:
    long = {name: text.count("\n") for name, text in modules().items()}
    assert {name: count for name, count in long.items() if count > LINES} == {}


def test_no_folder_holds_more_files_than_can_be_looked_over() -> None:
    folders = Counter(name.rpartition(".")[0] for name in modules())
    assert {folder: count for folder, count in folders.items() if count > FILES} == {}


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circle(graph()) == []


def test_a_circle_is_found() -> None:
    assert sorted(circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})[1:]) == ["a", "b", "c"]


def test_modules_with_one_importer_do_not_become_more() -> None:
    importers = defaultdict(set)
    for name, targets in graph().items():
        for target in targets:
            importers[target].add(name)
    assert sum(len(found) == 1 for found in importers.values()) <= WITH_ONE_IMPORTER
