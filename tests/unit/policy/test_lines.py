"""Where things stand in a rule file."""

from crabhook.policy.rulefile import FileLines

TEXT = '''# top
[[rule]]
verdict = "deny"
match = [
  "a",
  "b",  # [[rule]]
]
# about the next one

[[ rule ]]
note = """
[[rule]]
"""
[rule.scope]
mode = "plan"

[[rule]]
note = '[[rule]] " # '
'''


def test_rules_begin_where_their_headers_are() -> None:
    assert FileLines(TEXT).starts == [2, 10, 17]


def test_a_rule_ends_before_what_is_about_the_next() -> None:
    lines = FileLines(TEXT)
    assert [lines.end_of(number) for number in range(3)] == [7, 15, 18]


def test_a_key_and_a_text_in_its_value_are_found() -> None:
    lines = FileLines(TEXT)
    assert lines.of_rule(0, "match") == 4
    assert lines.of_rule(0, "match", "b") == 6
    assert lines.of_rule(1, "note") == 11
    assert lines.of_rule(1, "scope") == 14
    assert lines.of_rule(0, "note") == 2
    assert lines.of_rule(9) == 2  # no such rule: where rules begin


def test_a_rule_is_cut_out_and_what_stands_around_it_stays() -> None:
    rest = FileLines(TEXT).without(1)
    assert "# about the next one" in rest
    assert "plan" not in rest
    assert FileLines(rest).starts == [2, 10]
    assert FileLines("[[rule]]\na = 1\n").without(0) == ""


def test_a_header_inside_a_text_of_several_lines_is_none() -> None:
    lines = FileLines('[[rule]]\nnote = """\n[rule.scope]\n"""\nscope = { mode = "x" }\n')
    assert lines.of_rule(0, "scope") == 5
