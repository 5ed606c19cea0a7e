"""A shell hook script's facts: which commands write what and where, and what else it does."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from tree_sitter import Node

from crabhook.lint.discover import shebang
from crabhook.lint.finding import Place
from crabhook.lint.loose_json import HOLE, read_answer, read_object
from crabhook.lint.script import (
    Answer,
    Exit,
    Language,
    Named,
    Script,
    Wait,
    Written,
    named_for_refusing,
    refuses,
    waited,
)
from crabhook.lint.shell.tree import ShellTree, filled, heredoc, plain, source, words

_ERRORS = re.compile(r"\s*(?:1?>&2|1?>>?\s*/dev/stderr)")
_CAPTURING = frozenset({"command_substitution", "process_substitution", "pipeline"})
_OPTION = re.compile(r"-[neE]+|--")
_FORMAT = re.compile(r"%[-0-9.]*[a-zA-Z]")

MAX_LOOKED_BACK = 8
MAX_SIBLINGS = 500
MAX_COMMANDS = 400  # that print or exit; a hook has ten

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]+")
_BLOCKS = frozenset({"program", "compound_statement", "do_group", "if_statement", "elif_clause"})
_BLOCKS |= {"else_clause", "case_item", "subshell"}
_BRANCHES = frozenset({"elif_clause", "else_clause"})


@dataclass(frozen=True, slots=True)
class Print:
    """A command that writes text: whether on standard error, and what."""

    node: Node
    error: bool
    text: str


def commands(tree: ShellTree) -> Iterator[tuple[Node, str, Sequence[Node]]]:
    """Yield the simple commands, each with its name and its arguments."""
    for node in tree.nodes:
        if node.type == "command" and (said := words(node)):
            yield node, plain(said[0]), said[1:]


def prints(tree: ShellTree) -> Iterator[Print]:
    """Yield the commands that write a text which is in the script itself."""
    captured = captured_functions(tree)
    for node, name, arguments in commands(tree):
        if name not in {"echo", "printf", "cat"} or goes_elsewhere(tree, node, captured):
            continue
        if name != "cat":
            yield Print(node, is_to_error(tree, node), _said(name, arguments))
        elif not arguments and (parent := tree.parent(node)) is not None:
            body = heredoc(parent)
            if body is not None:
                yield Print(node, is_to_error(tree, node), filled(body))


def captured_functions(tree: ShellTree) -> frozenset[str] | None:
    """Return the functions whose output goes elsewhere; None where all output does (`exec >…`)."""
    found = set()
    for node, name, _ in commands(tree):
        around = getattr(tree.parent(node), "named_children", ())
        if name == "exec" and any(child.type == "file_redirect" for child in around):
            return None
        if name and _leaves(tree, node):
            found.add(name)
    return frozenset(found)


def goes_elsewhere(tree: ShellTree, command: Node, captured: frozenset[str] | None) -> bool:
    """Whether what a command writes goes to another command, a variable or a file."""
    return captured is None or _leaves(tree, command) or function_of(tree, command) in captured


def is_to_error(tree: ShellTree, command: Node) -> bool:
    """Whether a command, or the block that it stands in, writes on standard error."""
    for node, _ in tree.above(command):
        if node.type == "function_definition":
            return False
        if node.type == "redirected_statement" and any(map(_is_error, node.named_children)):
            return True
    return False


def function_of(tree: ShellTree, node: Node) -> str:
    """Return the name of the function that a node stands in; nothing for none."""
    for parent, _ in tree.above(node):
        if parent.type == "function_definition" and parent.named_children:
            return source(parent.named_children[0])
    return ""


def _said(name: str, arguments: Sequence[Node]) -> str:
    """Return what `echo` or `printf` prints, near enough to read it."""
    texts = [plain(word) for word in arguments]
    while texts and _OPTION.fullmatch(texts[0]):
        texts = texts[1:]
    if name == "echo" or not texts:
        return " ".join(texts)
    template = texts[0].replace("\\n", "\n")
    if template.strip() == "%s" and len(texts) == 2:
        return texts[1]
    said = _FORMAT.sub(HOLE, template)
    return said if "{" in said else " ".join([said, *texts[1:]])


def _leaves(tree: ShellTree, command: Node) -> bool:
    for parent, child in tree.above(command):
        if parent.type == "function_definition":
            return False
        last = parent.type == "pipeline" and tree.is_last(child, parent)
        if parent.type in _CAPTURING and not last:
            return True
        if parent.type == "redirected_statement" and any(map(_to_file, parent.named_children)):
            return True
    return False


def _to_file(node: Node) -> bool:
    if node.type != "file_redirect" or _is_error(node):
        return False
    text = source(node)
    return ">" in text[:3] and not text.startswith("2>") and ">&1" not in text


def _is_error(node: Node) -> bool:
    return node.type == "file_redirect" and _ERRORS.match(source(node)) is not None


def read_shell(text: str) -> Script:
    """Return what a shell script's text says it does.  Raises CannotParseError."""
    return _Reader(ShellTree(text)).script(text)


