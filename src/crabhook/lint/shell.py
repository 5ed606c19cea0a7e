"""A shell hook script's facts: which commands write what and where, and what else it does.

A real grammar parses the script within a bound of work; one walk takes each command with its
surroundings.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

import tree_sitter_bash
from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser

from crabhook.data_files import names
from crabhook.datatypes import frozen
from crabhook.lint import script
from crabhook.lint.discover import shebang
from crabhook.lint.loose_json import HOLE, read_answer, read_object

MAX_WORK = 40_000  # the parser's own reports of progress; 1 MiB of sound shell makes 20 000
CHUNK = 512  # bytes; the parser copies one whenever a node's text is asked for
MAX_NODES = 400_000
MAX_DEPTH = 200  # a person's script has twenty
MAX_LOOKED_BACK = 8
MAX_EARLIER = 500
MAX_COMMANDS = 400  # that print or exit; a hook has ten

# The grammar's C scanner uses a table of 256 letters; a far larger letter would end the process. No
# rule depends on such a letter.
_BEYOND, _STAND_IN = re.compile(r"[^\x00-\xff]"), "\xbf"
_ESCAPED = re.compile(r'\\([$`"\\])')
_ERRORS = re.compile(r"\s*(?:1?>&2|1?>>?\s*/dev/stderr)")
_OPTION = re.compile(r"-[neE]+|--")
_FORMAT = re.compile(r"%[-0-9.]*[a-zA-Z]")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]+")

_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh"})
# Each reads standard input where so many of its operands, or fewer, are there.
_READERS = {
    "cat": 0,
    "tee": 9,
    "jq": 1,
    "sed": 1,
    "grep": 1,
    "awk": 1,
    "tr": 2,
    "cut": 0,
    "head": 0,
}
_QUOTED = re.compile(r"@sh\b|%q|@Q\}")
_RUNS_ITS_ARGUMENT = re.compile(r"-[a-z]*c")
_FROM = re.compile(r"0?<(?!<)\s*(?!/dev/stdin\b)")
_FROM_INPUT = re.compile(r"0?<\s*/dev/stdin\b")
# A script's variables depend on each other in a few steps; more are not followed.
_MAX_STEPS = 8

_GRAMMAR = Grammar(tree_sitter_bash.language())
_SUBSTITUTIONS = frozenset({"command_substitution", "process_substitution"})
_EXPANSIONS = frozenset({"simple_expansion", "expansion"})
_HOLES = _SUBSTITUTIONS | _EXPANSIONS | {"arithmetic_expansion"}
_NO_WORDS = frozenset({"variable_assignment", "file_redirect", "herestring_redirect"})
_BRANCHES = frozenset({"elif_clause", "else_clause"})
_BLOCKS = _BRANCHES | names("program compound_statement do_group if_statement case_item subshell")


@frozen
class _Around:
    """The surroundings of a node.

    `error`, `away`: output goes to standard error, or to a command, a variable or a file. `before`:
    the last command that surely ran before.
    """

    function: str = ""
    error: bool = False
    away: bool = False
    block: int = 0
    before: "ShellCommand | None" = None


@dataclass(frozen=True, slots=True, eq=False)
class ShellCommand:
    """A simple command, its name and arguments, its node and surroundings."""

    node: Node
    parent: Node
    name: str
    arguments: Sequence[Node]
    around: _Around

    def earlier(self, *, enclosing: bool = True) -> Iterator["ShellCommand"]:
        """Yield commands that surely ran before it, nearest first; if `enclosing`, outer too."""
        command = self.around.before
        for _ in range(MAX_EARLIER):
            if command is None or not (enclosing or command.around.block == self.around.block):
                return
            yield command
            command = command.around.before

    def texts(self) -> list[str]:
        """Return the arguments as the shell makes them."""
        return [plain(word) for word in self.arguments]


class ShellTree:
    """One parsed script; CannotParseError if the grammar cannot read it."""

    def __init__(self, text: str) -> None:
        content = _BEYOND.sub(_STAND_IN, text).encode("utf-8", "replace")
        self._lines = content.split(b"\n")
        self._nodes = 0
        self.commands: list[ShellCommand] = []
        self.variables: list[script.Named] = []
        self.assignments: list[tuple[Node, Node]] = []
        self.words: set[str] = set()
        self.unread: list[script.SourcePlace] = []
        root = _parse(content)
        self._take(root, root, _Around(), 0)

    def place(self, node: Node, offset: int = 0) -> script.SourcePlace:
        """Return where a node begins, or the place `offset` characters on in its text."""
        before = source(node)[:offset]
        row = node.start_point.row + before.count("\n")
        if "\n" in before:
            return script.SourcePlace(row + 1, offset - before.rfind("\n"))
        line = self._lines[row] if row < len(self._lines) else b""
        column = len(line[: node.start_point.column].decode("utf-8", "replace"))
        return script.SourcePlace(row + 1, column + 1 + offset)

    def _take(self, node: Node, parent: Node, around: _Around, depth: int) -> ShellCommand | None:
        """Read a node and all in it; return the command that it surely runs."""
        self._nodes += 1
        if depth > MAX_DEPTH:
            raise script.CannotParseError(f"it is nested deeper than {MAX_DEPTH} levels")
        if self._nodes > MAX_NODES:
            raise script.CannotParseError("it has more parts than any shell script should")
        if node.is_error and depth:
            self.unread.append(self.place(node))
            return None
        command, children = None, node.named_children
        if node.type == "command" and (words := _words(node)):
            command = ShellCommand(node, parent, plain(words[0]), words[1:], around)
            self.commands.append(command)
        elif node.type == "variable_assignment" and len(children) == 2:
            self.assignments.append((children[0], children[1]))
        elif node.type == "variable_name" and parent.type in _EXPANSIONS:
            self.variables.append(script.Named(self.place(node), source(node)))
        if not children and node.type != "comment":
            self.words.update(_WORD.findall(source(node)))
        return self._take_in(node, children, _inside(node, children, around), depth) or command

    def _take_in(
        self, node: Node, children: Sequence[Node], around: _Around, depth: int
    ) -> ShellCommand | None:
        """Read a node's children; return the command of the first, if only redirected."""
        inner = replace(around, block=node.id) if node.type in _BLOCKS else around
        first = None
        for number, child in enumerate(children):
            if node.type == "pipeline" and number == len(children) - 1:
                inner = around
            elif node.type == "pipeline":
                inner = replace(around, away=True)
            branch = node.type in _BLOCKS and child.type in _BRANCHES
            ran = self._take(child, node, around if branch else inner, depth + 1)
            if ran is not None and node.type in _BLOCKS:
                inner = replace(inner, before=ran)
            elif number == 0 and node.type == "redirected_statement":
                first = ran
        return first


