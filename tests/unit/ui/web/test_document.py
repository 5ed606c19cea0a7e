"""The documents of the web desk: whole, small, strict, and of one piece with their script."""

import gzip
import json
import re
from html.parser import HTMLParser

import pytest

from crabhook.ui.web.document import assets, document
from crabhook.ui.web.html import Html

DOCUMENTS = ("desk", "enrol")
FIRST_LOAD = 40 << 10  # bytes over the wire
LOADED_FIRST = ("desk.js", "sw.js", "style.css")
VOID = ("br", "hr", "img", "input", "link", "meta")


class Page(HTMLParser):
    """What a browser reads of a document."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def all(self, attribute: str) -> list[str]:
        return [value for _, attrs in self.elements if (value := attrs.get(attribute)) is not None]


def script(name: str = "desk.js") -> str:
    return assets()[name].content.decode()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_is_whole_and_names_each_element_once(name: str) -> None:
    made = document(name)
    page = Page(made)
    assert isinstance(made, Html)
    assert made.startswith("<!doctype html>")
    assert page.open == []
    assert len(page.all("id")) == len(set(page.all("id")))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_runs_and_styles_nothing_inline(name: str) -> None:
    page = Page(document(name))
    scripts = [attrs for tag, attrs in page.elements if tag == "script"]
    assert scripts == [{"src": "/desk.js", "type": "module"}]
    assert not any(tag == "style" for tag, _ in page.elements)
    assert not any(
        key == "style" or key.startswith("on") for _, attrs in page.elements for key in attrs
    )


@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_a_document_loads_is_there(name: str) -> None:
    page = Page(document(name))
    loads = [
        attrs["href"] for tag, attrs in page.elements if tag == "link" and attrs.get("href")
    ] + page.all("src")
    assert {path.removeprefix("/") for path in loads if path} <= set(assets())


@pytest.mark.parametrize("name", DOCUMENTS)
def test_each_field_and_view_has_a_name_for_readers(name: str) -> None:
    page = Page(document(name))
    ids = set(page.all("id"))
    assert set(page.all("aria-labelledby")) <= ids
    assert set(page.all("aria-describedby")) <= ids


def test_the_manifest_names_icons_that_are_there() -> None:
    manifest = json.loads(assets()["manifest.webmanifest"].content)
    icons = {icon["src"].removeprefix("/") for icon in manifest["icons"]}
    assert icons <= set(assets())
    assert manifest["id"] == manifest["start_url"] == "/"


def test_the_worker_keeps_files_that_are_there_and_nothing_of_a_card() -> None:
    listed = re.search(r"const FILES = (\[[^\]]*\])", script("sw.js"))
    assert listed is not None
    files = {path.removeprefix("/") for path in json.loads(listed[1])}
    assert files - {""} <= set(assets())


def test_the_script_finds_every_element_that_it_names() -> None:
    ids = {id_ for name in DOCUMENTS for id_ in Page(document(name)).all("id")}
    wanted = set(re.findall(r'byId\("([a-z-]+)"\)', script()))
    assert wanted
    assert wanted <= ids


def test_html_becomes_elements_in_one_place_alone() -> None:
    text = script()
    sinks = r"innerHTML|outerHTML *=|insertAdjacentHTML|document\.write|parseHTML|setHTML"
    assert re.findall(sinks, text) == ["innerHTML"]
    assert not re.findall(r"\beval\b|new Function|createContextualFragment|\.style\b", text)


def test_the_first_load_is_small() -> None:
    texts = [document("desk").encode(), *(assets()[name].content for name in LOADED_FIRST)]
    assert sum(len(gzip.compress(text, 9)) for text in texts) <= FIRST_LOAD
