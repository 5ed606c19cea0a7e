"""Some groups of `make agreement`, put to the real Claude Code on every run of the tests."""

from __future__ import annotations

import asyncio

import pytest

from tests.agreement.asking import ask
from tests.agreement.pairs import all_groups
from tests.agreement.record import read_record
from tests.support import requirements

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

GROUPS = {group.title: group for group in all_groups()}


@pytest.mark.parametrize(
    "title",
    [
        "a star in the middle, or first",
        "deny before ask before allow",
        "redirects where rules allow files",
        "allowed commands that name files: which rules release them",
        "reads: what is denied",
        "servers and their tools",
        "addresses",
    ],
)
async def test_both_sides_decide_as_the_page_says(title: str) -> None:
    requirements.insist()
    group, record = GROUPS[title], read_record()
    kept = [record.of(group, call) for call in group.calls]
    assert list(await asyncio.to_thread(ask, group)) == kept
