"""The names that a look is for."""

from hypothesis import given
from hypothesis.strategies import lists, sampled_from

from crabhook.policy.context import NOT_LOOKED, not_looked, wanted_by
from crabhook.policy.paths import Bases, NamedFile, PathSet, path_pattern
from tests.unit.policy.law import names_to


def test_a_pattern_is_found_by_the_last_part_of_it_that_is_more_than_stars() -> None:
    wanted = wanted_by(["/private/**", ".env.*", "*.pem", "**/id_rsa", r"a\*b", "k[ab]y"])
    for name in ("private", "PRIVATE", ".env.local", "x.pem", "X.PEM", "id_rsa", "a*b", "kay"):
        assert wanted.means(f"/p/{name}"), name
    for name in ("src", ".env", "pem", "id_rsa.pub", "axb", "ky"):
        assert not wanted.means(f"/p/{name}"), name


def test_the_plain_parts_before_it_are_looked_at_too() -> None:
    wanted = wanted_by([".config/gh", "/x/*/y/z", "a/*.key"], ["/etc/ssh", "/etc/*/x"])
    for path in ("/h/.config/gh", "/h/.CONFIG/GH", "/q/y/z", "/w/a/b.key", "/etc/ssh", "/q/x"):
        assert wanted.means(path), path
    for path in ("/h/cmd/gh", "/z", "/q/z", "/w/b.key", "/p/etc/ssh", "/p/ssh", "/ssh"):
        assert not wanted.means(path), path


@given(
    parts=lists(
        sampled_from(["a", "B", ".c", "*", "**", "d*", "?", "[ab]", "e"]), min_size=1, max_size=5
    ),
    path=lists(sampled_from(["a", "b", ".c", "dd", "d", "e", "x"]), min_size=1, max_size=6),
)
def test_whatever_a_pattern_means_is_found_by_one_of_the_names_on_the_way(
    parts: list[str], path: list[str]
) -> None:
    try:
        pattern = path_pattern("/".join(parts))
    except ValueError:
        return
    whole = "/" + "/".join(path)
    bases = Bases("/home", "/", "/", str)
    if PathSet((pattern,)).hits(NamedFile(whole, whole), bases):
        assert any(map(wanted_by([pattern.pattern]).means, names_to(whole, "/")))


def test_a_pattern_of_nothing_but_stars_wants_everything() -> None:
    assert wanted_by(["/**"]).means("/anything")
    assert not wanted_by([]).means("/anything")


def test_unless_somebody_looks_nobody_knows() -> None:
    assert not_looked("/", wanted_by([])) is NOT_LOOKED
    assert not NOT_LOOKED.whole
