"""The house's laws: no circle of imports, one place for a cluster, no empty and no shared names.

Where a change makes a circle, merge the two modules, or move what both need to a third.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"


_IMPORT = re.compile(
    r"^ *(?:from|import) (crabhook[\w.]*)(?: import (\([^)]*\)|.*))?", re.MULTILINE
)


# A variable of one of these names hides whether it holds a card, a match or a path.
EMPTY_NAMES = frozenset({"one", "found", "told", "said", "known", "given"})

# The packages whose class names may be those of others, each with the reason.
OTHER_VOCABULARIES = {
    "sdk": "other people's hooks import its classes, and read of them in its own pages",
    "v1": "generated from the wire's messages",
}

# Class names that stand for more than one class, each with the reason.
SHARED_CLASS_NAMES = {
    "Way": "each agent's folder says how its verdicts are written",
}


# Which of several servers leads is known to the application and to the storage that they share.
CLUSTER = re.compile("leader|standby|deposed|epoch", re.IGNORECASE)
KNOW_THE_CLUSTER = ("crabhook.app.", "crabhook.store.postgres.")

# What others may write of it, since a wire or a dashboard has these words.
WORDS_OF_OTHERS: Mapping[str, tuple[str, ...]] = {
    # The metadata in which a server names the one to ask instead.
    "crabhook.server.grpc.permission": ('"crabhook-leader"',),
    "crabhook.remote.servers": ('"crabhook-leader"', '"standby"', "hello.leader"),
    "crabhook.hook.failover": ('b"crabhook-leader"',),
    # A field of the message Hello.
    "crabhook.server.operators.grpc_port": ("leader=hello.desks_at",),
    # Why /healthz is not well, and a label of crabhook_refusals_total.
    "crabhook.server.grpc.listener": ('ELSEWHERE = "standby"',),
    "crabhook.server.metrics.collector": ('[Refusal.ELSEWHERE] = "standby"',),
}


@cache
def modules() -> Mapping[str, str]:
    """The text of every module that people wrote, by its name, but those that open a package."""
    files = sorted(SOURCE.rglob("*.py"))
    found = {".".join(path.relative_to(SOURCE).with_suffix("").parts): path for path in files}
    return {
        name: path.read_text("utf-8")
        for name, path in found.items()
        if path.name != "__init__.py" and not name.startswith("crabhook.v1.")
    }


def imported(name: str) -> Iterator[str]:
    """What a module imports: for types alone and late as well."""
    for module, names in _IMPORT.findall(modules()[name]):
        yield module
        yield from (f"{module}.{one}" for one in re.findall(r"\w+", names))


@cache
def graph() -> Mapping[str, set[str]]:
    return {name: {*imported(name)} & modules().keys() - {name} for name in modules()}


def circle(of: Mapping[str, set[str]]) -> list[str]:
    """The modules of one circle, in order; none where there is no circle."""
    try:
        TopologicalSorter(of).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def named_of_a_cluster(name: str, text: str) -> list[str]:
    """The words of a cluster in a module's text, but those of others, which must be there."""
    for words in WORDS_OF_OTHERS.get(name, ()):
        assert words in text
        text = text.replace(words, "")
    return CLUSTER.findall(text)


@cache
def names_of(text: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """The names that a text binds, and its classes: a text is parsed once for both laws."""
    nodes = [*ast.walk(ast.parse(text))]
    classes = tuple(node.name for node in nodes if isinstance(node, ast.ClassDef))
    return frozenset(names_bound(nodes)), classes


def names_bound(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """The variables and parameters that a text binds; a class's fields are none."""
    fields = {
        id(statement.target)
        for node in nodes
        if isinstance(node, ast.ClassDef)
        for statement in node.body
        if isinstance(statement, ast.AnnAssign)
    }
    for node in nodes:
        match node:
            case ast.Name(name, ast.Store()) if id(node) not in fields:
                yield name
            case ast.arg(name) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.ExceptHandler(name=str(name)) | ast.MatchMapping(rest=str(name)):
                yield name


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circle(graph()) == []


def test_no_pattern_repeats_a_group_possessively() -> None:
    """Python 3.11 before 3.11.5 reads `(…)*+` wrongly, or for ever; `(?>(…)*)` says the same."""
    possessive = re.compile(r"\)(?:[*+?]|\{\d*,?\d*\})\+")
    files = [*SOURCE.rglob("*.py"), *SOURCE.rglob("*.toml")]
    assert {str(file): possessive.findall(file.read_text("utf-8")) for file in files} == {
        str(file): [] for file in files
    }


def test_a_circle_is_found() -> None:
    assert sorted(circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})[1:]) == ["a", "b", "c"]


def test_the_application_and_the_shared_storage_alone_know_which_server_leads() -> None:
    named = {
        name: named_of_a_cluster(name, text)
        for name, text in modules().items()
        if not name.startswith(KNOW_THE_CLUSTER)
    }
    assert {name: words for name, words in named.items() if words} == {}


def test_a_variable_says_what_it_holds() -> None:
    package = SOURCE / "crabhook"
    files = [file for file in package.rglob("*.py") if not file.is_relative_to(package / "v1")]
    bound = {str(file): EMPTY_NAMES & names_of(file.read_text("utf-8"))[0] for file in files}
    assert bound == {str(file): set() for file in files}


def test_a_class_name_stands_for_one_class() -> None:
    package = SOURCE / "crabhook"
    classes = Counter(
        name
        for file in package.rglob("*.py")
        if file.relative_to(package).parts[0] not in OTHER_VOCABULARIES
        for name in names_of(file.read_text("utf-8"))[1]
    )
    assert {name for name, times in classes.items() if times > 1} == {*SHARED_CLASS_NAMES}


def test_every_way_to_bind_a_name_is_seen() -> None:
    text = """
class Card:
    field: int
def f(argument, *rest, **others):
    for loop, (inner, *tail) in other: pass
    with x as entered: pass
    try: pass
    except E as error: pass
    match x:
        case {**members} | [*items] | C() as whole: pass
    [a for part in b if (walrus := c)]
    lambda late: 1
"""
    bound = (
        "argument rest others loop inner tail entered error members items whole part walrus late"
    )
    assert sorted(names_bound([*ast.walk(ast.parse(text))])) == sorted(bound.split())
