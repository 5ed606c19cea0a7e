"""`python -m tests.prose [PATH…]`: refuse English that has to be read twice, where it is new.

`known.toml` says how many sentences of a file break a rule from before the rules. More fail. With
a PATH every sentence of these files is printed, old ones too; `--write` keeps fewer as known.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from tests.prose.sources import ROOT, RULES, passages

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).parent
KNOWN = FOLDER / "known.toml"
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
    """Do what the command line says; 1 where a file has more faults than it had."""
    parser = argparse.ArgumentParser(prog="python -m tests.prose", description=__doc__)
    parser.add_argument("paths", nargs="*", help="print every fault of these files and folders")
    parser.add_argument("--write", action="store_true", help="keep how many faults there are")
    options = parser.parse_args()
    by_file: dict[str, list[str]] = {}
    for file, line, text, semicolons in passages():
        lines = (f"{file}:{line}: {fault}" for fault in faults(text, semicolons))
        by_file.setdefault(file, []).extend(lines)
    counts = Counter({file: len(lines) for file, lines in by_file.items() if lines})
    if options.write:
        rows = (f'"{file}" = {count}\n' for file, count in sorted(counts.items()))
        KNOWN.write_text("# Written by `python -m tests.prose --write`.\n" + "".join(rows), "utf-8")
    known = tomllib.loads(KNOWN.read_text("utf-8"))
    shown = [
        file
        for file, count in sorted(counts.items())
        if (
            options.paths
            and any(Path(ROOT, file).is_relative_to(Path(path).resolve()) for path in options.paths)
        )
        or (not options.paths and count > known.get(file, 0))
    ]
    for file in shown:
        print(*by_file[file], sep="\n")
        print(f"{file}: {counts[file]} faults, {known.get(file, 0)} are known")
    print(f"prose: {counts.total()} faults in {len(counts)} files")
    return 1 if shown and not options.paths else 0


if __name__ == "__main__":
    sys.exit(main())
