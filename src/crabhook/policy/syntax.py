"""Rules as text, in Claude Code's permission syntax: `Tool`, `Tool(specifier)` (section 10)."""

import re

from crabhook.policy.command_pattern import command_pattern
from crabhook.policy.matcher import (
    CommandMatcher,
    DomainMatcher,
    InputMatcher,
    Matcher,
    NameMatcher,
    PathMatcher,
    ToolMatcher,
)
from crabhook.policy.paths import PathSet, path_pattern
from crabhook.policy.tools import PRIMARY_KEYS, canonical
from crabhook.policy.wildcard import Wildcard, parse

_RULE = re.compile(r"(?P<tool>[\w*.:-]+)(?:\((?P<specifier>.*)\))?", re.DOTALL)
_INPUT = re.compile(r"(?P<key>[A-Za-z_]\w*):(?P<value>.+)", re.DOTALL)
_MCP_PREFIX = re.compile(r"mcp__[\w.-]*[\w.-]__[^*]*\*+")
_UNCONSULTED = {"Write": "Edit", "MultiEdit": "Edit", "NotebookEdit": "Edit"}
_UNCONSULTED |= {"Glob": "Read", "Grep": "Read", "NotebookRead": "Read", "LS": "Read"}
_WHOLE = frozenset({"WebSearch"})


def parse_matcher(text: str, *, restricts: bool) -> Matcher:
    """Return the matcher that `text` writes.

    `restricts`: it stands in a rule that denies or asks, which may use more.
    Raises ValueError, in words for a person, for what Claude Code would not
    consult or we cannot read.
    """
    if any(not letter.isprintable() for letter in text):
        raise ValueError("holds a character that cannot be seen")
    match = _RULE.fullmatch(text.strip())
    if match is None:
        raise ValueError("is not of the form Tool or Tool(specifier)")
    tool, specifier = canonical(match["tool"]), match["specifier"]
    if specifier is None or specifier.strip() in {"", "*"}:
        return _whole_tool(tool, restricts=restricts)
    if "*" in tool:
        if restricts and (given := _INPUT.fullmatch(specifier)):
            return InputMatcher(parse(tool), given["key"], parse(given["value"]))
        raise ValueError("has a star in the tool's name and a specifier")
    return _specified(tool, specifier.strip(), restricts=restricts)


def _whole_tool(tool: str, *, restricts: bool) -> Matcher:
    if "*" in tool and not restricts and not _MCP_PREFIX.fullmatch(tool):
        raise ValueError(
            "allows by a star in the tool's name, which only mcp__SERVER__… may have; "
            "name the tools one by one"
        )
    if re.fullmatch(r"mcp__(?:(?!__)[\w.-])+", tool):
        return ToolMatcher(Wildcard((f"{tool}__", "")))  # a server alone is all its tools
    return ToolMatcher(parse(tool))


def _specified(tool: str, specifier: str, *, restricts: bool) -> Matcher:
    if tool == "Bash":
        return CommandMatcher(command_pattern(specifier))
    if tool in {"Read", "Edit"}:
        pattern = path_pattern(specifier)
        return PathMatcher(tool == "Edit", pattern, PathSet((pattern,)))
    if tool == "WebFetch" and specifier.startswith("domain:"):
        return _domain(specifier.removeprefix("domain:").strip().lower())
    given = _INPUT.fullmatch(specifier)
    if restricts and given and not specifier.endswith(":*") and given["key"] not in PRIMARY_KEYS:
        return InputMatcher(parse(tool), given["key"], parse(given["value"].strip()))
    if tool in {"Agent", "Skill"}:
        return NameMatcher(tool, command_pattern(specifier))
    raise ValueError(_refusal(tool, has_input=given is not None))


def _refusal(tool: str, *, has_input: bool) -> str:
    if tool in _UNCONSULTED:
        other = _UNCONSULTED[tool]
        return f"would never be consulted: path rules for {tool} are written {other}(…)"
    if tool == "WebFetch":
        return "must be written WebFetch(domain:…)"
    if tool in _WHOLE:
        return f"has a specifier, but {tool} is allowed or denied as a whole"
    if has_input:
        return "matches an input, which only rules that deny or ask may do"
    return f"has a specifier that {tool} does not have"


def _domain(host: str) -> Matcher:
    if not host or not re.fullmatch(r"[a-z0-9*.:\[\]-]+", host):
        raise ValueError("names no host")
    return DomainMatcher(tuple(parse(label) for label in host.rstrip(".").split(".")))
