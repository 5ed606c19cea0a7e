"""Unsound hooks are refused by name."""

import pytest

from crabhook.install.entries import events_in
from crabhook.model.errors import InstallError
from crabhook.model.json_source import parse


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[]", "the whole file is not an object"),
        ("7", "the whole file is not an object"),
        ('{"hooks": []}', "hooks is not an object"),
        ('{"hooks": null}', "hooks is not an object"),
        ('{"hooks": {"Stop": {}}}', "hooks.Stop is not a list"),
        ('{"hooks": {"Stop": [1]}}', "hooks.Stop[0] is not an object"),
        ('{"hooks": {"Stop": [{"matcher": "x"}]}}', "hooks.Stop[0] has no list of hooks"),
        (
            '{"hooks": {"Stop": [{"hooks": []}, {"hooks": {}}]}}',
            "hooks.Stop[1].hooks is not a list",
        ),
        ('{"hooks": {"Stop": [{"hooks": ["x"]}]}}', "hooks.Stop[0].hooks[0] is not an object"),
    ],
)
def test_an_unsound_shape_is_refused_by_its_key(text: str, complaint: str) -> None:
    with pytest.raises(InstallError) as caught:
        events_in(parse(text))
    assert complaint in str(caught.value)


def test_no_hooks_are_sound() -> None:
    assert events_in(parse("{}")) == ()


def test_sound_hooks_are_found_group_by_group() -> None:
    events = events_in(parse('{"hooks": {"Stop": [{"hooks": [{}]}, {"hooks": []}], "X": []}}'))
    assert [(event.name, len(event.groups)) for event in events] == [("Stop", 2), ("X", 0)]
