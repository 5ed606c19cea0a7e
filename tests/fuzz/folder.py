"""A folder for the targets whose boundary is a file; it goes with the process that made it."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path


@cache
def own_folder() -> Path:
    """This process's folder."""
    folder = tempfile.mkdtemp(prefix="crabhook-fuzz-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)