def _inside(node: Node, children: Sequence[Node], around: _Around) -> _Around:
    if node.type == "function_definition" and children:
        return _Around(source(children[0]))
    if node.type in _SUBSTITUTIONS:
        return replace(around, away=True)
    if node.type == "redirected_statement":
        texts = [source(child) for child in children if child.type == "file_redirect"]
        others = [text for text in texts if not _ERRORS.match(text)]
        away = any(
            ">" in other[:3] and other[:2] != "2>" and ">&1" not in other for other in others
        )
        error = around.error or len(others) < len(texts)
        return replace(around, error=error, away=around.away or away)
    return around


def _words(command: Node) -> list[Node]:
    words = []
    for child in command.named_children:
        if child.type == "command_name":
            words.append(child.children[0] if child.children else child)
        elif child.type not in _NO_WORDS:
            words.append(child)
    return words


def plain(node: Node) -> str:
    """Return a word as the shell makes it, with a hole for each part unknown before the run."""
    if node.type == "raw_string":
        return source(node)[1:-1]
    if node.type in _HOLES:
        return HOLE
    if node.type == "string":
        return _ESCAPED.sub(r"\1", _filled(node)[1:-1])
    return _filled(node) if node.child_count else source(node)


def _filled(node: Node) -> str:
    """Return a node's text with quotes, and holes for expansions."""
    content = node.text or b""
    pieces, at = [], 0
    for child in node.named_children:
        kept = child.type in {"string_content", "heredoc_content"}
        pieces.append(content[at : child.start_byte - node.start_byte])
        pieces.append((source(child) if kept else plain(child)).encode())
        at = child.end_byte - node.start_byte
    return b"".join([*pieces, content[at:]]).decode("utf-8", "replace")


def source(node: Node) -> str:
    """Return a node's text as it is written."""
    return (node.text or b"").decode("utf-8", "replace")


def _parse(content: bytes) -> Node:
    reports = 0

    def too_much(_offset: int, _error: bool) -> bool:  # noqa: FBT001 - the parser's signature
        nonlocal reports
        reports += 1
        return reports > MAX_WORK

    try:
        tree = Parser(_GRAMMAR).parse(
            lambda offset, _: content[offset : offset + CHUNK], progress_callback=too_much
        )
    except ValueError as error:
        raise script.CannotParseError(
            "it takes more work to read than any shell script should"
        ) from error
    return tree.root_node


