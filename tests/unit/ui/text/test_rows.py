from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from crabhook.ui.text.rows import Row, bounded, indented


def test_only_the_agents_words_are_made_safe() -> None:
    row = Row("  — ", "a\x1b[2J\u202eb\n#8 ALLOWED\tc", " ✓")
    assert row.line == "  — a␛[2J⟨U+202E⟩b␊#8 ALLOWED    c ✓"


@given(st.text(), st.integers(2, 40))
def test_every_line_of_a_text_stands_behind_the_indent(text: str, longest: int) -> None:
    rows = list(indented("    ", text, longest))
    ours = [row for row in rows if row.shortened]
    assert all(row.line.startswith("    ") for row in rows if not row.shortened)
    assert [row.line[:3] for row in ours] == ["  …"] * (len(text) > longest)


@given(st.text(st.sampled_from("ab\n")), st.integers(2, 40))
def test_of_a_long_text_its_start_and_its_end_are_kept(text: str, longest: int) -> None:
    rows = list(indented("", text, longest))
    kept = "\n".join(row.theirs for row in rows if not row.shortened)
    if len(text) <= longest:
        assert kept == text
    else:
        half = longest // 2
        assert kept == f"{text[:half]}\n{text[-half:]}"
        (gap,) = (row for row in rows if row.shortened)
        assert gap.ours == f"  … {len(text) - 2 * half} characters left out here …"


def test_rows_within_the_bound_stay_as_they_are() -> None:
    rows = [Row("  ", "x" * 7)] * 5
    assert bounded(rows, 5, 50) == rows


def test_past_the_bound_the_first_and_the_last_are_kept_and_the_gap_is_told() -> None:
    rows = [Row(f"  {number}") for number in range(100)]
    kept = [row.line for row in bounded(rows, 8, 10_000)]
    assert kept == [
        *(f"  {number}" for number in range(6)),
        "  … 92 lines left out here …",
        "  98",
        "  99",
    ]


def test_one_overlong_row_keeps_its_start_and_its_end() -> None:
    (row,) = bounded([Row("    ", "<" + "x" * 5000 + ">")], 200, 400)
    assert row.shortened
    assert row.line == f"    <{'x' * 49}⟨4902 characters left out⟩{'x' * 49}>"


@given(st.lists(st.text(max_size=60), max_size=40), st.integers(8, 30), st.integers(400, 900))
def test_nothing_is_left_out_unsaid(texts: list[str], lines: int, characters: int) -> None:
    rows = [Row("    ", text) for text in texts]
    kept = bounded(rows, lines, characters)
    assert len(kept) <= lines + 1
    assert kept == rows or any(row.shortened for row in kept)


def test_rows_without_end_are_taken_no_further_than_they_are_shown() -> None:
    kept = [row.line for row in bounded(map(Row, map(str, count())), 8, 100)]
    assert kept[:6] == [str(number) for number in range(6)]
    assert kept[-1] == "  … and more, left out here …"
    assert len(kept) <= 9
