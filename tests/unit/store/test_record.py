"""What a record tells: its body as it was written, and nothing where somebody else wrote it."""

from typing import Any

import pytest

from crabhook.store.record import Record

ROW: dict[str, Any] = dict.fromkeys(Record._fields, "")
RECORD = Record(**ROW | {"seq": 1, "card": None, "hash": bytes(32)})


def test_a_body_is_told_as_it_was_written() -> None:
    assert RECORD._replace(body='{"why":"a gap"}').data() == {"why": "a gap"}


@pytest.mark.parametrize("body", ["", "{", "[1]", '"why"', "null", 7, 1.5, None, b"\xff"])
def test_a_body_that_is_no_object_tells_nothing_and_raises_nothing(body: Any) -> None:
    assert RECORD._replace(body=body).data() == {}
