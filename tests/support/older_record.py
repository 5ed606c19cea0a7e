"""Records that earlier commits wrote, copied so that a test can open them."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from time import time

KEPT = Path(__file__).parents[1] / "samples" / "record"
FIRST = KEPT / "73c5562"
"""A record of 79 entries; #21 and #22 wait, and the answer to #20 was not yet received."""


def copied(folder: Path, kept: Path = FIRST) -> Path:
    """Copy a kept record into `folder`, as if its server had been killed a moment ago.

    Only the times of what waits and of the answers are moved; no record is changed.
    """
    shutil.copytree(kept, folder)
    for file in (folder, *folder.iterdir()):
        file.chmod(0o700 if file.is_dir() else 0o600)
    with closing(sqlite3.connect(folder / "record.db")) as database, database:
        (latest,) = database.execute("SELECT max(decided) FROM answer").fetchone()
        later = {"by": time() - latest}
        database.execute("UPDATE answer SET decided = decided + :by", later)
        database.execute(
            "UPDATE waiting SET asked = asked + :by, wait_until = wait_until + :by,"
            " gives_up_at = gives_up_at + :by",
            later,
        )
    return folder
