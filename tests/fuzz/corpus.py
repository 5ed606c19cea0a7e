"""The committed inputs: one folder a target, each input a file named by what is in it.

Those in `corpus` are kept for what they reach, and may give way to others that reach the same;
those in `broken` broke a law once, and stay.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
BROKEN = Path(__file__).parent / "broken"


def name_of(data: bytes) -> str:
    """What an input's file is called."""
    return sha256(data).hexdigest()[:16]


def inputs_of(target: str) -> list[bytes]:
    """All committed inputs of a target, those that broke a law first."""
    return [*read(BROKEN / target), *read(CORPUS / target)]


def read(folder: Path) -> list[bytes]:
    """The inputs in a folder, the shortest first, each once."""
    paths = folder.iterdir() if folder.is_dir() else ()
    inputs = {path.read_bytes() for path in paths if path.is_file()}
    return sorted(inputs, key=lambda data: (len(data), data))


def keep(folder: Path, data: bytes) -> Path:
    """Put an input with those of a folder; return where."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name_of(data)
    path.write_bytes(data)
    return path
