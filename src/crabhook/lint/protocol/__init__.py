"""What each agent reads, as tables: the linter's measure of right and wrong."""

from collections.abc import Mapping

from crabhook.lint.protocol import claude, codex, gemini
from crabhook.lint.protocol.interface import Protocol

PROTOCOLS: Mapping[str, Protocol] = {
    protocol.name: protocol for protocol in (claude.PROTOCOL, gemini.PROTOCOL, codex.PROTOCOL)
}
