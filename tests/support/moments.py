"""Every moment a key can be pressed in, possible or not."""

from __future__ import annotations

from itertools import product

from crabhook.ui.moment import Mode, Moment

MOMENTS = [
    Moment(mode, card, waits, form, held)
    for mode in Mode
    for card, waits, form, held in product((False, True), repeat=4)
]
