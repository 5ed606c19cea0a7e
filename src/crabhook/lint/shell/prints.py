"""What a shell script writes: which commands write text, and where to."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from crabhook.lint.loose import HOLE
from crabhook.lint.shell.tree import ShellTree, filled, heredoc, plain, source, words

_ERRORS = re.compile(r"\s*(?:1?>&2|1?>>?\s*/dev/stderr)")
_CAPTURING = frozenset({"command_substitution", "process_substitution", "pipeline"})
_OPTION = re.compile(r"-[neE]+|--")
_FORMAT = re.compile(r"%[-0-9.]*[a-zA-Z]")


@dataclass(frozen=True, slots=True)
class Print:
    """A command that writes text: whether on standard error, and what."""

    node: Node
    error: bool
    text: str


def prints(tree: ShellTree) -> Iterator[Print]:
    """Yield the commands that write a text which is in the script itself."""
    captured = captured_functions(tree)
    for node in tree.nodes:
        said = words(node) if node.type == "command" else []
        name = plain(said[0]) if said else ""
        if name not in {"echo", "printf", "cat"} or goes_elsewhere(tree, node, captured):
            continue
        if name != "cat":
            yield Print(node, is_to_error(tree, node), _said(name, said[1:]))
        elif len(said) == 1 and (parent := tree.parent(node)) is not None:
            body = heredoc(parent)
            if body is not None:
                yield Print(node, is_to_error(tree, node), filled(body))


def captured_functions(tree: ShellTree) -> frozenset[str] | None:
    """Return the functions whose output goes elsewhere; None where all output does (`exec >…`)."""
    found = set()
    for node in tree.nodes:
        said = words(node) if node.type == "command" else []
        name = plain(said[0]) if said else ""
        parent = tree.parent(node)
        if name == "exec" and parent is not None and _redirected(parent):
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


def _redirected(node: Node) -> bool:
    return any(child.type == "file_redirect" for child in node.named_children)


def _to_file(node: Node) -> bool:
    if node.type != "file_redirect" or _is_error(node):
        return False
    text = source(node)
    return ">" in text[:3] and not text.startswith("2>") and ">&1" not in text


def _is_error(node: Node) -> bool:
    return node.type == "file_redirect" and _ERRORS.match(source(node)) is not None
