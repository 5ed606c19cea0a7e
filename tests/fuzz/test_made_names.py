"""No line that rules allow opens a secret or a protected place by a name that the line made."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from tests.fuzz.running import names
from tests.support.examples import part, share

SEED, LINES = 29, 800


@pytest.fixture
def home(caged: None, tmp_path: Path) -> names.Home:
    return names.Home(tmp_path)


@pytest.mark.process
def test_no_allowed_line_opens_a_secret_or_protected_place_by_a_name_that_it_made(
    home: names.Home,
) -> None:
    draw, pairs, holes = random.Random(SEED), list(names.pairs()), list[str]()
    for _ in range(part(LINES)):
        maker, user = draw.choice(pairs)
        line = names.together(draw.choice(names.WAYS), maker, user)
        allowed = home.allows(names.NARROW, line)
        # Under `Bash` what runs code may open any file itself, without a name.
        allowed |= maker in names.LINK_MAKERS and home.allows(names.WIDE, line)
        if allowed and (broken := home.broken_by(line)):
            holes.append(f"{line!r}: {broken}")
    assert not holes, "\n".join(holes)


@pytest.mark.process
def test_a_maker_and_a_user_of_each_kind_are_seen_to_break_the_law_when_they_run(
    home: names.Home,
) -> None:
    harmless = [
        line
        for line in share(
            [
                *(f"{maker} && cat n" for maker in names.LINK_MAKERS[::5] + names.CODE_MAKERS[::4]),
                *(f"tar xf k.tar && {user}" for user in names.READERS[::15] + names.WRITERS[::12]),
            ],
            0,
        )
        if names.is_here(line) and not home.broken_by(line)
    ]
    assert not harmless, harmless


@pytest.mark.process
def test_a_line_that_uses_a_name_before_it_is_made_is_allowed(home: names.Home) -> None:
    for line in ("cat mine && git apply k.patch", "git apply k.patch && ls", "mv mine n && cat n"):
        assert home.allows(names.NARROW, line), line
        assert not home.broken_by(line), line


def test_every_way_has_a_maker_and_a_user() -> None:
    for way in names.WAYS:
        line = names.together(way, "maker -m", "user -u")
        assert "maker -m" in line
        assert "user -u" in line
        assert not re.search(r"\b[MU]\b", line)