def read_shell(text: str) -> script.HookScript:
    """Return what a shell script's text says it does. Raises CannotParseError."""
    tree = ShellTree(text)
    printed = dict(islice(prints(tree), MAX_COMMANDS))
    answers = dict(_answers(tree, printed))
    chatter = {
        command: tree.place(command.node)
        for command, text in printed.items()
        if not command.around.error and text.strip()[:1] not in {"", "{", HOLE}
    }
    behind = {
        answering: next(
            (chatter[earlier] for earlier in answering.earlier() if earlier in chatter), None
        )
        for answering in answers
    }
    return script.HookScript(
        language=script.Language.SHELL,
        shebang=shebang(text),
        answers=tuple(
            replace(answer, behind=behind[command]) for command, answer in answers.items()
        ),
        chatter=tuple(chatter.values()),
        exits=tuple(_exits(tree, printed, answers)),
        waits=tuple(
            script.Wait(tree.place(command.node), length_and_word[0], command.name)
            for command in tree.commands
            if (length_and_word := script.waited(command.name, command.texts()))
        ),
        variables=tuple(tree.variables),
        words=frozenset(tree.words),
        runs_input=tuple(tree.place(command.node) for command in _runs_input(tree)),
        unread=tuple(tree.unread[:1]),
        speaks=">&2" in text or "/dev/stderr" in text,
    )


def prints(tree: ShellTree) -> Iterator[tuple[ShellCommand, str]]:
    """Yield the commands that write a text which is in the script itself, and the text."""
    for command in _heard(tree.commands):
        if command.name in {"echo", "printf"}:
            yield command, _said(command.name, command.texts())
        elif command.name == "cat" and not command.arguments:
            for redirect in command.parent.named_children:
                bodies = [body for body in redirect.named_children if body.type == "heredoc_body"]
                yield from ((command, _filled(body)) for body in bodies)


def _heard(commands: Sequence[ShellCommand]) -> Iterator[ShellCommand]:
    """Yield the commands whose output is the script's, on either stream."""
    captured = {command.name for command in commands if command.around.away} - {""}
    for command in commands:
        if command.name == "exec" and any(
            n.type == "file_redirect" for n in command.parent.named_children
        ):
            return  # all output goes elsewhere
    for command in commands:
        if not command.around.away and command.around.function not in captured:
            yield command


def _said(name: str, texts: list[str]) -> str:
    """Return what `echo` or `printf` prints, exact enough for reading."""
    while texts and _OPTION.fullmatch(texts[0]):
        texts = texts[1:]
    if name == "echo" or not texts:
        return " ".join(texts)
    template = texts[0].replace("\\n", "\n")
    if template.strip() == "%s" and len(texts) == 2:
        return texts[1]
    printed = _FORMAT.sub(HOLE, template)
    return printed if "{" in printed else " ".join([printed, *texts[1:]])


def _answers(
    tree: ShellTree, printed: Mapping[ShellCommand, str]
) -> Iterator[tuple[ShellCommand, script.HookAnswer]]:
    """Yield the printed answers, and the objects that `jq` programs make."""
    for command, output in printed.items():
        text = output.strip()
        if not command.around.error and text.startswith("{") and text.endswith("}"):
            whole = HOLE not in text and "\\" not in text
            yield command, read_answer(text, tree.place(command.node), whole=whole)
    for command in _heard(tree.commands):
        if command.name == "jq" and not command.around.error:
            quoted = [word for word in command.arguments if word.type in {"raw_string", "string"}]
            # The blank replaces the opening quote, so that offsets are right.
            read = (read_object(f" {plain(word)}", partial(tree.place, word)) for word in quoted)
            for shape in islice(filter(None, read), 1):
                yield (
                    command,
                    script.HookAnswer(tree.place(command.node), script.Written.JSON, (shape,)),
                )


def _exits(
    tree: ShellTree,
    printed: Mapping[ShellCommand, str],
    answers: Mapping[ShellCommand, script.HookAnswer],
) -> Iterator[script.Exit]:
    answering = {answer.around.function for answer in answers} - {""}
    for command in [command for command in tree.commands if command.name == "exit"][:MAX_COMMANDS]:
        code = command.texts()[0] if command.arguments else ""
        number = int(code) if re.fullmatch(r"[0-9]{1,3}", code) else None
        function, near = (
            command.around.function,
            islice(command.earlier(enclosing=False), MAX_LOOKED_BACK),
        )
        texts = [printed[earlier] for earlier in near if earlier in printed]
        if function and any(HOLE in text for text in texts):  # it may print its arguments
            calls = (call for call in tree.commands[:MAX_COMMANDS] if call.name == function)
            texts += [" ".join(call.texts()) for call in calls]
        refusing = any(map(script.refuses, texts)) or script.named_for_refusing(function)
        answered = any(e in answers or e.name in answering for e in command.earlier())
        yield script.Exit(tree.place(command.node), number, refusing, answered)


# Where the script runs, as shell, what its agent sent. It is followed from standard input through
# the commands that read it, pipelines, here-strings and variables. Quoting for the shell (jq's
# `@sh`, `printf %q`, `${x@Q}`) ends the way.


