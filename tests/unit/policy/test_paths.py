"""Path patterns, in a table: what they mean as an allow and as a denial."""

import re
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from crabhook.policy.paths import Bases, NamedFile, PathSet, is_within, normal, path_pattern, place
from tests.support.rows import every_row
from tests.unit.policy.law import context

BASES = Bases("/home/dev", "/work/app", "/work/app/sub", lambda path: path)
HOME = "/home/dev"


@every_row(
    "pattern, path, covers, hits",
    [
        ("//etc/x", "/etc/x", True, True), ("//etc", "/etc/x/y", True, True), ("//etc/*", "/etc/x", True, True),
        ("//etc/x", "/work/etc/x", False, False), ("//**", "/a", True, True), ("//e*/x", "/etc/x", True, True),
        ("~/a", f"{HOME}/a", True, True), ("~/a/**", f"{HOME}/a/b/c", True, True), ("~/a/**", f"{HOME}/a", False, False),
        ("~/a", f"{HOME}/b/a", False, False), ("~", f"{HOME}/a", True, True), ("~/", f"{HOME}/a/b", True, True),
        ("/src/**", "/work/app/src/a", True, True), ("/src/**", "/work/app/sub/src/a", False, False),
        ("/src/**", "/src/a", False, False), ("/a.py", "/work/app/a.py", True, True),
        ("src/**", "/work/app/sub/src/a", True, True), ("src/**", "/work/app/src/a", False, True),
        ("src/**", "/work/app/sub/x/src/a", False, True), ("./src/**", "/work/app/sub/src/a", True, True),
        ("./src/**", "/other/src/a", False, True), ("**", "/work/app/sub/a/b", True, True), ("**", "/work/a", False, True),
        ("./**", "/work/app/sub/a", True, True), ("./**", "/work/app/a", False, True),
        (".env", "/work/app/sub/.env", True, True), (".env", "/work/app/sub/x/.env", True, True),
        (".env", "/elsewhere/.env", False, True), (".env", "/work/app/sub/.envx", False, False),
        (".env", "/work/app/sub/a.env", False, False), ("*.md", "/work/app/sub/x/a.md", True, True),
        ("*.md", "/work/a.md", False, True), ("a/b", "/work/app/sub/a/b", True, True), ("a/b", "/work/app/sub/x/a/b", False, True),
        ("../x/**", "/work/app/x/a", True, True), ("../x/**", "/work/app/sub/x/a", False, False),
        ("../../a", "/work/a", True, True), ("secrets/", "/work/app/sub/secrets/a", True, True),
        ("secrets/", "/work/app/sub/secrets", False, False), ("a?c", "/work/app/sub/abc", True, True),
        ("[ab].c", "/work/app/sub/a.c", True, True), ("**/t/**", "/work/app/sub/x/t/y", True, True),
        (".ENV", "/work/app/sub/.env", False, True), ("//ETC/x", "/etc/x", False, True),
    ],
)  # fmt: skip
def test_a_pattern_allows_where_it_says_and_denies_at_any_depth(
    pattern: str,
    path: str,
    covers: bool,
    hits: bool,
) -> None:
    parsed = path_pattern(pattern)
    assert parsed.covers(NamedFile(path, path), BASES) is covers
    assert PathSet((parsed,)).hits(NamedFile(path, path), BASES) is hits


def test_an_allow_needs_the_link_and_its_target_a_denial_one_of_them() -> None:
    inside, outside = "/work/app/sub/a", "/etc/passwd"
    pattern = path_pattern("./**")
    denial = PathSet((path_pattern("//etc/**"),))
    for named, real in ((inside, outside), (outside, inside)):
        assert not pattern.covers(NamedFile(named, real), BASES)
        assert denial.hits(NamedFile(named, real), BASES)
    assert pattern.covers(NamedFile(inside, inside), BASES)
    assert not denial.hits(NamedFile(inside, inside), BASES)


def test_a_working_directory_that_is_itself_a_link_covers_what_is_in_it() -> None:
    links = context({"/tmp": "/private/tmp"})
    bases = Bases(HOME, "/work", "/tmp/a", links.real)
    assert path_pattern("./**").covers(place("b", "/tmp/a", links), bases)


def test_sets_of_patterns_hit_as_each_of_them_would() -> None:
    patterns = tuple(map(path_pattern, (".env", "~/.ssh", "//etc/shadow", "/ci/**", "../x")))
    for path in ("/a/.env", f"{HOME}/.ssh/a", "/etc/shadow", "/work/app/ci/a", "/work/app/x", "/a"):
        alone = any(PathSet((one,)).hits(NamedFile(path, path), BASES) for one in patterns)
        assert PathSet(patterns).hits(NamedFile(path, path), BASES) is alone


