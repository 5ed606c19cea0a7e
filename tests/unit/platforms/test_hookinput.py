"""What every dialect asks of an input."""

import pytest

from crabhook.model.errors import PayloadError
from crabhook.platforms.dialect import EVENT, read_fields, text


def test_an_input_that_names_its_event_is_read_whole() -> None:
    fields = read_fields(b'{"hook_event_name": "Stop", "new": [1]}')
    assert (text(fields, EVENT), fields["new"]) == ("Stop", [1])


@pytest.mark.parametrize("payload", [b"{}", b'{"hook_event_name": ""}', b'{"hook_event_name": 7}'])
def test_an_input_that_names_none_is_refused(payload: bytes) -> None:
    with pytest.raises(PayloadError, match='no text "hook_event_name"'):
        read_fields(payload)


@pytest.mark.parametrize("value", [None, 1, True, [], {}, ["x"]])
def test_a_field_of_another_type_is_empty(value: object) -> None:
    assert text({"cwd": value}, "cwd") == text({}, "cwd") == ""  # type: ignore[dict-item]
