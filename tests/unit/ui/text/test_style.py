"""Every style that is used has a look, with colours and without."""

from __future__ import annotations

import pytest
from prompt_toolkit.styles.defaults import PROMPT_TOOLKIT_STYLE

from crabhook.ui.text.style import LOOKS, THEMES, Theme, class_of, style
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
    rules = dict(style(Theme.MONO).style_rules)
    coloured = {word for theme in THEMES.values() for word in theme.values() if word}
    assert not [look for look in rules.values() if coloured & set(look.split()) or "#" in look]


@pytest.mark.parametrize("theme", list(Theme))
def test_every_theme_has_every_look_and_only_words_that_mean_something(theme: Theme) -> None:
    looks = style(theme)
    assert len(looks.style_rules) == len(LOOKS) + 1
    for name, _ in looks.style_rules:
        looks.get_attrs_for_style_str(f"class:{name}")  # raises where a word is no colour


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as WCAG 2.2 defines it."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return sum(
            weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True)
        )

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(
    ("theme", "ground", "least"), [("light", "#ffffff", 4.5), ("high-contrast", "#000000", 7.0)]
)
def test_every_colour_can_be_read_on_its_ground(theme: str, ground: str, least: float) -> None:
    colours = [word for look in THEMES[theme].values() for word in look.split() if word[0] == "#"]
    assert len(colours) >= 7
    assert all(contrast(colour, ground) >= least for colour in colours)


def test_our_styles_are_apart_from_the_terminal_layers_own() -> None:
    theirs = {name for name, _ in PROMPT_TOOLKIT_STYLE}
    assert not [name for name in LOOKS if class_of(name).removeprefix("class:") in theirs]
    assert class_of("") == ""
