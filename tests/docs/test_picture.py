"""The picture in README.md is what the screen shows today."""

from xml.etree import ElementTree as ET

from tests.docs.picture import PICTURE, drawn_anywhere


def test_the_picture_is_the_screens_own() -> None:
    drawn = drawn_anywhere()
    assert "".join(ET.fromstring(drawn).itertext()).count("waiting") >= 1
    assert PICTURE.read_text(encoding="utf-8") == drawn, "python -m tests.docs.picture draws it"
