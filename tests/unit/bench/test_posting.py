"""What a posting makes of the answers it gets."""

from __future__ import annotations

import pytest

from bench.errors import BenchError
from bench.httpclient import Answer
from bench.posting import EACH_ROUND, Posting

ALLOWED = b'{"hookSpecificOutput": {"permissionDecision": "allow"}}'


def test_a_run_of_posts_is_as_long_as_its_middle_one_and_keeps_each() -> None:
    walls = [0.001] * (EACH_ROUND // 2) + [0.002] + [0.009] * (EACH_ROUND // 2)
    left = iter(walls)
    run = Posting("post", lambda _: Answer(ALLOWED, next(left), 0.0005)).run({})
    assert run.wall == 0.002
    assert run.cpu == pytest.approx(0.0005)
    assert run.each == walls


@pytest.mark.parametrize("body", [b"", b"{}", ALLOWED.replace(b"allow", b"deny")])
def test_one_answer_that_is_no_allow_spoils_it(body: bytes) -> None:
    with pytest.raises(BenchError, match="post: answered"):
        Posting("post", lambda _: Answer(body, 0.001, 0.0)).run({})
