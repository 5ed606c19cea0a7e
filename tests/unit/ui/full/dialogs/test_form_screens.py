"""What an operator sees of a form, letter by letter, as it is answered by enter alone."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from crabhook.present.safe import safe
from crabhook.ui.full.panes.help import empty_lines
from crabhook.ui.options import PageToOpen
from crabhook.ui.text.layout import Detail, Sheet
from crabhook.ui.text.width import own_ascii, safe_ascii
from crabhook.ui.web.qr import qr_lines
from tests.support.sitting import QUESTIONS, Sitting

if TYPE_CHECKING:
    from crabhook.ui.text.layout import Line


def shown(lines: list[Line]) -> str:
    return "\n".join("".join(text for _, text in line).rstrip() for line in lines)


def body(sitting: Sitting, rows: int, *, ascii_alone: bool = False) -> str:
    """Return the first rows of what the large part of the screen shows, and what enter does."""
    view, content = Detail(), sitting.content()
    assert content is not None
    view.show(content)
    text = shown(view.rows(Sheet(60, safe_ascii if ascii_alone else safe), rows))
    return f"{own_ascii(text) if ascii_alone else text}\n[{sitting.top.enters}]"


def asked() -> Sitting:
    sitting = Sitting(take_back_ms=0)
    sitting.ask("AskUserQuestion", QUESTIONS)
    sitting.wait()
    return sitting


FIRST = """\
 Which library?
 choose one
▸( ) 1 msgspec   fast
 ( ) 2 pydantic
     o own words…
     t note…
[choose, next question]"""
SECOND = """\
 Which features?
 choose one or more
 [ ] 1 Retry
▸[ ] 2 Red, green
      preview
      │ a picture
 [ ] 3 Cache
     o own words…
[choose]"""
CHOSEN = """\
 Which features?
 choose one or more
 [ ] 1 Retry
▸[x] 2 Red, green
      preview
      │ a picture
 [ ] 3 Cache
     o own words…
[review]"""
REVIEW = """\
 these answers will be sent:
 (1) Which library?
      msgspec
 (2) Which features?
      "Red, green"
[]"""
PLAIN = """\
 Which library?
 choose one
>( ) 1 msgspec   fast
 ( ) 2 pydantic
     o own words~
     t note~
[choose, next question]"""
EMPTY = """\

   Nothing needs you

   connect an agent  crabhook install claude  (or codex, copilot and 3 more)
   try it            crabhook demo  an agent that is a script
   leave             q  or Ctrl-C twice
   today             nothing was decided yet"""


def test_a_form_answered_by_enter_alone_looks_so() -> None:
    sitting = asked()
    assert body(sitting, 6) == FIRST
    sitting.press("enter")
    sitting.press("down")
    assert body(sitting, 8) == SECOND
    sitting.press("enter")
    assert body(sitting, 8) == CHOSEN
    sitting.press("enter")
    assert body(sitting, 6) == REVIEW


def test_a_form_in_ascii_looks_so() -> None:
    assert body(asked(), 6, ascii_alone=True) == PLAIN


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_an_empty_desk_looks_so(columns: int) -> None:
    sitting = Sitting(columns=columns)
    assert shown(empty_lines(sitting.screen, columns, 40)) == EMPTY
    assert "Nothing needs you" in sitting.text()
    assert "crabhook install" in sitting.text()


CODE = tuple(qr_lines("https://desk.example"))
PAGE = PageToOpen(
    "https://desk.example", ("Nobody is in yet: `crabhook team invite` lets in.",), CODE
)


def test_an_empty_desk_shows_the_page_and_its_code_where_all_of_it_has_room() -> None:
    high, low = (Sitting(columns=80, rows=rows, page=PAGE).text() for rows in (50, 24))
    for text in (high, low):
        assert "the page          https://desk.example" in text
        assert "lets in" in text
    assert all(f"   {row}".rstrip() in high for row in CODE)
    assert not any(row in low for row in CODE[2:-2])
    assert re.search(r"With \d+ rows more there is a code for a phone here\.", low)
    narrow = Sitting(columns=30, rows=50, page=PAGE).text()
    assert "    https://desk.example" in narrow
    assert "With a wider window" in narrow
    assert "there is a code" not in Sitting(page=replace(PAGE, code=())).text()


def test_an_empty_desk_names_only_agents_that_are_not_connected_yet() -> None:
    text = Sitting(unhooked=("codex", "gemini", "qwen")).text()
    assert "connected         claude" in text
    assert "connect another   crabhook install codex  (or gemini, qwen)" in text
    assert "install claude" not in text
    assert "crabhook install" not in Sitting(unhooked=()).text()
