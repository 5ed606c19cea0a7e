"""What the nemesis does and when, drawn from one seed."""

from __future__ import annotations

import random

from tests.soak.schedule import Act

CALM_BEFORE, CALM_AFTER = 4.0, 30.0  # seconds of a run without a fault, at its beginning and end
PAUSE = (2.0, 5.0)  # seconds between the end of a fault and the next
FROZEN = 30.0  # seconds for which a server is stopped
CLOCKS = (-3600.0, -90.0, 90.0, 3600.0)

FAULTS = {
    "kill the leader": (1.0, 3.0),
    "kill a standby": (1.0, 3.0),
    "kill both": (0.5, 2.0),
    "freeze the leader": (FROZEN, FROZEN),
    "freeze the leader for a moment": (2.0, 7.0),
    "hand the leader over": (0.5, 2.0),
    "stop the database": (0.2, 3.0),
    "cut off the leader": (3.0, 12.0),
    "cut off the database": (3.0, 9.0),
    "mute the leader towards the database": (3.0, 12.0),
    "mute the database towards the leader": (3.0, 12.0),
    "mute the leader towards the hooks": (2.0, 6.0),
    "cut off the hooks": (2.0, 6.0),
    "cut off the desks": (2.0, 6.0),
    "fill the disk": (2.0, 5.0),
    "move the leader's clock": (3.0, 6.0),
    "move both clocks apart": (3.0, 6.0),
}
"""Every fault, with the bounds of its seconds."""

LONG = ("freeze the leader",)  # of which a run of minutes has a few alone


def drawn(seed: int, minutes: float) -> tuple[Act, ...]:
    """Return the faults of a seed that fit into a length, each kind once before any comes twice."""
    chance = random.Random(f"cluster {seed}")
    left = minutes * 60 - CALM_BEFORE - CALM_AFTER
    acts: list[Act] = []
    deck: list[str] = []
    while True:
        deck = deck or chance.sample(list(FAULTS), len(FAULTS))
        kind = deck.pop()
        after, seconds = chance.uniform(*PAUSE), chance.uniform(*FAULTS[kind])
        amount = chance.choice(CLOCKS) if "clock" in kind else 0.0
        if kind in LONG and minutes < 1.5:
            continue
        left -= after + seconds
        if left < 0:
            return tuple(acts)
        acts.append(Act(kind, round(after, 2), round(seconds, 2), amount))
