"""The tests mirror the source: whoever opens one finds the other."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "crabhook"
SAYS_NOTHING = {"__init__.py", "__main__.py", "errors.py", "interface.py"}
"""Files that only declare what the files around them do, and are tested with."""

MODULES = [
    path.relative_to(SOURCE)
    for path in sorted(SOURCE.rglob("*.py"))
    if path.name not in SAYS_NOTHING and path.relative_to(SOURCE).parts[0] != "v1"
]


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_every_module_has_its_tests(module: Path) -> None:
    assert (ROOT / "tests" / "unit" / module.parent / f"test_{module.name}").is_file()
