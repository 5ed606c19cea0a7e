"""One group put to both sides, in a folder of its own that is gone afterwards."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tests.agreement.claudes import claude_says
from tests.agreement.ours import policy_of, we_say
from tests.agreement.record import Pair
from tests.agreement.scene import Scene

if TYPE_CHECKING:
    from tests.agreement.pairs import Group


def ask(group: Group) -> Sequence[Pair]:
    """Return both sides' verdicts on each of the group's calls."""
    folder = Path(tempfile.mkdtemp(prefix="crab-", dir="/tmp"))
    try:
        said = claude_says(group, folder)
        scene = Scene(folder)
        policy = policy_of(group, scene)
        pairs = []
        for call, one in zip(group.calls, said, strict=True):
            ours = we_say(policy, call.tool, one.input, scene)
            told = scene.blank(one.input)
            changed = None if told == dict(call.input) else told
            pairs.append(Pair(group.title, call.text, one.verdict, ours, changed))
        return pairs
    finally:
        shutil.rmtree(folder)
