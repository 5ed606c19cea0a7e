"""The tests mirror the packages: what tests a package lies in the folder of tests of that name.

Files inside a package may be merged, split and renamed; their tests are bound
to the package, not to a file of the same name.
"""

import re
from pathlib import Path

from tests.support.rows import every_row

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "crabhook"
UNIT = ROOT / "tests" / "unit"
WITHOUT = {"demo/inputs", "v1"}
"""Folders with data or generated code alone."""
OTHERS = {"bench", "soak"}
"""Folders of tests for what lies outside the package: the benchmark, and the soak in tests/."""


def packages() -> list[str]:
    """Every package with modules that people wrote, as a path below `crabhook`."""
    folders = {path.parent.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py")}
    return sorted(folders - WITHOUT)


def modules(package: str) -> list[str]:
    """The names of a package's modules, but those that only open or start it."""
    names = (path.stem for path in (SOURCE / package).glob("*.py"))
    return sorted(name for name in names if name not in {"__init__", "__main__"})


@every_row("package", [one for one in packages() if modules(one)])
def test_every_package_has_tests_that_import_it_or_the_package_that_speaks_for_it(
    package: str,
) -> None:
    tests = sorted((UNIT / package).rglob("test_*.py"))
    floor = ".".join(("crabhook", *Path(package).parts[:1]))
    imports = re.compile(rf"^\s*(?:from|import) {re.escape(floor)}\b", re.MULTILINE)
    assert any(imports.search(test.read_text(encoding="utf-8")) for test in tests)


def test_every_folder_of_tests_names_a_package() -> None:
    folders = {path.parent.relative_to(UNIT).as_posix() for path in UNIT.rglob("test_*.py")}
    assert folders - OTHERS <= set(packages())
