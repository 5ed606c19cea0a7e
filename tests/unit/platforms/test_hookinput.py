"""What every dialect asks of an input."""

import json
from typing import Any

import pytest

from crabhook.model.errors import PayloadError
from crabhook.platforms.common import reader
from crabhook.platforms.event_table import EventTable

read_event = reader("toy", EventTable[Any]())


def test_an_input_that_names_its_event_is_read_whole() -> None:
    event = read_event(b'{"hook_event_name": "Stop", "new": [1]}')
    assert (event.name, event.fields["new"]) == ("Stop", [1])


@pytest.mark.parametrize("payload", [b"{}", b'{"hook_event_name": ""}', b'{"hook_event_name": 7}'])
def test_an_input_that_names_none_is_refused(payload: bytes) -> None:
    with pytest.raises(PayloadError, match='no text "hook_event_name"'):
        read_event(payload)


@pytest.mark.parametrize("value", [None, 1, True, [], {}, ["x"]])
def test_a_field_of_another_type_is_empty(value: object) -> None:
    payload = json.dumps({"hook_event_name": "Stop", "cwd": value}).encode()
    assert read_event(payload).cwd == read_event(b'{"hook_event_name": "Stop"}').cwd == ""
