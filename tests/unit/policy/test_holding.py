"""The names that a look is for."""

from crabhook.policy.holding import NOT_LOOKED, not_looked, wanted_by


def test_a_pattern_is_found_by_the_last_part_of_it_that_is_more_than_stars() -> None:
    wanted = wanted_by(["/src/private/**", ".env.*", "*.pem", "**/id_rsa", r"a\*b", "k[ab]y"])
    for name in ("private", "PRIVATE", ".env.local", "x.pem", "X.PEM", "id_rsa", "a*b", "kay"):
        assert wanted.means(name), name
    for name in ("src", ".env", "pem", "id_rsa.pub", "axb", "ky"):
        assert not wanted.means(name), name


def test_a_pattern_of_nothing_but_stars_wants_everything() -> None:
    assert wanted_by(["/**"]).means("anything")
    assert not wanted_by([]).means("anything")


def test_unless_somebody_looks_nobody_knows() -> None:
    assert not_looked("/", wanted_by([])) is NOT_LOOKED
    assert not NOT_LOOKED.whole
