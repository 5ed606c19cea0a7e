"""Secrets known by what stands before them: assignments, headers, flags, addresses, key blocks.

What stands there may be a mere reference (`$TOKEN`, `os.environ["TOKEN"]`,
`<your token>`): `references.is_reference` tells, so that the record of
ordinary commands and code stays readable.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from crabhook.secrets.assigned import assigned_in
from crabhook.secrets.references import is_reference
from crabhook.secrets.spans import Span, lowered, places

_TO_COMMAND_END = r"[^\n|;&]{0,300}?"
_VALUE = r"[\"']?(?P<secret>[^\s\"']{1,400})"


@dataclass(frozen=True, slots=True)
class Context:
    """Where secrets of a kind stand.

    A match begins with one of `starts`, in lower case; to look for those
    first is what makes ordinary text cheap.  `pattern` has a group `secret`.
    """

    kind: str
    starts: tuple[str, ...]
    pattern: re.Pattern[str]

    def found_in(self, text: str, lower: str, start: str) -> Iterator[Span]:
        """Return the secrets in `text` after `start`; `lower` is the same in lower case."""
        end = 0
        for place in places(lower, start):
            if place >= end and (found := self.pattern.match(text, place)):
                end = found.end()
                if self.kind == "private-key" or not is_reference(found["secret"]):
                    yield (*found.span("secret"), self.kind)


def _context(kind: str, starts: str, pattern: str, flags: int = re.IGNORECASE) -> Context:
    return Context(kind, tuple(starts.split(" ")), re.compile(pattern, flags))


CONTEXTS = (
    _context(
        "private-key",
        "-----begin",
        r"(?P<secret>-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
        r".*?(?:-----END [A-Z0-9 ]{0,30}-----|\Z))",
        re.DOTALL,
    ),
    _context(
        "private-key", "private-lines", r"Private-Lines: \d+\r?\n(?P<secret>[A-Za-z0-9+/=\r\n]+)", 0
    ),
    _context("password", "://", r"://[^\s/:@\"'<>]{0,200}:(?P<secret>[^\s/@\"'<>]{1,400})@"),
    _context("token", "://", r"://(?P<secret>[A-Za-z0-9_-]{16,400})@"),
    # A name alone before the @ of a web address is a token, unless it looks like a person's.
    _context(
        "token",
        "://",
        r"(?:(?<=http)|(?<=https))://(?P<secret>(?=[^\s/:@\"'<>]*[0-9])[^\s/:@\"'<>]{8,400})@",
    ),
    _context("token", "://", r"://(?P<secret>[^\s/:@\"'<>]{8,400}):(?:x-oauth-basic)?@"),
    _context(
        "token",
        "? &",
        r"[?&](?:[\w-]{0,30}(?:token|secret|password|signature|api[_-]?key)"
        r"|key|sig|auth|code|pwd)=(?P<secret>[^&\s\"'#<>]{6,4096})",
    ),
    _context(
        "authorization",
        "authorization",
        r"authorization\\?[\"']?\s{0,4}[:=]\s{0,4}\\?[\"']?"
        r"(?:(?:bearer|basic|token|digest|negotiate|apikey|bot)\s{1,4})?"
        r"(?!(?:bearer|basic|token|digest|negotiate|apikey|bot)\s)(?P<secret>[^\s\"'\\<>]{4,8192})",
    ),
    _context("bearer", "bearer", r"\bbearer\s{1,4}(?P<secret>[a-z0-9._~+/=-]{8,8192})"),
    _context(
        "token",
        "x-",
        r"\bx-[\w-]{0,40}(?:token|key|secret|password|auth)\\?[\"']?\s{0,4}:\s{0,4}\\?[\"']?"
        r"(?P<secret>[^\s\"'\\<>]{4,8192})",
    ),
    _context(
        "token",
        "-h --header",
        r"(?:-h|--header)[ =]{0,4}\\?[\"'](?:[\w-]{0,60}[_-])?(?:token|key|secret|password|auth"
        r"|apikey|session|credentials?)\s{0,4}:\s{0,4}(?P<secret>[^\"'\r\n\\]{1,8192})",
    ),
    _context(
        "token",
        "private-token job-token deploy-token",
        r"(?:private|job|deploy)-token\\?[\"']?\s{0,4}:\s{0,4}\\?[\"']?(?P<secret>[^\s\"'\\<>]{1,8192})",
    ),
    _context(
        "cookie",
        "curl",
        rf"\bcurl\s{_TO_COMMAND_END}(?<=\s)(?:-[a-z#]{{0,12}}b|--cookie)[ =]?(?P<quote>[\"'])?"
        r"(?P<secret>[^\s\"'=|;&]{1,200}=(?(quote)[^\"'\r\n]|[^\s\"'|;&]){1,8192})",
    ),
    _context(
        "cookie",
        "curl",
        r"\bcurl\s[^\n|;&]{0,300}(?<=\s)(?:-[a-z#]{0,12}b|--cookie)[ =]?(?P<quote>[\"'])?"
        r"(?P<secret>[^\s\"'=|;&]{1,200}=(?(quote)[^\"'\r\n]|[^\s\"'|;&]){1,8192})",
    ),
    _context("cookie", "cookie", r"cookie\\?[\"']?:\s{0,4}(?P<secret>[^\"'\r\n]{4,8192})"),
    _context(
        "password", "login", r"\blogin\s{1,8}\S{1,200}\s{1,8}password\s{1,8}(?P<secret>\S{1,400})"
    ),
    _context(
        "password",
        "--",
        r"(?<!-)--(?:[\w-]{0,40}-)?(?:password|passwd|passphrase|pass|token|secret|api-?key|access-key"
        r"|secret-key|private-key)(?:=|\s{1,4})(?!-)[\"']?(?P<secret>[^\s\"'`;,&|)}\]<>\\]{1,4096})",
    ),
    _context(
        "password",
        "mysql mariadb 7z",
        rf"\b(?:mysql\w{{0,12}}|mariadb[\w-]{{0,12}}|7z[az]?)\s{_TO_COMMAND_END}(?<=\s)-p(?!\s){_VALUE}",
        0,
    ),
    _context("password", "sshpass", rf"sshpass\s{_TO_COMMAND_END}(?<=\s)-p\s{{0,4}}{_VALUE}", 0),
    _context(
        "password",
        "docker podman helm oras crane skopeo oc az cf",
        r"\b(?:docker|podman|helm|oras|crane|skopeo|oc|az|cf)\s[^\n|;&]{0,200}?login\b"
        rf"{_TO_COMMAND_END}\s-p\s{{0,4}}{_VALUE}",
        0,
    ),
    _context(
        "password",
        "redis-cli unzip zip ldap htpasswd",
        rf"\b(?:redis-cli\b{_TO_COMMAND_END}\s-a|(?:un)?zip\b{_TO_COMMAND_END}\s-P"
        rf"|ldap\w{{3,12}}\b{_TO_COMMAND_END}\s-w|htpasswd\s+-\w*b\w*\s+\S+\s+\S+)\s{{1,4}}{_VALUE}",
        0,
    ),
    _context(
        "password",
        "curl wget http smbclient",
        rf"\b(?:curl|wget|https?|smbclient)\s{_TO_COMMAND_END}(?<=\s)"
        r"(?:-u|--user|--proxy-user|-U|-a|--auth)[ =]?[\"']?[^\s:%\"']{1,100}[:%]"
        r"(?P<secret>[^\s\"'@/]{1,400})",
        0,
    ),
    _context("password", "-pass", r"-pass(?:in|out)?\s+pass:(?P<secret>\S{1,400})", 0),
    _context(
        "password",
        "echo printf",
        r"\b(?:echo|printf)\s+(?:-n\s+)?[\"']?(?P<secret>[^\s\"'|;&]{1,400})[\"']?\s*\|\s*"
        r"(?:sudo\s+(?:\S+\s+)?-S|\S+\s+login\b[^\n]{0,200}--password-stdin)",
        0,
    ),
    _context(
        "password", ";", r";\s{0,4}(?:pwd|password)\s{0,4}=\s{0,4}(?P<secret>[^;\s\"']{1,400})"
    ),
)


_BY_START = tuple((start, context) for context in CONTEXTS for start in context.starts)


def secrets_in(text: str) -> Iterator[Span]:
    """Return where in `text` a secret is known by its context."""
    lower = lowered(text)
    for start, context in _BY_START:
        if start in lower:
            yield from context.found_in(text, lower, start)
    yield from assigned_in(text, lower)
