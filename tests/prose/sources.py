"""The text that people read: paragraphs of pages, docstrings, texts of the screen and of help."""

from __future__ import annotations

import ast
import re
import tomllib
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
RULES = tomllib.loads(Path(__file__).with_name("rules.toml").read_text("utf-8"))
SPOKEN = frozenset(
    {"app", "broker", "cli", "demo", "desk", "doctor", "install", "lint", "policy", "present"}
    | {"config.py", "remote", "rulebook", "server", "store", "supervisor", "team", "ui"}
)
"""Packages whose string constants reach a person; of all others only the docstrings are read."""
_MARKDOWN = MarkdownIt("gfm-like", {"linkify": False})
_FOR_PROGRAMS = re.compile(RULES["for_programs"])

CODE = "CODE"  # stands for a piece of code, which counts as a word
SHORTEST = 4  # words; less is a label or a key


class Passage(NamedTuple):
    """A paragraph, a docstring or a text, and where it stands."""

    file: str
    line: int
    text: str
    semicolons: int = 0  # that a sentence may have


def passages() -> Iterator[Passage]:
    """Return all text of the repository that is held to the rules."""
    for page in sorted(
        [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("changes/*.md")]
    ):
        yield from of_page(page)
    for file in sorted((ROOT / "src" / "crabhook").rglob("*")):
        if "v1" in file.parts:
            continue
        if file.suffix == ".py":
            yield from of_module(file)
        if (
            file.suffix == ".toml"
            and file.relative_to(ROOT / "src" / "crabhook").parts[0] in SPOKEN
            and _named(file) not in RULES["data"]
        ):
            yield from of_table(file)


def of_page(page: Path) -> Iterator[Passage]:
    """Return each paragraph, item, heading and cell, with code as a word."""
    line = 1
    for token in _MARKDOWN.parse(page.read_text("utf-8")):
        line = token.map[0] + 1 if token.map else line
        if token.type == "inline":
            words = (_word(child) for child in token.children or ())
            yield Passage(_named(page), line, "".join(words))


def _word(token: Any) -> str:
    match token.type:
        case "text":
            return str(token.content)
        case "code_inline":
            return CODE
        case "softbreak" | "hardbreak":
            return " "
        case _:
            return ""


def of_module(file: Path) -> Iterator[Passage]:
    """Return the docstrings, and in the packages that speak to people the texts as well."""
    nodes = [*ast.walk(ast.parse(file.read_text("utf-8")))]
    # Strings that stand alone as statements: docstrings of modules, functions, values.
    documents = {node.value for node in nodes if isinstance(node, ast.Expr)}
    # The pieces of f-strings, which are read with their string.
    pieces = {part for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    # Words that the code takes apart are a list, no sentence.
    listed = {text for node in nodes if isinstance(node, ast.Call) for text in _taken_apart(node)}
    speaks = file.relative_to(ROOT / "src" / "crabhook").parts[0] in SPOKEN
    for node in nodes:
        match node:
            case ast.Constant(value=str(text)) if node in documents:
                # A line that is indented, or has columns, is a row of a table or of an example.
                for paragraph in re.split(r"\n\n|\n(?= |.*\S {3})", cleandoc(text)):
                    text = re.sub(r"`[^`]*`", CODE, paragraph)
                    # "Return the card; raise KeyError where there is none" is read at once.
                    yield Passage(_named(file), node.lineno, text, semicolons=1)
            case ast.JoinedStr(values) if speaks:
                text = "".join(
                    str(part.value) if isinstance(part, ast.Constant) else CODE for part in values
                )
                yield from _spoken(file, node.lineno, text)
            case ast.Constant(value=str(text)) if speaks and node not in pieces | listed:
                yield from _spoken(file, node.lineno, text)


def _taken_apart(call: ast.Call) -> list[ast.expr]:
    match call.func:
        case ast.Attribute(value, "split"):
            return [value]
        case ast.Name("names"):
            return call.args
        case _:
            return []


def of_table(file: Path) -> Iterator[Passage]:
    """Return the texts of a table of data."""

    def texts(value: Any) -> Iterator[str]:
        match value:
            case str():
                yield value
            case dict():
                for member in value.values():
                    yield from texts(member)
            case list():
                for member in value:
                    yield from texts(member)

    for text in texts(tomllib.loads(file.read_text("utf-8"))):
        yield from _spoken(file, 0, text)


def _spoken(file: Path, line: int, text: str) -> Iterator[Passage]:
    if len(text.split()) >= SHORTEST and not _FOR_PROGRAMS.search(text):
        yield Passage(_named(file), line, re.sub(r"`[^`]*`", CODE, text))


def _named(file: Path) -> str:
    return str(file.relative_to(ROOT))
