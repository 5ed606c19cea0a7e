"""What a browser reads of HTML: elements, texts, buttons; and what the page posts for a button."""

from __future__ import annotations

from html.parser import HTMLParser
from itertools import count
from typing import Any

from crabhook.ui.web.html import VOID

_TAPS = count(1)


class Element:
    """An element with what is inside."""

    def __init__(self, tag: str, attributes: dict[str, str | None]) -> None:
        self.tag, self.attributes = tag, attributes
        self.inner: list[Element | str] = []

    def get(self, name: str) -> str:
        """Return an attribute, nothing where it is not there."""
        return self.attributes.get(name) or ""

    @property
    def words(self) -> str:
        """All the text inside."""
        return "".join(each if isinstance(each, str) else each.words for each in self.inner)

    def all(self, tag: str = "", **attributes: str) -> list[Element]:
        """Return the elements inside, in their order, that have this tag and these attributes."""
        fitting: list[Element] = []
        for each in self.inner:
            if isinstance(each, Element):
                wanted = {key.rstrip("_").replace("_", "-"): attributes[key] for key in attributes}
                if (not tag or each.tag == tag) and all(
                    value in each.get(key).split() or value == each.get(key)
                    for key, value in wanted.items()
                ):
                    fitting.append(each)
                fitting += each.all(tag, **attributes)
        return fitting

    def one(self, tag: str = "", **attributes: str) -> Element:
        """Return the only such element."""
        (element,) = self.all(tag, **attributes)
        return element

    def without(self, tag: str) -> Element:
        """Return the same without the elements of a tag."""
        rest = Element(self.tag, self.attributes)
        rest.inner = [
            each if isinstance(each, str) else each.without(tag)
            for each in self.inner
            if isinstance(each, str) or each.tag != tag
        ]
        return rest


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open = [Element("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, dict(attrs))
        self.open[-1].inner.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        self.open[-1].inner.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    handle_decl = handle_pi = unknown_decl = handle_comment


def read(html: str) -> Element:
    """Return HTML as elements, all of them closed in their order."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    assert len(reader.open) == 1
    return reader.open[0]


def call_of(button: Element, holder: Element, value: Any = None) -> dict[str, Any]:
    """Return what the page posts for a button, after a second yes; `value` is what was typed."""
    return {
        "id": f"tap-{next(_TAPS)}",
        "at": 1,
        "act": button.get("data-act"),
        "choice": button.get("data-value"),
        "second": button.get("data-second"),
        "value": value,
        "card": int(holder.get("data-card") or 0),
        "seen": int(holder.get("data-seen") or 0),
        "session": holder.get("data-session"),
    }
