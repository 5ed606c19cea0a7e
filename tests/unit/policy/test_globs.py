"""What a search's glob may select, held against readings of real matchers."""

import random
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from time import process_time

import pytest
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from crabhook.policy.globs import GlobError, alternatives, selects

FILES = (
    ".env",
    "a.py",
    ".envrc",
    "x",
    "sub/.env",
    "sub/a.py",
    "e.nv",
    "env",
    "sub/deep/b.ts",
    "A.PY",
)


def chosen(text: str) -> set[str]:
    globs = alternatives(text)
    return {one for one in FILES if selects(globs, f"/p/{one}")}


@pytest.mark.parametrize(
    "text",
    [
        "{.env,x}", "{x,.env}", "{x,{y,.e{nv,x}}}", ".e{nv,x}", "*env", "?env", "[.]env", "[!a]env", "[^a]env", "*.py .env", "*.py,.env", "*.py\t.env", r"\.env", r".e\nv",
        "*", "**", "**/*", "**/.env", "/.env", "./.env", "p/.env", "p/**/.env", ".ENV", "!*.md", ".env/", "{a..z}env", "*.{py,env}", "a,{.env,b}", ".*", "*v",
    ],
)  # fmt: skip
def test_no_way_of_writing_a_name_hides_it(text: str) -> None:
    assert ".env" in chosen(text)


@pytest.mark.parametrize(
    ("text", "left"),
    [("*.py", {"a.py", "sub/a.py", "A.PY"}), ("**/*.ts", {"sub/deep/b.ts"}), ("*.{py,ts}", {"a.py", "sub/a.py", "sub/deep/b.ts", "A.PY"}), ("sub/*.py", {"sub/a.py"}), ("*.rs", set())],
)  # fmt: skip
def test_a_glob_that_names_a_kind_of_files_leaves_the_others_out(text: str, left: set[str]) -> None:
    assert chosen(text) == left


@pytest.mark.parametrize(
    "text",
    ["{a", "a}", "{a,{b}", "[a", "a[", "@(.env|x)", "+(.env)", "!(a)", "?(.)env", "*(.)env", ":(top).env", ":!x", "{1,2}" * 12, "a" * 5000],
)  # fmt: skip
def test_what_programs_read_in_several_ways_is_refused(text: str) -> None:
    with pytest.raises(GlobError):
        alternatives(text)


def test_whatever_a_real_matcher_selects_is_selected() -> None:
    """Globs by chance, their braces opened as bash opens them, judged by gitignore's and fnmatch."""
    chance = random.Random(5)
    pieces = [
        ".env",
        ".",
        "e",
        "*",
        "**/",
        "?",
        "[.e]",
        "[!x]",
        "nv",
        "/",
        "sub",
        "a.py",
        ".py",
        "a",
    ]
    tried = 0
    for _ in range(4000):
        options = ["".join(chance.choices(pieces, k=chance.randint(1, 5))) for _ in range(2)]
        text = "{" + ",".join(options) + "}" if chance.random() < 0.5 else options[0]
        globs = alternatives(text)
        for option in options if text.startswith("{") else options[:1]:
            for name in FILES:
                if selects(globs, f"/p/{name}"):
                    continue
                assert not _means(option, name), (text, option, name)
                tried += 1
    assert tried > 1000


def _means(glob: str, name: str) -> bool:
    """Whether one of three real matchers has the glob mean the file."""
    regex = GitIgnoreSpecPattern(glob).regex if glob.strip("/") else None
    path = PurePosixPath(name)
    relative = glob.strip("/")
    return (
        (regex is not None and regex.match(name) is not None)
        or fnmatchcase(name, glob)
        or fnmatchcase(path.name, glob)
        or (bool(relative) and path.match(relative))
    )


def test_no_glob_is_slow() -> None:
    globs = alternatives("*a" * 2000 + "b")
    began = process_time()
    assert not selects(globs, "/" + "a" * 4000)
    assert process_time() - began < 1