def _runs_input(tree: ShellTree) -> Iterator[ShellCommand]:
    """Yield the commands that run the agent's input, or a part of it, as shell."""
    sent = _variables_sent(tree)
    for command in tree.commands:
        if _runs_its_input(command, sent):
            yield command


def _runs_its_input(command: ShellCommand, sent: frozenset[str]) -> bool:
    name = command.name.rpartition("/")[2]
    texts = command.texts()
    if name == "eval":
        return any(_is_sent(argument, sent) for argument in command.arguments)
    if name in {"source", "."}:
        return texts[:1] == ["/dev/stdin"]
    if name not in _SHELLS:
        return False
    for option, argument in zip(texts, command.arguments[1:], strict=False):
        if _RUNS_ITS_ARGUMENT.fullmatch(option):
            return _is_sent(argument, sent)
    has_script = any(not text.startswith("-") for text in texts)
    return not has_script and _is_fed(command.node, sent)


def _is_fed(node: Node, sent: frozenset[str]) -> bool:
    """Whether the command's standard input, in a pipeline or by a here-string, was sent."""
    below, parent = node, node.parent
    redirects = _redirects(node)
    if parent is not None and parent.type == "redirected_statement":
        redirects += _redirects(parent)
        below, parent = parent, parent.parent
    if any(_is_sent(redirect, sent) for redirect in redirects):
        return True
    if parent is None or parent.type != "pipeline":
        return False
    before = [child for child in parent.named_children if child.start_byte < below.start_byte]
    return _is_pipeline_sent(before, sent)


def _redirects(node: Node) -> list[Node]:
    return [child for child in node.named_children if child.type.endswith("_redirect")]


def _is_taken_elsewhere(redirects: Sequence[Node]) -> bool:
    """Whether standard input is redirected, and from something else than the script's own."""
    return any(
        redirect.type != "file_redirect" or _FROM.match(source(redirect)) for redirect in redirects
    )


def _variables_sent(tree: ShellTree) -> frozenset[str]:
    """Return the variables that hold the agent's input, or a part of it."""
    sent = frozenset(
        text
        for command in tree.commands
        if command.name == "read" and _is_input_free(command.node)
        for text in command.texts()
        if text.isidentifier()
    )
    for _ in range(_MAX_STEPS):
        more = sent | {source(name) for name, value in tree.assignments if _is_sent(value, sent)}
        if more == sent:
            break
        sent = more
    return sent


def _is_input_free(node: Node) -> bool:
    """Whether a command reads the script's own standard input, as far as its surroundings show."""
    below, parent = node, node.parent
    taken = _is_taken_elsewhere(_redirects(node))
    while parent is not None and not taken:
        taken = parent.type == "pipeline" and parent.named_children[0] != below
        if parent.type == "redirected_statement":
            taken = _is_taken_elsewhere(_redirects(parent))
        below, parent = parent, parent.parent
    return not taken


def _is_sent(node: Node, sent: frozenset[str], *, piped: bool = False) -> bool:
    """Whether a text holds what the agent sent; `piped`: its commands read another's output."""
    kind, children = node.type, node.named_children
    if kind in _EXPANSIONS:
        names = {source(child) for child in children if child.type == "variable_name"}
        return bool(names & sent) and not _QUOTED.search(source(node))
    if kind == "pipeline":
        return _is_pipeline_sent(children, sent, piped=piped)
    if kind == "command":
        return _prints_sent(node, sent, piped=piped)
    redirects = _redirects(node)
    if any(_FROM_INPUT.match(source(redirect)) for redirect in redirects):
        return True
    piped = piped or _is_taken_elsewhere(redirects)
    return any(_is_sent(child, sent, piped=piped) for child in children)


def _is_pipeline_sent(stages: Sequence[Node], sent: frozenset[str], *, piped: bool = False) -> bool:
    """Whether the last stage prints what was sent: a stage takes it in, and none quotes it."""
    if any(_QUOTED.search(source(stage)) for stage in stages):
        return False
    return any(
        _is_sent(stage, sent, piped=piped or number > 0) for number, stage in enumerate(stages)
    )


def _prints_sent(command: Node, sent: frozenset[str], *, piped: bool) -> bool:
    """Whether a command prints its input, or an argument, that was sent."""
    if _QUOTED.search(source(command)):
        return False
    words, redirects = _words(command), _redirects(command)
    if any(_is_sent(word, sent, piped=piped) for word in (*words[1:], *redirects)):
        return True
    operands = [word for word in words[1:] if not plain(word).startswith("-")]
    name = plain(words[0]).rpartition("/")[2] if words else ""
    reads = len(operands) <= _READERS.get(name, -1)
    return reads and not piped and not _is_taken_elsewhere(redirects)