class _Reader:
    """Sorts the commands of one tree."""

    def __init__(self, tree: ShellTree) -> None:
        self._tree = tree
        self._commands = list(commands(tree))
        self._names = {node.id: name for node, name, _ in self._commands}
        self._prints = {one.node.id: one for one in islice(prints(tree), MAX_COMMANDS)}
        self._captured = captured_functions(tree)
        self._answers = dict(self._all_answers())
        self._answering = {
            name for node, _ in self._answers.values() if (name := function_of(self._tree, node))
        }

    def script(self, text: str) -> Script:
        """Return the facts."""
        chatter = {
            one.node.id: self._tree.place(one.node)
            for one in self._prints.values()
            if not one.error and one.text.strip()[:1] not in {"", "{", HOLE}
        }
        return Script(
            language=Language.SHELL,
            shebang=shebang(text),
            answers=tuple(self._placed(chatter)),
            chatter=tuple(chatter.values()),
            exits=tuple(self._exits()),
            waits=tuple(self._waits()),
            variables=tuple(self._variables()),
            words=frozenset(self._words()),
            unread=tuple(map(self._tree.place, self._tree.unread[:1])),
            speaks=">&2" in text or "/dev/stderr" in text,
        )

    def _placed(self, chatter: dict[int, Place]) -> Iterator[Answer]:
        """Yield the answers, with the plain text that surely comes before them."""
        for node, answer in self._answers.values():
            before = (chatter.get(earlier.id) for earlier in self._before(node))
            yield replace(answer, behind=next(filter(None, before), None))

    def _all_answers(self) -> Iterator[tuple[int, tuple[Node, Answer]]]:
        for one in self._prints.values():
            if not one.error and (answer := self._printed(one)) is not None:
                yield one.node.id, (one.node, answer)
        for node, name, arguments in self._commands:
            if name == "jq" and (answer := self._made(node, arguments)) is not None:
                yield node.id, (node, answer)

    def _printed(self, one: Print) -> Answer | None:
        """Return the answer that a text is, or is meant to be."""
        text = one.text.strip()
        if not (text.startswith("{") and text.endswith("}")):
            return None
        whole = HOLE not in text and "\\" not in text
        return read_answer(text, self._tree.place(one.node), whole=whole)

    def _made(self, command: Node, arguments: Sequence[Node]) -> Answer | None:
        """Return the answer that `jq` makes, where its program is one object."""
        if goes_elsewhere(self._tree, command, self._captured) or is_to_error(self._tree, command):
            return None
        for word in arguments:
            if word.type in {"raw_string", "string"}:
                # The blank stands for the opening quote, so that offsets are those in the word.
                shape = read_object(f" {plain(word)}", partial(self._tree.place, word))
                if shape is not None:
                    return Answer(self._tree.place(command), Written.JSON, (shape,))
        return None

    def _exits(self) -> Iterator[Exit]:
        ways = [(node, words) for node, name, words in self._commands if name == "exit"]
        for node, arguments in ways[:MAX_COMMANDS]:
            code = plain(arguments[0]) if arguments else ""
            number = int(code) if re.fullmatch(r"[0-9]{1,3}", code) else None
            block = list(self._before(node, enclosing=False))[:MAX_LOOKED_BACK]
            told = [self._prints[one.id].text for one in block if one.id in self._prints]
            function = function_of(self._tree, node)
            if function and any(HOLE in text for text in told):
                told += self._given(function)
            refusing = any(map(refuses, told)) or named_for_refusing(function)
            yield Exit(self._tree.place(node), number, refusing, self._answered(node))

    def _given(self, function: str) -> Iterator[str]:
        """Yield what a function of the script is called with: it may print its arguments."""
        for _, name, arguments in self._commands[:MAX_COMMANDS]:
            if name == function:
                yield " ".join(map(plain, arguments))

    def _answered(self, node: Node) -> bool:
        return any(
            one.id in self._answers or self._names.get(one.id) in self._answering
            for one in self._before(node)
        )

    def _before(self, node: Node, *, enclosing: bool = True) -> Iterator[Node]:
        """Yield the commands that surely ran before `node`, nearest first."""
        for parent, child in self._tree.above(node):
            if parent.type == "function_definition":
                return
            if parent.type in _BLOCKS and child.type not in _BRANCHES:
                for statement in self._tree.earlier(child, parent, MAX_SIBLINGS):
                    yield from _simple(statement)
                if not enclosing:
                    return

    def _waits(self) -> Iterator[Wait]:
        for node, name, arguments in self._commands:
            if found := waited(name, [plain(word) for word in arguments]):
                yield Wait(self._tree.place(node), found[0], name)

    def _variables(self) -> Iterator[Named]:
        for node in self._tree.nodes:
            parent = self._tree.parent(node) if node.type == "variable_name" else None
            if parent is not None and parent.type in {"simple_expansion", "expansion"}:
                yield Named(self._tree.place(node), source(node))

    def _words(self) -> Iterator[str]:
        for node in self._tree.nodes:
            if node.type != "comment" and not node.named_child_count:
                yield from _WORD.findall(source(node))


def _simple(node: Node) -> Iterator[Node]:
    """Yield the command that a statement surely runs."""
    while node.type == "redirected_statement" and node.named_children:
        node = node.named_children[0]
    if node.type == "command":
        yield node
