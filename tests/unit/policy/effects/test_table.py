"""The table of programs: large, whole, and each of its forms can be met."""

from collections.abc import Mapping
from typing import Any

import pytest

from crabhook.data_files import tables
from crabhook.model.card import Level
from crabhook.policy.effects import table as module
from crabhook.policy.effects.risk import effects_of
from crabhook.policy.effects.table import CallWords, EffectForm, TableError, read_table, table
from crabhook.policy.protected import ENTRY_NAMES
from tests.support.rows import every_row
from tests.unit.policy.law import bash, context

KINDS = tables(str(module.__file__), "kinds")
PROGRAMS = tables(str(module.__file__), "programs")
FORMS = [(name, form) for name, forms in table().forms.items() for form in forms]


def test_the_table_knows_at_least_250_programs_with_effects_of_their_own() -> None:
    told = {name for name, form in FORMS if form.effects}
    assert len(told | set(table().interpreters)) >= 250
    assert len(table().forms) >= 1000


def test_every_protected_entry_has_an_effect() -> None:
    assert set(table().protected) == set(ENTRY_NAMES)


def test_an_effect_told_instead_of_others_is_no_less_bad_than_they_are() -> None:
    for kind in table().kinds.values():
        for other in map(table().kinds.__getitem__, kind.instead):
            assert min(kind.levels.values()) >= max(other.levels.values()), kind.name


def test_a_file_is_no_less_bad_outside_the_project_or_where_nobody_knows() -> None:
    for kind in table().kinds.values():
        inside, temporary, unknown, outside = (kind.levels[where] for where in module.Where)
        assert inside <= temporary <= outside
        assert inside <= unknown <= outside


def words_of(form: EffectForm) -> list[str]:
    """The words of a call that the form is about, each choice its first."""
    plain = str.maketrans({"*": "x", "?": "x", "[": "", "]": ""})
    verbs = [one[0].translate(plain) for one in form.verbs]
    return [
        *verbs,
        *(one[0] for one in form.options),
        *(one[0].translate(plain) for one in form.holding),
    ]


def test_each_form_of_a_program_fits_a_call_that_is_written_like_it() -> None:
    for name, form in FORMS:
        if not form.holding:
            assert all("" not in one for one in (*form.verbs, *form.options)), form
            valued = table().valued.get(name, frozenset[str]())
            assert form.fits(CallWords(words_of(form), valued)) >= 0, (name, form)


def test_a_program_of_the_table_is_never_unknown() -> None:
    for name in (*table().forms, *table().interpreters):
        if name.replace("-", "").isalnum():
            risk = effects_of(bash(f"'{name}' a b"), context())
            assert not any(one.startswith(f"{name}:") for one in risk.unknown), name


def changed(data: Mapping[str, Any], part: str, key: str, value: object) -> Mapping[str, Any]:
    return {**data, part: {**data[part], key: value}}


@every_row(
    "kinds, programs",
    [
        (KINDS, changed(PROGRAMS, "forms", "a", "flies")),
        (KINDS, changed(PROGRAMS, "forms", "a", "deletes somewhere")),
        (KINDS, changed(PROGRAMS, "forms", "a", 7)),
        (KINDS, changed(PROGRAMS, "protected", "ci", "flies")),
        (KINDS, changed(PROGRAMS, "tools", "A", "flies")),
        (KINDS, changed(PROGRAMS, "interpreters", "a", {"code": "-c"})),
        (KINDS, {name: part for name, part in PROGRAMS.items() if name != "valued"}),
        (changed(KINDS, "deletes", "level", 3), PROGRAMS),
        (changed(KINDS, "deletes", "colour", "red"), PROGRAMS),
        ({"deletes": {"words": "deletes"}}, PROGRAMS),
    ],
)
def test_wrong_data_is_an_error(kinds: Mapping[str, Any], programs: Mapping[str, Any]) -> None:
    with pytest.raises(TableError):
        read_table(kinds, programs)


@pytest.mark.parametrize(
    ("words", "option", "there"),
    [
        ("push --force", "--force", True), ("push --forc", "--force", True), ("push --fo", "--force", False), ("push -fu", "-f", True),
        ("push -uf", "-f", True), ("push --force=x", "--force", True), ("push f", "-f", False), ("-ofile", "-f", False), ("apply -auto-approve", "-auto-approve", True),
    ],
)  # fmt: skip
def test_an_option_is_found_as_programs_read_it(words: str, option: str, there: bool) -> None:
    assert CallWords(words.split(), frozenset({"-o"})).has(option) is there


def test_levels_are_none_caution_and_danger() -> None:
    assert [one.name for one in Level] == ["NONE", "CAUTION", "DANGER"]
