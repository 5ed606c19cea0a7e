"""What is wrong with an agent's own permissions, and with the plugins that run beside our hooks.

Only OpenCode has such a section (1.18.33). The last rule that fits a call counts, and where none
fits nearly all is allowed.
"""

import re
from collections.abc import Iterator, Sequence

from crabhook.datatypes import frozen
from crabhook.lint.configuration.command import near_name
from crabhook.lint.configuration.read import NOTHING, SourceValue
from crabhook.lint.rules.subjects import Setup, setup_rule
from crabhook.lint.script import Remark, SourcePlace

ANY = "*"
_STRICTNESS = {"allow": 0, "ask": 1, "deny": 2}


@frozen
class PermissionRule:
    """What is done with calls of a permission that fit a pattern."""

    permission: str
    pattern: str
    action: str
    place: SourcePlace

    def __str__(self) -> str:
        what = self.permission if self.pattern == ANY else f"{self.permission} {self.pattern}"
        return f'"{what}": "{self.action}"'

    def covers(self, other: "PermissionRule") -> bool:
        """Whether every call that the other rule fits also fits this rule."""
        return _fits(self.permission, other.permission) and _fits(self.pattern, other.pattern)


def _fits(pattern: str, text: str) -> bool:
    """Whether a text fits a pattern as OpenCode reads it: "ls *" fits "ls", too."""
    written = re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")
    if pattern.endswith(" *"):
        written = written.removesuffix(re.escape(" ") + ".*") + "(?: .*)?"
    return re.fullmatch(written, text, re.DOTALL) is not None


def _sections(setup: Setup) -> Iterator[SourceValue]:
    """Yield the sections of permissions: that of all agents first, then each agent's own."""
    root = setup.configuration.root
    if setup.protocol.asks:
        agents = (root.members.get(key, NOTHING).members for key in ("agent", "mode"))
        for holder in (root, *(agent for named in agents for agent in named.values())):
            if (section := holder.members.get("permission")) is not None:
                yield section


def _entries(section: SourceValue) -> Iterator[tuple[str, str, SourceValue, SourcePlace]]:
    """Yield each permission, pattern and action of a section, as they are written."""
    if not section.members:
        yield ANY, ANY, section, section.place
    for permission, item in section.members.items():
        if not item.members:
            yield permission, ANY, item, section.where(permission)
        for pattern, action in item.members.items():
            yield permission, pattern, action, item.where(pattern)


def _rules(section: SourceValue) -> Sequence[PermissionRule]:
    return [
        PermissionRule(permission, pattern, item.value, place)
        for permission, pattern, item, place in _entries(section)
        if isinstance(item.value, str) and item.value in _STRICTNESS
    ]


@setup_rule("CH119")
def _unreadable(setup: Setup) -> Iterator[Remark]:
    for section in _sections(setup):
        for permission, _, item, place in _entries(section):
            if item.value != {} and str(item.value) not in _STRICTNESS:
                yield Remark(place, f"{item.value!r:.60} is no action: it is allow, ask or deny")
            elif permission in setup.protocol.whole and section.members[permission].members:
                yield Remark(place, f'"{permission}" takes an action, and no patterns')


@setup_rule("CH120")
def _asked_for_nothing(setup: Setup) -> Iterator[Remark]:
    asks = setup.protocol.asks
    under = {tool: permission for permission, tools in asks.items() for tool in tools.split()}
    for section in _sections(setup):
        for name in section.members:
            tool = setup.protocol.elsewhere.get(name, name)
            meant = under.get(tool) or (tool if tool in asks else near_name(name, frozenset(asks)))
            if name not in asks and meant:
                message = f'nothing is asked as "{name}": did you mean {meant}?'
                yield Remark(section.where(name), message)


@setup_rule("CH121")
def _undone(setup: Setup) -> Iterator[Remark]:
    for section in _sections(setup):
        rules = _rules(section)
        for number, rule in enumerate(rules):
            for later in rules[number + 1 :]:
                looser = _STRICTNESS[later.action] < _STRICTNESS[rule.action]
                if looser and later.covers(rule):
                    message = f"{rule} is undone by {later} (line {later.place.line})"
                    yield Remark(rule.place, message)
                    break


@setup_rule("CH122")
def _unasked(setup: Setup) -> Iterator[Remark]:
    section = setup.configuration.root.members.get("permission")
    if section is None or not setup.protocol.asks:
        return
    rules = [rule for rule in _rules(section) if rule.pattern == ANY]
    allowed, places = list[str](), [section.place]
    for permission, action in setup.protocol.unasked.items():
        fitting = [rule for rule in rules if _fits(rule.permission, permission)]
        if (fitting[-1].action if fitting else action) == "allow":
            allowed.append(permission)
            places += [fitting[-1].place] if fitting else []
    if allowed:
        yield Remark(places[-1], f"nobody is asked about: {', '.join(allowed)}")


@setup_rule("CH123")
def _plugins(setup: Setup) -> Iterator[Remark]:
    listed = setup.configuration.root.members.get("plugin", NOTHING)
    for plugin in listed.items if setup.protocol.asks else ():
        named = plugin.items[0] if plugin.items else plugin
        message = f"the plugin {named.value!s:.60} may change a call after the operator saw it"
        yield Remark(plugin.place, message)
