"""What a search's glob may select, held against readings of real matchers."""

import random
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from time import process_time

import pytest
from hypothesis import given
from hypothesis.strategies import lists, text
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from crabhook.policy.context import GlobError, alternatives, fits_shell_glob, may_share, selects
from tests.support.examples import share
from tests.support.rows import every_row

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


@every_row(
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


@every_row(
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
    for _ in share(range(4000), 0):
        options = ["".join(chance.choices(pieces, k=chance.randint(1, 5))) for _ in range(2)]
        text = "{" + ",".join(options) + "}" if chance.random() < 0.5 else options[0]
        globs = alternatives(text)
        for option in options if text.startswith("{") else options[:1]:
            for name in FILES:
                if selects(globs, f"/p/{name}"):
                    continue
                assert not _means(option, name), (text, option, name)
                tried += 1
    assert tried > 250


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


@given(
    glob=lists(text("ab.*?", min_size=1, max_size=4), min_size=1, max_size=3),
    path=lists(text("ab.", min_size=1, max_size=3), min_size=1, max_size=3),
)
def test_a_shells_wildcards_choose_what_pathlib_says_save_for_a_leading_dot(
    glob: list[str], path: list[str]
) -> None:
    if any("**" in one for one in glob):
        return
    matches = len(glob) == len(path) and all(
        fnmatchcase(name, one) and (name[0] != "." or one[0] == ".")
        for name, one in zip(path, glob, strict=True)
    )
    said = fits_shell_glob("/" + "/".join(glob), "/" + "/".join(path))
    assert said == matches
    if matches:
        assert all(may_share(one, name) for one, name in zip(glob, path, strict=True))


@every_row(
    "glob, path, fits",
    [
        ("/p/**/x", "/p/x", True), ("/p/**/x", "/p/a/b/x", True), ("/p/**", "/p/a/b", True), ("/p/[ab]*", "/p/zx", True), ("/p/*", "/p/.env", False), ("/p/?env", "/p/.env", False),
        ("/p/.*", "/p/.env", True), ("/p/*", "/p/a/b", False), ("/P/*", "/p/a", True), ("/" + "*a" * 2000, "/" + "a" * 4000 + "b", False), ("/" + "**/" * 300 + "x", "/" + "a/" * 1000 + "y", False),
    ],
)  # fmt: skip
def test_a_shells_glob_is_held_to_a_path_part_by_part(glob: str, path: str, fits: bool) -> None:
    before = process_time()
    assert fits_shell_glob(glob, path) is fits
    assert process_time() - before < 0.5


@pytest.mark.parametrize(
    ("glob", "name", "share"),
    [
        ("*.py", ".env", False), ("*.py", "id_rsa", False), ("*", "id_rsa", True), ("*.py", ".env.*", False), ("*.p*", "*.pem", True), ("a*", "*.pem", True), ("*.py", "*.pem", False),
        (".e*", ".env.*", True), ("x?", "x[ab]", True),
    ],
)  # fmt: skip
def test_globs_that_share_no_name_are_told_apart(glob: str, name: str, share: bool) -> None:
    assert may_share(glob, name) is share
