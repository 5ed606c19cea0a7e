"""Add the rows of `acts.toml` here to the table of acts, then run the checks of it.

This is a process of its own: each list of the program is made of the table when it is imported.
"""

import sys
from pathlib import Path

import pytest

import crabhook
from crabhook.data_files import tables

HERE = Path(__file__).parent


def register() -> None:
    """Put the rows into the table, as if they stood in `desk/acts.toml`."""
    table = tables(str(Path(crabhook.__file__).parent / "desk" / "acts.py"), "acts")
    toy = tables(__file__, "acts")
    table["act"] += toy["act"]
    table["key"] += toy["key"]


if __name__ == "__main__":
    register()
    sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", str(HERE / "checks.py")]))
