"""`python -m tests.prose [PATH…]`: refuse English that has to be read twice.

`rules.toml` has the rules, and what they do not read.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.prose.sources import ROOT, RULES, passages

if TYPE_CHECKING:
    from collections.abc import Iterator

BANNED = {re.compile(pattern, re.IGNORECASE): advice for pattern, advice in RULES["banned"].items()}
KEPT_HELP = Path(ROOT, RULES["kept_help"]).read_text("utf-8")
# Names in code with commas between them are a list already, which is read at a glance.
_NAME = r"CODE(?: \([^()]*\))?"
NAMES = re.compile(rf"{_NAME}(?:, (?:and |or )?{_NAME})+")
END = re.compile(r"(?<=[.!?])[)\"”]?\s+(?=[\"“(]?(?:[A-Z]|crabhook|gRPC))")


def faults(text: str, semicolons: int = 0) -> Iterator[str]:
    """Return what is not plain in a passage, a line for each fault."""
    for sentence in END.split(" ".join(text.split())):
        if sentence in KEPT_HELP or any(kept in sentence for kept in RULES["kept"]):
            continue
        parts = NAMES.sub("CODE", sentence).split(";")
        words = max(len(part.split()) for part in parts)
        commas = max(part.count(",") for part in parts)
        if len(parts) > 1 + semicolons:
            yield f"a semicolon, make two sentences: {sentence}"
        if words > RULES["words"]:
            yield f"{words} words, and {RULES['words']} are read at once: {sentence}"
        if commas > RULES["commas"]:
            yield f"{commas} commas, make a list or more sentences: {sentence}"
        for pattern, advice in BANNED.items():
            if match := pattern.search(sentence):
                yield f'"{match[0]}", {advice}: {sentence}'


def main() -> int:
    """Do what the command line says; 1 where a sentence has a fault."""
    parser = argparse.ArgumentParser(prog="python -m tests.prose", description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path, help="read these files and folders alone")
    wanted = [path.resolve() for path in parser.parse_args().paths] or [ROOT]
    lines = [
        f"{file}:{line}: {fault}"
        for file, line, text, semicolons in passages()
        if any(Path(ROOT, file).is_relative_to(path) for path in wanted)
        for fault in faults(text, semicolons)
    ]
    print(*lines, f"prose: {len(lines)} faults", sep="\n")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
