"""The single readers of a Python tree, where whole scripts would not show it."""

import ast

from crabhook.lint.python.exits import exits
from crabhook.lint.python.output_calls import MAX_READ, MAX_WRITES, ValueReader, output_of
from crabhook.lint.python.read import readings, waits
from crabhook.lint.python.tree import MAX_BINDINGS, Tree


def expression(tree: Tree) -> ast.expr:
    """The script's last expression."""
    last = tree.root.body[-1]
    assert isinstance(last, ast.Expr)
    return last.value


def test_a_name_with_several_values_comes_to_all_of_them() -> None:
    tree = Tree("if a:\n    x = 1\nelse:\n    x = 2\nx")
    found = tree.follow(expression(tree))
    assert sorted(one.value for one in found if isinstance(one, ast.Constant)) == [1, 2]
    assert tree.constant(expression(tree)) is None


def test_a_circle_of_names_and_calls_ends() -> None:
    tree = Tree("def f():\n    return g()\ndef g():\n    return f()\nx = y\ny = x\nf() or x")
    assert tree.follow(expression(tree)) == ()


def test_a_name_of_more_values_than_a_person_gives_comes_to_itself() -> None:
    tree = Tree("x = 1\n" * (MAX_BINDINGS + 1) + "x")
    assert tree.follow(expression(tree)) == (expression(tree),)


def test_an_inner_function_has_names_of_its_own() -> None:
    tree = Tree("x = 1\ndef f():\n    x = 2\n    return x\nx")
    assert tree.constant(expression(tree)) == 1


def test_objects_in_objects_without_end_are_read_to_a_bound() -> None:
    tree = Tree("x = {'a': x, 'b': x, 'c': x}\nx['d'] = x\nx")
    (shape,) = ValueReader(tree).shapes(expression(tree))
    assert set(shape.members or ()) == {"a", "b", "c", "d"}
    assert MAX_READ < 10_000


def test_functions_of_one_name_are_not_told_apart_by_guessing() -> None:
    tree = Tree("def f():\n    return 1\ndef f():\n    return 2\nf()")
    assert tree.follow(expression(tree)) == (expression(tree),)


def test_only_so_many_writes_are_looked_at() -> None:
    tree = Tree("print('a')\n" * (MAX_WRITES + 50))
    assert len(output_of(tree).chatter) == MAX_WRITES


def test_a_script_that_does_nothing_has_no_facts() -> None:
    tree = Tree("")
    assert not list(exits(tree, output_of(tree)))
    assert not list(readings(tree))
    assert not list(waits(tree))
