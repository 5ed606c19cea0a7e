"""The tests mirror the source: whoever opens a module finds what tests it beside its twin.

A module has a test file of its own name, or is named in another file of the
mirrored folder, or is a part of something that is tested as a whole; those are
listed here.
"""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "crabhook"
SAYS_NOTHING = {"__init__.py", "__main__.py", "errors.py", "interface.py"}
"""Files that only declare what the files around them do, and are tested with."""

PARTS = {
    "policy/shell/arithmetic.py": "variables",
    "policy/shell/compound.py": "read",
    "policy/shell/conditions.py": "builtins",
    "policy/shell/expansion.py": "words",
    "policy/shell/line.py": "read",
    "policy/shell/numbers.py": "variables",
    "store/assigned.py": "redact",
    "store/context.py": "redact",
    "store/fingerprint.py": "redact",
    "store/references.py": "redact",
    "store/shape.py": "redact",
    "store/vendors.py": "redact",
    "store/files.py": "sqlite",
    "store/lock.py": "sqlite",
    "store/transaction.py": "sqlite",
    "store/workingtables.py": "sqlite",
    "ui/full/cardview.py": "views_of_cards",
    "ui/full/framed.py": "views_of_cards",
    "ui/full/told.py": "views_of_cards",
    "ui/full/typed.py": "filling",
    "ui/full/noting.py": "plans",
}
"""Parts of a whole: the module, and the name of the test of what it is a part of."""

MODULES = [
    path.relative_to(SOURCE)
    for path in sorted(SOURCE.rglob("*.py"))
    if path.name not in SAYS_NOTHING and path.relative_to(SOURCE).parts[0] != "v1"
]


@cache
def words_of_the_tests_in(folder: Path) -> str:
    """All that the tests of a folder say."""
    tests = sorted((ROOT / "tests" / "unit" / folder).glob("test_*.py"))
    return "\n".join(test.read_text(encoding="utf-8") for test in tests)


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_every_module_has_its_tests(module: Path) -> None:
    name = PARTS.get(module.as_posix(), module.stem)
    own = ROOT / "tests" / "unit" / module.parent / f"test_{name}.py"
    package = ".".join(("crabhook", *module.parent.parts))
    named = (
        rf"\b{re.escape(package)}\.{module.stem}\b"
        rf"|from {re.escape(package)} import [^\n]*\b{module.stem}\b"
    )
    assert own.is_file() or re.search(named, words_of_the_tests_in(module.parent))
