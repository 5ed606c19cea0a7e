"""HTML of any text: no element, no attribute and no control letter comes of it."""

from __future__ import annotations

import unicodedata
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.present.safe import safe
from crabhook.ui.web.html import Html, can_be_typed, el, text, typed
from tests.support.rows import every_row

# Any letter, and pieces that mean something to a browser or a terminal.
PIECES = ["<", ">", "&", "&lt;", '"', "'", "</pre>", "<script>", "-->", "]]>", "javascript:", "`"]
HOSTILE = ["\x1b[2J", "\u202e", "\u200b", "\u2066", "\x00", "\r\n", "\t", "\ud800", "\u0301", "⟨"]
TEXTS = st.lists(
    st.one_of(st.text(st.characters(codec=None)), st.sampled_from([*PIECES, *HOSTILE]))
).map("".join)
UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


class Read(HTMLParser):
    """What a reader of HTML finds: the elements with their attributes, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.other: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words += data

    def handle_comment(self, data: str) -> None:
        self.other.append(data)

    handle_decl = handle_pi = unknown_decl = handle_comment


@given(TEXTS)
def test_any_text_is_only_text(words: str) -> None:
    read = Read(el("p", words))
    assert read.elements[0] == ("p", {})
    assert all(element == ("span", {"class": "mark"}) for element in read.elements[1:])
    assert (read.words, read.other) == (safe(words), [])


@given(TEXTS)
def test_any_text_in_an_attribute_is_only_its_value(words: str) -> None:
    read = Read(el("p", title=words, data_card="7"))
    assert read.elements == [("p", {"title": safe(words), "data-card": "7"})]
    assert (read.words, read.other) == ("", [])


@given(TEXTS, st.sampled_from(["textarea", "title", "option"]))
def test_an_element_that_holds_text_alone_has_no_marks_of_its_own(words: str, tag: str) -> None:
    read = Read(el(tag, words))
    assert read.elements == [(tag, {})]
    assert read.words == safe(words)


@given(TEXTS)
def test_no_letter_that_acts_is_left(words: str) -> None:
    page = el("p", words, title=words)
    assert not [letter for letter in page if unicodedata.category(letter) in UNSAFE]


@given(TEXTS)
def test_a_text_to_be_changed_comes_back_as_it_is(words: str) -> None:
    if not can_be_typed(words):
        with pytest.raises(ValueError, match="would change"):
            typed(words)
        return
    read = Read(el("textarea", typed(words)))
    assert read.elements == [("textarea", {})]
    assert read.words == "\n" + words


def test_a_mark_is_apart_from_letters_that_look_like_one() -> None:
    assert text("⟨U+202E⟩") == "⟨U+202E⟩"
    assert text("a\u202eb") == 'a<span class="mark">⟨U+202E⟩</span>b'


def test_html_stays_and_a_text_is_escaped() -> None:
    assert el("p", el("b", "<i>"), "<i>") == "<p><b>&lt;i&gt;</b>&lt;i&gt;</p>"
    assert isinstance(el("p"), Html)


def test_an_attribute_may_have_no_value_or_be_left_out() -> None:
    assert el("input", disabled=True, hidden=False, name=None, max=3) == '<input disabled max="3">'


@every_row(
    "tag, inner, attributes",
    [
        ("style", (), {}),
        ("iframe", (), {}),
        ("object", (), {}),
        ("base", (), {}),
        ("P", (), {}),
        ("p onclick=x", (), {}),
        ("p", (), {"onclick": "x"}),
        ("p", (), {"ONCLICK": "x"}),
        ("p", (), {"style": "color: red"}),
        ("p", (), {"data_x y": "1"}),
        ("p", (), {"data_": "1"}),
        ("button", (), {"formaction": "/x"}),
        ("iframe", (), {"srcdoc": "x"}),
        ("meta", (), {"http_equiv": "refresh"}),
        ("a", (), {"href": "javascript:alert(1)"}),
        ("a", (), {"href": " javascript:alert(1)"}),
        ("a", (), {"href": "https://elsewhere.test/"}),
        ("a", (), {"href": "//elsewhere.test/"}),
        ("a", (), {"href": "/\\elsewhere.test/"}),
        ("a", (), {"href": "/\t/elsewhere.test/"}),
        ("img", (), {"src": "data:text/html,x"}),
        ("script", ("alert(1)",), {}),
        ("script", (Html("alert(1)"),), {}),
        ("br", ("x",), {}),
    ],
)
def test_what_could_run_anything_is_refused(
    tag: str, inner: tuple[str, ...], attributes: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match=r"of ours|leads away|nothing inside"):
        el(tag, *inner, **attributes)


@every_row("place", ["/", "#c12", "/a/desk.0f3a.js", "/card/12?seen=3", "?x=1"])
def test_an_address_is_a_place_of_our_own(place: str) -> None:
    assert el("a", href=place) == f'<a href="{place}"></a>'
