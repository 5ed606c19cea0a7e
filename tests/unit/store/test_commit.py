"""A commit ends once, and who asked hears of it, whether it is over already or not."""

import asyncio

import pytest

from crabhook.store.commit import Commit

GONE = OSError("the storage is gone")


@pytest.mark.parametrize("recorded", [True, False])
def test_who_asks_before_the_end_hears_it_then_and_who_asks_later_hears_it_at_once(
    recorded: bool,
) -> None:
    commit, heard = Commit(), list[str]()
    commit.on_end(lambda: heard.append("first"))
    commit.on_end(lambda: heard.append("second"))
    assert (commit.over, heard) == (False, [])
    commit.end(recorded=recorded)
    commit.on_end(lambda: heard.append("third"))
    assert (commit.over, commit.recorded, commit.error) == (True, recorded, None)
    assert heard == ["first", "second", "third"]


@pytest.mark.parametrize("recorded", [True, False])
async def test_awaiting_it_tells_whether_it_is_on_record(recorded: bool) -> None:
    commit = Commit()
    waiting = asyncio.ensure_future(commit.wait())
    await asyncio.sleep(0)
    assert not waiting.done()
    commit.end(recorded=recorded)
    assert await waiting is await Commit.ended(recorded=recorded).wait() is recorded


async def test_awaiting_one_that_was_refused_raises_why() -> None:
    commit = Commit()
    waiting = asyncio.ensure_future(commit.wait())
    await asyncio.sleep(0)
    commit.refuse(GONE)
    for refused in (waiting, Commit.refused(GONE).wait()):
        with pytest.raises(OSError, match="gone"):
            await refused
    with pytest.raises(OSError, match="gone"):
        commit.checked()
    assert not commit.recorded
