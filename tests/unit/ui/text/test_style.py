"""Every style that is used has a look, with colours and without."""

from __future__ import annotations

from prompt_toolkit.styles.defaults import PROMPT_TOOLKIT_STYLE

from crabhook.ui.text.style import LOOKS, class_of, style
from tests.support.sitting import QUESTIONS, Sitting


def used() -> set[str]:
    """Return the styles of a screen that shows a bit of everything."""
    sitting = Sitting(rows=60, columns=120)
    sitting.ask("AskUserQuestion", QUESTIONS)
    sitting.ask("Edit", {"file_path": "/a", "old_string": "a\u202e", "new_string": "b", "n": 1})
    sitting.ask(tool_input={"command": "for x in 'y'; do echo $((1+1)); done # z"}, wait=1.0)
    styles: set[str] = set()
    sitting.wait()
    for keys in (["2", "t", "x", "enter"], ["r"], ["escape", "escape", "down"], ["down"], ["a"]):
        sitting.wait()
        sitting.press(*keys)
        styles |= {name for line in sitting.draw().lines for name, _ in line if name}
    sitting.press("?")
    styles |= {name for line in sitting.draw().lines for name, _ in line if name}
    return styles


def test_every_style_in_use_has_a_look() -> None:
    styles = used()
    assert styles <= set(LOOKS)
    assert len(styles) > 20


def test_without_colour_no_look_has_one() -> None:
    assert not [look for _, look in LOOKS.values() if "ansi" in look or "#" in look]
    assert len(style(colour=False).style_rules) == len(LOOKS)


def test_our_styles_are_apart_from_the_terminal_layers_own() -> None:
    theirs = {name for name, _ in PROMPT_TOOLKIT_STYLE}
    assert not [name for name in LOOKS if class_of(name).removeprefix("class:") in theirs]
    assert class_of("") == ""
