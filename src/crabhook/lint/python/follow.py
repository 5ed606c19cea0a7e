"""What an expression may come to, as far as assignments, calls and returns in the script tell."""

import ast
from collections.abc import Iterator, Sequence

from crabhook.lint.python.tree import Function, Scope, Tree, own

MAX_FOLLOWED = 100  # steps from one expression; a hook's author takes five
MAX_BINDINGS = 40  # of one name, returns of one function, calls of one; more is not known


class Follower:
    """Follows the names of one script to the expressions behind them."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._bindings: dict[tuple[Scope, str], list[ast.expr | None]] = {}
        for node in tree.nodes:
            self._bind(node)

    def follow(self, node: ast.expr) -> Sequence[ast.expr]:
        """Return the expressions that `node` may come to.

        A name or a call that nothing is known of comes to itself.
        """
        seen: set[ast.expr] = set()
        found: dict[ast.expr, None] = {}
        todo = [node]
        while todo and len(seen) < MAX_FOLLOWED:
            one = todo.pop()
            if one in seen:
                continue
            seen.add(one)
            behind = self._behind(one)
            if behind is None:
                found[one] = None
            else:
                todo.extend(behind)
        return tuple(found)

    def bindings(self, scope: Scope, name: str) -> Sequence[ast.expr | None]:
        """Return what a scope assigns to a name; None stands for what is not known."""
        return self._bindings.get((scope, name), ())

    def constant(self, node: ast.expr) -> object:
        """Return the one constant that `node` comes to, or None."""
        values = [one.value for one in self.follow(node) if isinstance(one, ast.Constant)]
        return values[0] if len(values) == 1 == len(self.follow(node)) else None

    def _behind(self, node: ast.expr) -> Sequence[ast.expr] | None:
        """Return what stands behind one expression; None where nothing does."""
        match node:
            case ast.IfExp(body=body, orelse=orelse):
                return [body, orelse]
            case ast.NamedExpr(value=value) | ast.Await(value=value):
                return [value]
            case ast.BoolOp(op=ast.Or(), values=values):
                return values
            case ast.Name():
                return self._named(node)
            case ast.Call(func=ast.Name(id=name)) if name in self._tree.functions:
                return _returned(self._tree.functions[name])
        return None

    def _named(self, node: ast.Name) -> Sequence[ast.expr] | None:
        scope = self._tree.scope(node)
        bound = self.bindings(scope, node.id)
        if not bound and not isinstance(scope, ast.Module):
            if node.id in _parameters(scope):
                return self._given(scope, node.id)
            bound = self.bindings(self._tree.root, node.id)
        known = [one for one in bound if one is not None]
        certain = 0 < len(known) == len(bound) <= MAX_BINDINGS
        return known if certain else None

    def _given(self, function: Function, name: str) -> Sequence[ast.expr] | None:
        """Return what all calls give a function for a parameter; None where one hides it."""
        calls = self._tree.calls.get(function.name, ())
        if len(calls) > MAX_BINDINGS:
            return None
        given = [_argument(function, name, call) for call in calls]
        if not given or None in given or self._tree.functions.get(function.name) is not function:
            return None
        return [one for one in given if one is not None]

    def _bind(self, node: ast.AST) -> None:
        for target, value in _assigned(node):
            if isinstance(target, ast.Name):
                self._keep(target, value)
            else:
                for inner in ast.walk(target):
                    if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                        self._keep(inner, None)

    def _keep(self, target: ast.Name, value: ast.expr | None) -> None:
        self._bindings.setdefault((self._tree.scope(target), target.id), []).append(value)


def _assigned(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """Yield what a node assigns, and what to."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield target, value
        case ast.AnnAssign(target=target, value=ast.expr() as given):
            yield target, given
        case ast.NamedExpr(target=target, value=value):
            yield target, value
        case ast.AugAssign(target=target) | ast.For(target=target) | ast.AsyncFor(target=target):
            yield target, None
        case ast.comprehension(target=target):
            yield target, None
        case ast.withitem(optional_vars=ast.expr() as target):
            yield target, None


def _returned(function: Function) -> Sequence[ast.expr] | None:
    """Return what a function gives back; None for a generator, or one that gives nothing back."""
    inside = list(own(function))
    if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in inside):
        return None
    found = [node.value for node in inside if isinstance(node, ast.Return) and node.value]
    return found if 0 < len(found) <= MAX_BINDINGS else None


def _parameters(function: Function) -> Sequence[str]:
    arguments = function.args
    return [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def _argument(function: Function, name: str, call: ast.Call) -> ast.expr | None:
    """Return what a call gives for a parameter, or its default; None where that is hidden."""
    starred = any(isinstance(one, ast.Starred) for one in call.args)
    if starred or any(one.arg is None for one in call.keywords):
        return None
    arguments = function.args
    positional = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    given = dict(zip(positional, call.args, strict=False))
    given |= {one.arg: one.value for one in call.keywords if one.arg is not None}
    return given.get(name) or _default(arguments, positional, name)


def _default(arguments: ast.arguments, positional: list[str], name: str) -> ast.expr | None:
    defaults = dict(zip(reversed(positional), reversed(arguments.defaults), strict=False))
    keyword_only = [one.arg for one in arguments.kwonlyargs]
    pairs = zip(keyword_only, arguments.kw_defaults, strict=True)
    defaults |= {key: value for key, value in pairs if value is not None}
    return defaults.get(name)
