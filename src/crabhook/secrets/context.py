"""Secrets known by what stands before them: headers, flags, addresses, key blocks, assignments.

`CONTEXTS` are texts before a secret, `OPTIONS` are options of programs that
take one.  A quoted value is a secret up to its closing quote, blanks and all.
What stands there may be a mere reference (`assigned.is_reference`), and is
then no secret.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from crabhook.secrets.assigned import assigned_in, is_reference
from crabhook.secrets.spans import Span, lowered, places

PRIVATE_KEY = "private-key"

_TO_COMMAND_END = re.compile(r"[^\n|;&]{0,300}")


def _value(bare: str, most: int) -> str:
    """Return the pattern of a value: quoted, up to the same quote, or a run of `bare` letters."""
    closed = rf"(?P<quote>[\"'])(?!\s)(?=[^\r\n]{{1,{most}}}?(?P=quote))"
    inside = r"(?!(?P=quote))[^\r\n]"
    return rf"(?:{closed}|[\"']?)(?P<secret>(?(quote)(?:{inside})|{bare}){{1,{most}}})"


_VALUE = _value(r"[^\s\"']", 400)


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
                if self.kind == PRIVATE_KEY or not is_reference(found["secret"]):
                    yield Span(*found.span("secret"), self.kind)


@dataclass(frozen=True, slots=True)
class Option:
    """An option of some programs that takes a secret, as often as it is given.

    `starts` are the programs' names, or how those begin; `program` matches a
    name and at least the blank behind it, `option` what stands before the value.
    """

    kind: str
    starts: tuple[str, ...]
    program: re.Pattern[str]
    option: re.Pattern[str]
    value: re.Pattern[str]

    def found_in(self, text: str, lower: str, start: str) -> Iterator[Span]:
        """Return the secrets in `text` after a program whose name begins with `start`."""
        end = 0
        for place in places(lower, start):
            if place < end or not (program := self.program.match(text, place)):
                continue
            behind = program.end() - 1
            end = (_TO_COMMAND_END.match(text, behind) or program).end()
            for option in self.option.finditer(text, behind, end):
                found = self.value.match(text, option.end())
                if found and not is_reference(found["secret"]):
                    yield Span(*found.span("secret"), self.kind)


def _context(kind: str, starts: str, pattern: str, flags: int = re.IGNORECASE) -> Context:
    return Context(kind, tuple(starts.split(" ")), re.compile(pattern, flags))


def _option(kind: str, starts: str, program: str, option: str, value: str = _VALUE) -> Option:
    return Option(
        kind,
        tuple(starts.split(" ")),
        re.compile(rf"\b(?:{program})\s"),
        re.compile(rf"(?<=\s)(?:{option})"),
        re.compile(value),
    )


CONTEXTS = (
    _context(
        PRIVATE_KEY,
        "-----begin",
        r"(?P<secret>-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
        r".*?(?:-----END [A-Z0-9 ]{0,30}-----|\Z))",
        re.DOTALL,
    ),
    _context(
        PRIVATE_KEY, "private-lines", r"Private-Lines: \d+\r?\n(?P<secret>[A-Za-z0-9+/=\r\n]+)", 0
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
    _context("cookie", "cookie", r"cookie\\?[\"']?:\s{0,4}(?P<secret>[^\"'\r\n]{4,8192})"),
    _context(
        "password", "login", r"\blogin\s{1,8}\S{1,200}\s{1,8}password\s{1,8}(?P<secret>\S{1,400})"
    ),
    _context(
        "password",
        "--",
        r"(?<!-)--(?:[\w-]{0,40}-)?(?:password|passwd|passphrase|pass|token|secret|api-?key|access-key"
        r"|secret-key|private-key)(?:=|\s{1,4})(?!-)" + _value(r"[^\s\"'`;,&|)}\]<>\\]", 4096),
    ),
    _context("password", "htpasswd", rf"\bhtpasswd\s+-\w*b\w*\s+\S+\s+\S+\s{{1,4}}{_VALUE}", 0),
    _context("password", "-pass", r"-pass(?:in|out)?\s+pass:(?P<secret>\S{1,400})", 0),
    _context(
        "password",
        "echo printf",
        r"\b(?:echo|printf)\s+(?:-n\s+)?" + _value(r"[^\s\"'|;&]", 400) + r"[\"']?\s*\|\s*"
        r"(?:sudo\s+(?:\S+\s+)?-S|\S+\s+login\b[^\n]{0,200}--password-stdin)",
        0,
    ),
    _context(
        "password", ";", r";\s{0,4}(?:pwd|password)\s{0,4}=\s{0,4}(?P<secret>[^;\s\"']{1,400})"
    ),
)


OPTIONS = (
    _option(
        "cookie",
        "curl",
        "curl",
        "(?:-[A-Za-z#]{0,12}b|--cookie)[ =]?",
        r"(?P<quote>[\"'])?"
        r"(?P<secret>[^\s\"'=|;&]{1,200}=(?(quote)[^\"'\r\n]|[^\s\"'|;&]){1,8192})",
    ),
    _option(
        "password",
        "curl wget http smbclient",
        "curl|wget|https?|smbclient",
        "(?:-u|--user|--proxy-user|-U|-a|--auth)[ =]?",
        r"(?:(?P<quote>[\"'])(?=[^\r\n]{1,500}?(?P=quote))[^\r\n:%\"']{1,100}|[\"']?[^\s:%\"']{1,100})"
        r"[:%](?P<secret>(?(quote)(?:(?!(?P=quote))[^\r\n])|[^\s\"'@/]){1,400})",
    ),
    _option(
        "password",
        "mysql mariadb 7z",
        r"mysql\w{0,12}|mariadb[\w-]{0,12}|7z[az]?",
        r"-p(?!\s)",
    ),
    _option("password", "sshpass", "sshpass", r"-p\s{0,4}"),
    _option(
        "password",
        "docker podman helm oras crane skopeo oc az cf",
        r"(?:docker|podman|helm|oras|crane|skopeo|oc|az|cf)\s[^\n|;&]{0,200}?login",
        r"-p\s{0,4}",
    ),
    _option("password", "redis-cli", "redis-cli", r"-a\s{1,4}"),
    _option("password", "unzip zip", "(?:un)?zip", r"-P\s{1,4}"),
    _option("password", "ldap", r"ldap\w{3,12}", r"-w\s{1,4}"),
)

_BY_START = tuple((start, one) for one in (*CONTEXTS, *OPTIONS) for start in one.starts)


def secrets_in(text: str) -> Iterator[Span]:
    """Return where in `text` a secret is known by its context."""
    lower = lowered(text)
    for start, one in _BY_START:
        if start in lower:
            yield from one.found_in(text, lower, start)
    yield from assigned_in(text, lower)
