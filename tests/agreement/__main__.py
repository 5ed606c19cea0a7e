"""`make agreement`: put every group to the real program and to our rules; keep and print both verdicts."""

from __future__ import annotations

import argparse
import sys

from tests.agreement.asking import ask
from tests.agreement.claudes import UnreadableError
from tests.agreement.page import page
from tests.agreement.pairs import Group, all_groups
from tests.agreement.record import Pair, Record, read_record, write_record
from tests.support import requirements


def told(group: Group, pairs: list[Pair]) -> bool:
    """Say how a group went; whether each difference is named, and nothing else."""
    apart = sum(not pair.agrees for pair in pairs)
    print(f"{group.title}: {len(pairs)} pairs, {apart} apart", flush=True)
    sound = True
    for call, pair in zip(group.calls, pairs, strict=True):
        if pair.agrees == bool(call.differs):
            sound = False
            named = f"named {call.differs!r}" if call.differs else "not named"
            print(f"    {pair.claude} → {pair.ours}, {named}: {call.text!r}")
    return sound


def main() -> int:
    """Run; 0 when every difference is one that is named, and then the record is kept."""
    parser = argparse.ArgumentParser(prog="python -m tests.agreement", description=__doc__)
    parser.add_argument("only", nargs="*", help="ask only groups whose title holds one of these")
    parser.add_argument("--kept", action="store_true", help="ask nobody: print the kept record")
    chosen = parser.parse_args()
    if chosen.kept:
        print(page(read_record(), all_groups()))
        return 0
    if lacks := requirements.missing():
        print("Claude Code cannot run here; missing: " + "; ".join(lacks), file=sys.stderr)
        return 1
    wanted = [
        group
        for group in all_groups()
        if not chosen.only or any(word in group.title for word in chosen.only)
    ]
    pairs: list[Pair] = []
    sound = True
    for group in wanted:
        try:
            asked = list(ask(group))
        except UnreadableError as error:
            print(f"{group.title}: {error}", file=sys.stderr)
            return 1
        sound &= told(group, asked)
        pairs += asked
    if not chosen.only and sound:
        record = Record(requirements.installed_version() or "", pairs)
        write_record(record)
        print(page(record, wanted))
    elif not sound:
        print("Nothing was kept: not every difference is named.", file=sys.stderr)
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
