"""A shell line, parsed by tree-sitter's bash grammar and read into a Script.

Every form the grammar knows is in one of the tables below; a form in none of
them is a trouble, so that a newer grammar cannot let something through.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from crabhook.policy.shell import checks
from crabhook.policy.shell.heredoc import heredoc_text, heredoc_trouble
from crabhook.policy.shell.script import Assignment, Command, Flow, Redirect, Script, Word
from crabhook.policy.shell.standins import StandIns
from crabhook.policy.shell.words import WordReader, source
from crabhook.policy.shell.wrappers import is_plain, runs_the_unknown

_LANGUAGE = Language(tree_sitter_bash.language())
MAX_TREE = 120  # levels; a person's line has ten
MAX_COMMANDS = 500
MAX_KNOWN = 32  # values of one variable

_STRUCTURES = frozenset(
    {"program", "list", "pipeline", "subshell", "compound_statement", "do_group", "if_statement"}
    | {"elif_clause", "else_clause", "while_statement", "negated_command", "case_item"}
    | {"variable_assignments", "command_substitution", "process_substitution"}
)
_WORDS = frozenset(
    {"word", "number", "raw_string", "ansi_c_string", "translated_string", "string", "regex"}
    | {"concatenation", "simple_expansion", "expansion", "command_substitution", "variable_name"}
    | {"process_substitution", "arithmetic_expansion", "brace_expression", "extglob_pattern"}
    | {"special_variable_name", "test_operator"}
)
_FLOWS: Mapping[str, Flow] = {
    **dict.fromkeys((">", ">>", ">|", "&>", "&>>", ">&"), Flow.WRITE),
    "<": Flow.READ,
    "<>": Flow.BOTH,
}
_DUPLICATIONS = frozenset({">&", "<&"})
_CLOSINGS = frozenset({">&-", "<&-"})
_ARITHMETIC_TESTS = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v", "-R"})


def read_script(text: str, known: Mapping[str, Sequence[str]]) -> Script:
    """Return what the line `text` does; never raises.  `known`: what variables are found set to."""
    standing = StandIns(text, known)
    if trouble := checks.too_much(text) or standing.trouble:
        return Script(troubles=(trouble,))
    joined = standing.put(checks.join_words(text)).encode("utf-8", "replace")
    root = Parser(_LANGUAGE).parse(joined).root_node
    reader = _ScriptReader(joined, standing.known)
    if (joined[: root.start_byte] + joined[root.end_byte :]).strip(b" \t\n"):
        reader.trouble("text that the grammar left out")
    for trouble in checks.suspicions(text):
        reader.trouble(trouble)
    if checks.depth(root, MAX_TREE) > MAX_TREE:
        reader.trouble(f"it is nested deeper than {MAX_TREE} levels")
    else:
        reader.walk(root)
    return standing.taken_back(reader.script())


class _ScriptReader:
    """Walks one tree; collects what it finds in order."""

    def __init__(self, text: bytes, known: Mapping[str, Sequence[str]]) -> None:
        self._text = text
        self._known = {name: list(values) for name, values in known.items()}
        self._commands: list[Command] = []
        self._redirects: list[Redirect] = []
        self._troubles: dict[str, None] = {}
        self._given: list[str] = []
        self._words = WordReader(self._known, self.walk, self.trouble)

    def script(self) -> Script:
        """Return what was found."""
        troubles, given = tuple(self._troubles), tuple(self._given)
        return Script(tuple(self._commands), tuple(self._redirects), troubles, given)

    def trouble(self, reason: str) -> None:
        """Keep a reason why no rule may allow the line."""
        self._troubles[reason] = None

    def walk(self, node: Node) -> None:
        """Read a node that stands where commands do."""
        if node.is_error or node.is_missing:
            self.trouble("it is not well-formed")
        if len(self._commands) > MAX_COMMANDS:
            self.trouble(f"it has more than {MAX_COMMANDS} commands")
            return
        if node.type == "comment":
            self._comment(node)
        elif node.is_named:
            self._named(node)
        elif checks.part_of_a_word(node, self._text):
            self.trouble("a word of the shell's own that another word touches")

    def _comment(self, node: Node) -> None:
        if checks.comment_in_word(node, self._text):
            self.trouble("a comment where a word may go on")

    def _named(self, node: Node) -> None:
        if node.type in _STRUCTURES:
            self._structure(node)
        elif read := self._forms.get(node.type):
            self._gaps(node)
            read(self, node)
        elif node.type in _WORDS:
            self._words.word(node)
        else:
            if not node.is_error:
                self.trouble(f"a {node.type.replace('_', ' ')}, which rules do not know")
            self._children(node)

    def _gaps(self, node: Node) -> None:
        if node.type not in {"variable_name", "test_command"} and checks.gaps(node, self._text):
            self.trouble("text that the grammar left out")

    def _structure(self, node: Node) -> None:
        self._gaps(node)
        if node.type == "command_substitution" and source(node)[0] == "`" and "\\" in source(node):
            self.trouble("backslashes between backquotes")
        if node.type == "compound_statement" and source(node.children[0]) == "((":
            self.trouble("arithmetic over variables, whose values may be commands")
        self._children(node)
        self._piped(node)

    def _children(self, node: Node) -> None:
        for child in node.children:
            self.walk(child)

    def _piped(self, node: Node) -> None:
        """Keep what is printed into a pipe, as by `echo '…' | sh`: it may be a script."""
        todo = list(node.named_children[:-1]) if node.type == "pipeline" else []
        while todo:
            inner = todo.pop()
            if (words := self._plain(inner))[:1] in (["echo"], ["printf"]):
                self._given.append(" ".join(words[1:]))
            todo += inner.named_children

    def _plain(self, node: Node) -> list[str]:
        """Return a simple command's words at the best guess; nothing for any other node."""
        words = node.named_children if node.type == "command" else ()
        return [self._guessed(one).text for one in words if one.type not in _ASIDES]

    def _guessed(self, node: Node) -> Word:
        return WordReader(self._known, lambda _: None, lambda _: None).word(_inside(node))

    def _gives(self, node: Node) -> None:
        """Keep the text of a here-document or a here-string."""
        self._given += heredoc_text(node)
        if node.type == "herestring_redirect" and node.named_children:
            self._given += self._guessed(node.named_children[0]).values

    def _command(self, node: Node) -> None:
        self._simple(node, ())

    def _simple(self, node: Node, more: Sequence[Node]) -> None:
        """Read a simple command; `more` are words that the grammar hung on its redirects."""
        words: list[Word] = []
        assignments: list[Assignment] = []
        for child in node.children:
            if child.type == "variable_assignment":
                assignments += self._assigned(child)
            elif child.type in {"file_redirect", "herestring_redirect"}:
                words += map(self._words.word, self._redirect(child))
            elif child.type == "comment":
                self.walk(child)
            else:
                words.append(self._argument(child))
        words += map(self._words.word, more)
        command = Command(tuple(words), tuple(assignments), source(node))
        if words and runs_the_unknown(command):
            self.trouble("what runs is only known when it runs")
        if checks.touching(node):
            self.trouble("words that the grammar has cut in two")
        self._commands.append(command)

    def _argument(self, node: Node) -> Word:
        self._gives(node)
        inner = _inside(node)
        if inner.is_error or inner.is_missing:
            self.trouble("it is not well-formed")
        return self._words.word(inner) if inner.is_named else _word(source(inner))

    def _declaration(self, node: Node) -> None:
        """Read `export`, `local`, `unset` …: commands whose assignments are words."""
        words: list[Word] = []
        if checks.touching(node):
            self.trouble("words that the grammar has cut in two")
        for child in node.children:
            if child.type == "variable_assignment":
                assigned = self._assigned(child)
                fixed = all(one.value.fixed for one in assigned)
                words.append(Word(source(child), (source(child),), fixed))
            else:
                words.append(self._argument(child))
        self._commands.append(Command(tuple(words), source=source(node)))

    def _test(self, node: Node) -> None:
        """Read `[ … ]` and `[[ … ]]` as a command of that name."""
        words = [_word(source(node.children[0]))]
        if trouble := checks.test_trouble(source(node)):
            self.trouble(trouble)
        todo = list(node.children[1:])
        arithmetic = dynamic = False
        while todo:
            child = todo.pop(0)
            if child.type in _WORDS:
                words.append(self._words.word(child))
                arithmetic |= words[-1].raw in _ARITHMETIC_TESTS
                dynamic |= child.type not in {"number", "test_operator"} and words[-1].raw != ""
            elif child.children:
                todo[:0] = child.children
            else:
                words.append(_word(source(child)))
        if arithmetic and dynamic and words[0].raw == "[[":
            self.trouble("[[ … ]] computes with words, whose values may be commands")
        self._commands.append(Command(tuple(words), source=source(node)))

    def _assignment(self, node: Node) -> None:
        """Read an assignment that stands alone: it changes the shell, and runs nothing."""
        assigned = self._assigned(node)
        for one in assigned:
            if not is_plain(one.name):
                self.trouble(f"it sets {one.name}, which may change what runs")
        self._commands.append(Command((), tuple(assigned), source(node)))

    def _assigned(self, node: Node) -> list[Assignment]:
        name, _, *values = node.children if len(node.children) > 1 else (*node.children, node)
        if name.type != "variable_name":
            self.trouble("it sets part of an array")
            self._children(name)
        value = self._words.word(values[0]) if values else _word("")
        self._knows(source(name), value.values)
        return [Assignment(source(name), value)]

    def _knows(self, name: str, values: Sequence[str]) -> None:
        """Keep what a variable may hold: never forgotten, since a loop may come back to it."""
        known = dict.fromkeys((*self._known.get(name, ()), *values))
        self._known[name] = list(known)[-MAX_KNOWN:]

    def _redirected(self, node: Node) -> None:
        """Read a statement with redirects; here-documents may carry the rest of the line."""
        body, redirects = None, []
        for child in node.children:
            if child.type in {"file_redirect", "heredoc_redirect", "herestring_redirect"}:
                redirects.append(child)
            else:
                body = child
        extra = [word for redirect in redirects for word in self._redirect(redirect)]
        if body is not None and body.type == "command":
            self._simple(body, extra)
        elif body is not None:
            if extra:
                self.trouble("words after a redirect")
            self.walk(body)

    def _redirect(self, node: Node) -> Sequence[Node]:
        """Read a redirect; return the words after its target, which are the command's."""
        self._gaps(node)
        self._gives(node)
        if node.type == "heredoc_redirect":
            return self._heredoc(node)
        operator = next((source(child) for child in node.children if not child.is_named), "")
        words = [child for child in node.named_children if child.type != "file_descriptor"]
        if node.type == "herestring_redirect":
            self._words.word(words[0])
            return words[1:]
        if operator in _CLOSINGS:
            return words
        if node.has_error or not words or operator not in {*_FLOWS, *_DUPLICATIONS}:
            self.trouble("a redirect that rules do not know")
            self._children(node)
            return ()
        target = self._words.word(words[0])
        if operator in _DUPLICATIONS and target.fixed and target.text.rstrip("-").isdigit():
            return words[1:]
        flow = _FLOWS.get(operator, Flow.BOTH)
        self._redirects.append(Redirect(flow, target, source(node)))
        return words[1:]

    def _heredoc(self, node: Node) -> Sequence[Node]:
        if trouble := heredoc_trouble(node):
            self.trouble(trouble)
        words: list[Node] = []
        for child in node.children:
            if child.type in {"heredoc_start", "heredoc_end", "heredoc_content"}:
                continue
            if child.type == "heredoc_body":
                for inner in child.named_children:
                    if inner.type != "heredoc_content":
                        self._words.word(inner)
            elif child.type in {"file_redirect", "herestring_redirect"}:
                words += self._redirect(child)
            elif child.type in _WORDS:
                words.append(child)
            else:
                self.walk(child)
        return words

    def _for(self, node: Node) -> None:
        """Read a loop: its variable takes each of the words after `in`."""
        variable, *others = node.named_children
        name = source(variable)
        if not is_plain(name):
            self.trouble(f"it sets {name}, which may change what runs")
        for child in others:
            if child.type in _WORDS:
                self._knows(name, self._words.word(child).values)
            else:
                self.walk(child)

    def _function(self, node: Node) -> None:
        for child in node.children:
            if child.type == "file_redirect":
                self._redirect(child)
            elif child.type != "word":
                self.walk(child)

    # Made once, not for every line: from a node's type to the method that reads it.
    _forms: ClassVar[Mapping[str, Callable[[Any, Node], object]]] = {
        "command": _command,
        "declaration_command": _declaration,
        "unset_command": _declaration,
        "test_command": _test,
        "variable_assignment": _assignment,
        "redirected_statement": _redirected,
        "file_redirect": _redirect,
        "heredoc_redirect": _redirect,
        "herestring_redirect": _redirect,
        "for_statement": _for,
        "function_definition": _function,
        "case_statement": _children,
    }


_ASIDES = frozenset(
    {"variable_assignment", "file_redirect", "herestring_redirect", "comment", "heredoc_redirect"}
)


def _inside(node: Node) -> Node:
    return node.children[0] if node.type == "command_name" and node.children else node


def _word(text: str) -> Word:
    return Word(text, (text,))