@pytest.mark.parametrize(
    ("path", "plain"),
    [("/a/../b", "/b"), ("//a//b/", "/a/b"), ("/../a", "/a"), ("/a/./b", "/a/b"), ("/", "/")],
)
def test_a_normal_path_has_no_detours(path: str, plain: str) -> None:
    assert normal(path) == plain


@pytest.mark.parametrize(
    ("path", "folder", "within"),
    [
        ("/a/b", "/a", True),
        ("/a", "/a", True),
        ("/ab", "/a", False),
        ("/a", "/", True),
        ("/a/../b", "/a", False),
        ("a", "/", False),
        ("/a", "", False),
    ],
)
def test_a_folder_holds_itself_and_what_is_below(path: str, folder: str, within: bool) -> None:
    assert is_within(path, folder) is within


@pytest.mark.parametrize("text", ["a/../b", "a/./b", "!a", "#a", " a", "a ", "../../a/../b"])
def test_a_pattern_that_could_never_match_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"holds|begins"):
        path_pattern(text)


@given(st.text("ab.*/~?[]!\\", max_size=10))
def test_any_text_is_a_pattern_or_a_value_error(text: str) -> None:
    try:
        pattern = path_pattern(text)
    except ValueError:
        return
    place_ = NamedFile("/work/app/sub/a", "/work/app/sub/a")
    if pattern.covers(place_, BASES):
        assert PathSet((pattern,)).hits(place_, BASES)


SETS = ["[]~~]", "[a--b]", "[&&]", "[||]", "[a&&b]", "[!~~]", "[^||]", "[]--]", "[a-]", "[+--]", "[[a]", "[[:alpha:]]", "[a[b]", "\\[a[b]", "\\[a--b", "[z-a]", "x[a\\\\~~]y"]  # fmt: skip


@given(
    st.one_of(
        st.sampled_from(SETS),
        st.text("[]!^-~&|ab\\*?/", max_size=10),
        st.lists(st.sampled_from(["[", "]", "--", "&&", "||", "~~", "[[", "a-z", "!", "\\"])).map(
            "".join
        ),
    ),
    st.text("ab[]-~&|\\^!", min_size=1, max_size=3),
)
@settings(max_examples=400)
def test_no_pattern_reaches_re_with_a_set_that_another_version_reads_otherwise(
    text: str, name: str
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            pattern = path_pattern(text)
        except ValueError:
            return
        target = NamedFile(f"/work/app/sub/{name}", f"/work/app/sub/{name}")
        covers = pattern.covers(target, BASES)
        PathSet((pattern,)).hits(target, BASES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        meant = GitIgnoreSpecPattern(pattern.pattern).regex
    if text[:1] not in "~/" and not text.startswith(".."):
        assert meant is not None
        assert covers == (meant.match(name) is not None)


@pytest.mark.parametrize(
    ("text", "fits", "fits_not"),
    [("[]~~]", "]~", "-a"), ("[a&&b]", "a&b", "|-"), ("[!||]", "a&", "|"), ("x[a-c&&]", ["xb", "x&"], ["x|", "xd"])],
)  # fmt: skip
def test_a_set_of_letters_that_are_signs_elsewhere_means_these_letters(
    text: str, fits: str, fits_not: str
) -> None:
    for name in (*fits, *fits_not):
        target = NamedFile(f"/work/app/sub/{name}", f"/work/app/sub/{name}")
        assert path_pattern(text).covers(target, BASES) is (name in fits)


@pytest.mark.parametrize("text", ["[[a]", "[[:alpha:]]", "[a[b]", "a/x[!][]"])
def test_a_bracket_in_a_set_is_refused_since_programs_read_it_apart(text: str) -> None:
    with pytest.raises(ValueError, match="two ways"):
        path_pattern(text)


_NAMES = [
    f"/{before}{name}{after}"
    for before in ("", "work/", "work/a/")
    for name in (
        ".env",
        ".ENV",
        ".env\n",
        ".git/hooks/x",
        ".g\u0131t/hooks/x",
        ".G\u0130T/hooks/x",
        "x.pem",
        "id_rsa",
        "\u212aey",
        "a/c/b.toml",
        "kay",
        "env",
        ".env.d",
        ".\u212aube",
        ".kube",
        "never",
    )
    for after in ("", "/below", "\n", "\u200b")
]
_ANYWHERE = (".env", "*.pem", ".git/hooks/**", "Id_*", "a/**/b.toml", "k[a-c]y", "**", ".kube")


@pytest.mark.parametrize("pattern", _ANYWHERE)
def test_a_pattern_in_a_set_hits_what_its_expression_fits(pattern: str) -> None:
    alone = path_pattern(pattern)
    text, _ = GitIgnoreSpecPattern.pattern_to_regex(f"**/{pattern}")
    assert text is not None
    expression = re.compile(text, re.IGNORECASE)
    others = PathSet((alone, path_pattern("never/there")))
    for path in _NAMES:
        expected = expression.match(path[1:]) is not None
        assert others.hits(NamedFile(path, path), BASES) is expected, path
