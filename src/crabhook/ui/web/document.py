"""The documents of the web desk, and the files that they load.

A document is the same for everybody: it holds nothing of a card, so that a phone may keep it and
open without a server. Its script, `static/desk.js`, fills it.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from crabhook.ui.web.html import NOTHING, Html, el, joined, labelled

_DOCTYPE = Html("<!doctype html>\n")
_KINDS = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}


class PageFile(NamedTuple):
    """A file that a document loads."""

    content: bytes
    content_type: str


@cache
def assets() -> Mapping[str, PageFile]:
    """Return the files that the documents load, by their names."""
    folder = Path(__file__).with_name("static")
    return {
        path.name: PageFile(path.read_bytes(), _KINDS[path.suffix])
        for path in sorted(folder.iterdir())
        if path.suffix in _KINDS
    }


def document(name: str) -> Html:
    """Return a whole document: the `desk`, or the page to `enrol` a device at."""
    title, body = {"desk": ("crabhook", _desk), "enrol": ("Join · crabhook", _enrol)}[name]
    return joined((_DOCTYPE, el("html", _head(title), body(), lang="en", data_page=name)))


def _head(title: str) -> Html:
    width = "width=device-width, initial-scale=1, viewport-fit=cover"
    colours = (("light", "#f7f5f1"), ("dark", "#151312"))
    return el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content=f"{width}, interactive-widget=resizes-content"),
        el("meta", name="color-scheme", content="light dark"),
        *(
            el("meta", name="theme-color", content=colour, media=f"(prefers-color-scheme: {look})")
            for look, colour in colours
        ),
        el("meta", name="apple-mobile-web-app-title", content="crabhook"),
        el("title", title),
        el("link", rel="icon", href="/icon.svg", type="image/svg+xml"),
        el("link", rel="apple-touch-icon", href="/icon-180.png"),
        el("link", rel="manifest", href="/manifest.webmanifest"),
        el("link", rel="stylesheet", href="/style.css"),
        el("script", src="/desk.js", type="module"),
    )


_NO_SCRIPT = "This page needs JavaScript: its passkeys sign what you allow."


def _desk() -> Html:
    return el(
        "body",
        _top(),
        el(
            "main",
            el("noscript", el("p", _NO_SCRIPT, class_="alarm")),
            _sign_in(),
            _queue(),
            _card(),
            _list("sessions", "Sessions", "session-list", "No session is live."),
            _list("history", "History", "history-list", "Nothing has ended yet."),
            _you(),
            id="main",
        ),
        _tabs(),
        el(
            "aside",
            el("ol", id="held", class_="held"),
            el("p", id="told", class_="told", role="status"),
            aria_label="What you did",
        ),
        _second_yes(),
        data_view="start",
    )


def _top() -> Html:
    """Return what stands above all views: where one is, and whether the desk is heard."""
    return el(
        "header",
        el("a", "crabhook", href="#queue", class_="name"),
        el("a", "Waiting", href="#queue", class_="back"),
        el("a", "To the page that decides", href="#queue", id="leads", hidden=True),
        el("p", "", id="heard", class_="heard", role="status"),
        class_="top",
    )


def _tabs() -> Html:
    count = el("span", "0", id="queue-count", class_="count")
    places = (
        ("queue", "Waiting", count),
        ("sessions", "Sessions", NOTHING),
        ("history", "History", NOTHING),
        ("you", "You", NOTHING),
    )
    return el(
        "nav",
        *(
            el("a", el("span", words), more, href=f"#{place}", data_tab=place)
            for place, words, more in places
        ),
        class_="tabs",
        aria_label="Views",
    )


def _view(name: str, title: str, *inner: Html) -> Html:
    return el(
        "section",
        el("h1", title, id=f"{name}-title", tabindex=-1),
        *inner,
        id=name,
        class_="view",
        data_of=name,
        aria_labelledby=f"{name}-title",
    )


def _sign_in() -> Html:
    return _view(
        "sign-in",
        "Your agents wait here",
        el("p", "Sign in with the passkey of this device. A server that restarts asks again."),
        el("button", "Sign in", type="button", id="sign-in-go", class_="main"),
        el("p", "", id="sign-in-said", role="status", class_="said"),
        el(
            "p",
            "No passkey yet? At a desk of your team, run ",
            el("code", "crabhook team invite NAME --web"),
            " and open its code here.",
            class_="dim",
        ),
    )


def _queue() -> Html:
    empty = el(
        "div",
        el("p", "Nothing waits for you."),
        el("p", "Your agents are at work, or at rest.", class_="dim"),
        class_="empty",
    )
    return _view(
        "queue",
        "Waiting",
        el("div", id="desk"),
        _only("queue-list"),
        el("ul", id="queue-list", class_="list", aria_label="What waits"),
        empty,
    )


def _card() -> Html:
    return _view("card", "What is asked", el("div", id="card-place"))


def _only(list_id: str) -> Html:
    """Return what narrows a list to one session; the page shows it where there are several."""
    return el(
        "label",
        el("span", "Session", class_="label"),
        el("select", el("option", "all", value=""), data_list=list_id),
        class_="only",
        hidden=True,
    )


def _list(name: str, title: str, id_: str, empty: str) -> Html:
    return _view(
        name,
        title,
        *((_only(id_),) if name == "history" else ()),
        el("ul", id=id_, class_="list"),
        el("div", el("p", empty, class_="dim"), class_="empty"),
    )


_UNTRIED = (
    "No test of ours runs on an iPhone or through Apple's, Google's and Microsoft's push services. "
    "So send a test, and see that it comes."
)


def _you() -> Html:
    return _view(
        "you",
        "You",
        el("p", "", id="you-are"),
        el("h2", "When something waits"),
        el("p", "A notice says that a call waits, and where: never what it is.", class_="dim"),
        el("p", _UNTRIED, class_="dim"),
        el(
            "div",
            el("button", "Tell me on this device", type="button", id="push-on"),
            el("button", "Send a test", type="button", id="push-test", hidden=True),
            el("button", "No more notices here", type="button", id="push-off", hidden=True),
            class_="row",
        ),
        el("p", "", id="push-said", role="status", class_="said"),
        el("ul", id="push-devices", class_="facts", aria_label="Devices that are called"),
        el("h2", "This device"),
        el("button", "Sign out", type="button", id="sign-out"),
        el("h2", "Keys"),
        el("dl", *(part for key, does in _KEYS for part in _key(key, does)), class_="fields"),
    )


_KEYS = (
    ("j, k", "the next card of the list, and the card before"),
    ("a", "allow, answer or accept the card that has the focus"),
    ("d", "deny it"),
    ("Esc", "back to the list"),
)


def _key(key: str, does: str) -> tuple[Html, Html]:
    return el("dt", el("kbd", key)), el("dd", does)


def _second_yes() -> Html:
    """Return the dialog that names an effect, and wants a second yes to it."""
    return el(
        "dialog",
        el("h2", "This needs a second yes", id="second-title"),
        el("p", "", id="second-effect", class_="effect"),
        el(
            "div",
            el("button", "No, go back", type="button", id="second-no"),
            el("button", "Yes", type="button", id="second-yes", class_="danger"),
            class_="row",
        ),
        id="second",
        aria_labelledby="second-title",
        aria_describedby="second-effect",
    )


def _enrol() -> Html:
    return el(
        "body",
        el("header", el("a", "crabhook", href="/", class_="name"), class_="top"),
        el(
            "main",
            el("noscript", el("p", _NO_SCRIPT, class_="alarm")),
            _view(
                "enrol",
                "Join the team",
                el("p", "", id="enrol-who"),
                labelled(
                    "Name of this device",
                    el("input", id="enrol-device", type="text", maxlength=64, autocomplete="off"),
                ),
                el("button", "Make a passkey", type="button", id="enrol-make", class_="main"),
                el("p", "", id="enrol-said", role="status", class_="said"),
                el("ol", id="enrol-words", class_="words-of-six", hidden=True),
            ),
            id="main",
        ),
        data_view="enrol",
    )
