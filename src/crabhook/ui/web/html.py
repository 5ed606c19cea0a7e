"""HTML from values: only in `el` a text becomes HTML.

A text that is no `Html` is escaped, and its letters that act, hide or reorder become the marks of
the terminal, each in `<span class="mark">`. Tags and attributes are those of the tables here: none
can run anything, and an address leads only to a place on our own page.
"""

import html
import re
from collections.abc import Iterable
from itertools import groupby
from typing import TypeAlias

from crabhook.data_files import names
from crabhook.present.safe import TAB, hidden, safe, spelled

Attribute: TypeAlias = str | int | bool | None
"""True is an attribute without a value; False and None leave it out."""


class Html(str):
    """A text that is HTML. Only this module makes one of anything but a constant."""

    __slots__ = ()


NOTHING = Html()
NEWLINE = Html("\n")

VOID = names("br hr img input link meta")
"""The tags of elements with nothing inside, which are not closed."""
_TAGS = VOID | names(
    """
    a article aside b bdi body button code dd del details dialog div dl dt em fieldset figcaption
    figure footer form h1 h2 h3 h4 head header html ins kbd label legend li main nav noscript ol
    option output p pre script section select small span strong summary table tbody td textarea th
    thead time title tr ul
    """
)
_NAMES = names(
    """
    alt autocapitalize autocomplete charset checked class content datetime dir disabled enterkeyhint
    for height hidden href id inputmode lang max maxlength media min minlength multiple name open
    placeholder readonly rel required role rows scope selected sizes spellcheck src step tabindex
    title type value width
    """
)
_OF_A_FAMILY = re.compile("(?:aria|data)-[a-z]+(?:-[a-z0-9]+)*")
# Our own place: a path, a fragment, or a query; "//host" is another server's.
_OWN_PLACE = re.compile(r"(?:/(?![/\\])|#|\?)[\w./#?=&%:-]*", re.ASCII)
_PLACES = frozenset({"href", "src"})


def el(tag: str, *inner: str, **attributes: Attribute) -> Html:
    """Return an element.

    In an attribute's name `_` stands for `-`, and one at its end is left out: `class_`, `data_act`.
    It raises ValueError for a tag or an attribute that is not in our tables.
    """
    if tag not in _TAGS:
        raise ValueError(f"no tag of ours: {tag}")
    if inner and (tag in VOID or tag == "script"):
        raise ValueError(f"{tag} has nothing inside")
    start = "".join(
        _attribute(key.rstrip("_").replace("_", "-"), value)
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if tag in VOID:
        return Html(f"<{tag}{start}>")
    whole = text if tag not in ("textarea", "title", "option") else _words_alone
    return Html(f"<{tag}{start}>{''.join(map(whole, inner))}</{tag}>")


def _attribute(name: str, value: Attribute) -> str:
    if name not in _NAMES and not _OF_A_FAMILY.fullmatch(name):
        raise ValueError(f"no attribute of ours: {name}")
    if value is True:
        return f" {name}"
    if name in _PLACES and not _OWN_PLACE.fullmatch(str(value)):
        raise ValueError(f"{name} leads away from our own page")
    return f' {name}="{html.escape(safe(str(value)))}"'


def text(words: str) -> Html:
    """Return a text on one line, escaped, its marks apart from letters that look like marks."""
    if isinstance(words, Html):
        return words
    if words.isascii() and words.isprintable():
        return Html(html.escape(words))
    pieces = groupby(zip(words, spelled(words), strict=True), lambda pair: pair[0] != pair[1])
    return joined(
        el("span", Html(shown), class_="mark") if is_mark else Html(html.escape(shown))
        for is_mark, shown in (
            (is_mark, "".join(shown for _, shown in pairs)) for is_mark, pairs in pieces
        )
    )


def _words_alone(words: str) -> str:
    """Return the inside of an element that holds no other element."""
    return words if isinstance(words, Html) else html.escape(safe(words))


def joined(pieces: Iterable[Html], between: Html = NOTHING) -> Html:
    """Return pieces of HTML, one behind the other."""
    return Html(between.join(pieces))


def labelled(label: str, field: Html) -> Html:
    """Return what is typed or chosen, below its label."""
    return el("label", el("span", label, class_="label"), field, class_="typed")


def can_be_typed(words: str) -> bool:
    """Whether a field of a form shows a text as it is, and gives it back unchanged."""
    return not hidden(words) and "\r" not in words


def typed(words: str) -> Html:
    """Return a text for a `textarea`, with its own newlines and tabs, to be changed there.

    It raises ValueError where the field would not give it back as it is.
    """
    if not can_be_typed(words):
        raise ValueError("a field of a form would change this text")
    return Html("\n" + html.escape(words))  # a browser leaves out the first newline


def spaced(line: str) -> str:
    """Return a line with blanks in place of tabs."""
    return line.replace("\t", TAB)
