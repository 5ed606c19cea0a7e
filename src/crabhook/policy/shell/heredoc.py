"""Here-documents: the grammar and a shell must agree on where they end and what they expand."""

import re

from tree_sitter import Node

from crabhook.policy.shell import checks

_START = re.compile(r"'[\w. -]+'|\"[\w. -]+\"|\\?[\w.-]+")


def heredoc_trouble(node: Node) -> str:
    """Return why a shell might read the here-document otherwise; nothing if it cannot."""
    start = _child_text(node, "heredoc_start")
    if node.has_error or not _START.fullmatch(start):
        return "a here-document with an end that rules do not know"
    word = start.strip("'\"\\")
    body = _body(node)
    lines = body.split("\n")
    tabs = any(child.type == "<<-" for child in node.children)
    if any((line.lstrip("\t") if tabs else line) == word for line in lines):
        return "a here-document that ends sooner than the grammar thinks"
    if start == word and checks.unread(_unexpanded(node)):
        return "an expansion that the grammar did not see"
    return ""


def heredoc_text(node: Node) -> list[str]:
    """Return what a here-document gives to standard input; nothing for any other node."""
    return [_body(node)] if node.type == "heredoc_redirect" else []


def _body(node: Node) -> str:
    return _child_text(node, "heredoc_body")


def _child_text(node: Node, kind: str) -> str:
    found = [child for child in node.children if child.type == kind]
    return (found[0].text or b"").decode(errors="replace") if found else ""


def _unexpanded(node: Node) -> str:
    """Return the document's text without what the grammar saw to be expanded."""
    body = next((child for child in node.children if child.type == "heredoc_body"), None)
    if body is None:
        return ""
    text, at, kept = body.text or b"", 0, b""
    for child in body.named_children:
        if child.type != "heredoc_content":
            kept += text[at : child.start_byte - body.start_byte]
            at = child.end_byte - body.start_byte
    return (kept + text[at:]).decode(errors="replace")
