"""Where a line of text holds a secret: known keys by their shape, others by what stands before.

What is found is only ever covered letter by letter, so a pattern here must
not reach past the secret: no blank, no quote and nothing that a shell acts on
is part of one, whatever an agent puts behind the word "token".
"""

import re
from collections.abc import Iterator

from crabhook.ui.text.safe import safe

COVER = "•"
ASCII_COVER = "*"

_W = "[A-Za-z0-9_-]"
# A letter of a secret: nothing that separates words or that a shell reads as more than itself.
_S = r"[^\s\"'`$();|&<>\\{}\[\],*?#•]"
_SECRET = f"(?P<secret>{_S}{{3,4096}})"
_LONG = f"(?P<secret>{_S}{{6,4096}})"

# The shapes of well-known keys: the part that tells whose it is, and the part to cover.
_SHAPES = (
    ("sk-(?:ant-|or-|proj-|svcacct-|admin-)?", f"{_W}{{16,400}}"),
    ("(?:sk|rk|pk)_(?:live|test)_", "[A-Za-z0-9]{10,400}"),
    ("gh[pousr]_|github_pat_", "[A-Za-z0-9_]{20,400}"),
    ("gl[a-z]{2,5}-|GR1348941", f"{_W}{{18,400}}"),
    ("AKIA|ASIA|ABIA|ACCA", "[A-Z0-9]{16}"),
    (r"AIza|ya29\.|GOCSPX-|ATATT3|ATBB|sq0(?:atp|csp)-|EAA", "[A-Za-z0-9_=-]{20,400}"),
    (r"xox[abeoprs]-|xapp-\d-|NR(?:AK|JS|II)-|PMAK-|xkeysib-", "[A-Za-z0-9-]{10,400}"),
    (r"hooks\.slack\.com/(?:services|workflows)/", "[A-Za-z0-9/_-]{20,400}"),
    (r"discord(?:app)?\.com/api/webhooks/\d{1,30}/", f"{_W}{{20,400}}"),
    (r"\d{8,10}:AA", f"{_W}{{32,34}}"),
    (r"SG\.", rf"{_W}{{16,100}}\.{_W}{{16,100}}"),
    (
        "npm_|hf_|api_org_|gsk_|xai-|pplx-|r8_|cio|ntn_|secret_|dd(?:api|app|p)_",
        "[A-Za-z0-9]{30,200}",
    ),
    ("pypi-", f"{_W}{{40,400}}"),
    ("dckr_(?:pat|oat)_|fw_|nf[pcoub]_|sb(?:p|_secret)_", f"{_W}{{20,200}}"),
    (
        "do[opr]_v1_|dapi|lin_(?:api|oauth)_|shp(?:at|ca|pa|ss)_|rubygems_|pul-",
        "[A-Za-z0-9]{30,200}",
    ),
    ("whsec_|gl(?:c|sa)_|sntry[su]_|fm[12]r?_|ops_eyJ", "[A-Za-z0-9+/=_,-]{24,2000}"),
    (r"hv[sbr]\.|sl\.|figd_|tskey-[a-z]{1,20}-|HRKU-", f"{_W}{{20,400}}"),
    (r"dp\.(?:pt|st|ct|sa|scim|audit)\.|pscale_(?:tkn|pw|oauth)_", r"[A-Za-z0-9._-]{30,400}"),
    (r"[A-Za-z0-9]{14}\.atlasv1\.", f"{_W}{{40,400}}"),
    ("AGE-SECRET-KEY-1", "[A-Z0-9]{50,80}"),
    ("eyJ", rf"{_W}{{10,4000}}\.{_W}{{10,4000}}(?:\.{_W}{{0,4000}})?"),
)
_BY_SHAPE = re.compile(
    r"(?<![A-Za-z0-9_])(?:"
    + "|".join(f"(?:{whose})({secret})" for whose, secret in _SHAPES)
    + ")(?![A-Za-z0-9])"
)

_NAME = (
    "(?:pass(?:word|wd|phrase|code)?|pwd|secret|_?auth_?token|token|credentials?|authorization"
    "|_auth|(?:api|access|private|secret|signing|encryption|master|account|auth|client|session"
    "|webhook)[_-]?key)"
)
_ENDS = "(?:[_-](?:id|b64|base64|dev|prod|test|live|old|new|[0-9]{1,3})|[0-9]{1,2})?"
_NAMED = rf"(?<![A-Za-z0-9])(?:[A-Za-z0-9]{{1,40}}[_.-]){{0,8}}{_NAME}{_ENDS}"
_CAMEL = "(?-i:(?<![A-Za-z0-9])[A-Za-z]{1,40}(?:Password|Passphrase|Secret|Token|Key))"
_QUOTE = r"\\?[\"'`]"
_COMMAND = r"\s[^\n|;&]{0,200}?(?<=\s)"
_ENV = (
    r"\b[A-Z0-9_]{0,80}(?:PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|SECRET|TOKEN|KEY|CREDENTIALS?|AUTH)"
    "(?:_[A-Z0-9]{1,10})?="
)
_FLAGS = "(?:password|passwd|passphrase|pass|token|secret|(?:api|access|secret|private)-?key)"
_USER = r"(?:-u|--user|--proxy-user)[ =]?[\"']?[^\s:\"']{1,100}:"
_LOGIN = r"\b(?:docker|podman|helm|az|oc)\s[^\n|;&]{0,100}?\blogin\b"
_SCHEMES = "(?:bearer|basic|token|digest|apikey|bot)"

# What stands before a secret, which is the group of that name.
_BEFORE = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_ENV}[\"']?{_SECRET}",
        rf"(?i:(?:{_NAMED}|{_CAMEL}){_QUOTE}?\]?\s?(?:=>|:=|=|:)\s?{_QUOTE}{_SECRET})",
        rf"(?i:(?:{_NAMED}|{_CAMEL})={_SECRET})(?![(.\w\[])",
        rf"(?i:^[\s>|+-]{{0,40}}[\"']?{_NAMED}[\"']?(?::|\s=)\s{{1,8}}{_LONG},?\s*(?:#.*)?$)",
        rf"(?i:(?<!-)--(?:[\w-]{{0,40}}-)?{_FLAGS}(?:=|\s{{1,4}})(?!-)[\"']?{_SECRET})",
        rf"(?i:\b{_SCHEMES}\s{{1,4}}(?P<secret>[A-Za-z0-9._~+/=-]{{16,4096}}))",
        rf"(?i:\bauthorization{_QUOTE}?\s?[:=]\s?{_QUOTE}?(?:{_SCHEMES}\s{{1,4}})?(?!{_SCHEMES}\s){_LONG})",
        rf"(?i:\bx-[\w-]{{0,40}}(?:token|key|secret){_QUOTE}?\s?:\s?{_QUOTE}?{_LONG})",
        rf"(?i:\bcookie:\s{{1,4}}{_LONG})",
        rf"(?i:\b(?:private|job|deploy)-token{_QUOTE}?\s?:\s?{_QUOTE}?{_SECRET})",
        rf"\bcurl{_COMMAND}(?:-[A-Za-z]{{0,12}}b|--cookie)[ =]?[\"']?[^\s\"'=]{{1,100}}={_SECRET}",
        r"://[^\s/:@\"'<>]{0,200}:(?P<secret>[^\s/@\"'<>`$();|&\\]{1,400})@",
        r"://(?P<secret>[A-Za-z0-9_-]{16,400})@",
        r"(?:(?<=http)|(?<=https))://(?P<secret>(?=[a-zA-Z_.~%-]*[0-9])[A-Za-z0-9_.~%-]{8,400})(?::|@)",
        rf"(?i:[?&](?:[\w-]{{0,30}}(?:token|secret|password|signature|key)|sig|pwd)={_LONG})",
        rf"\b(?:curl|wget|https?){_COMMAND}{_USER}{_SECRET}",
        rf"\b(?:mysql|mysqldump|mariadb|sshpass){_COMMAND}-p ?[\"']?{_SECRET}",
        rf"{_LOGIN}{_COMMAND}-p ?[\"']?{_SECRET}",
    )
)
# A line of a private key's block, which has nothing else in it.
_KEY_LINE = re.compile(r"[\s>|+-]{0,40}(?P<secret>[A-Za-z0-9+/]{60,76}={0,2})\\?\s*")
_HINT = re.compile(
    r"(?i:key|tok|sec|pass|pwd|cred|auth|bearer|basic|cookie|://|-u|-p|sig|digest|bot)"
)
# What stands behind a secret's name and is none: words, types, and references to where one is kept.
_INNOCENT = re.compile(
    r"(?is:true|false|null|none|nil|undefined|string|str|number|bytes|any|object|optional|required"
    r"|yes|no|on|off|empty|unset|changeme|example|redacted|x{3,}|\.{3,}|-+|=+|\*+"
    r"|(?:self|this|os|env|process|config|settings|args|options|request|secrets|vars)\..*|[%@/~].*"
    r"|[0-9]{1,5})"
)
_IDENTIFIER = re.compile(r"[A-Za-z_]+")


def covered(text: str) -> str:
    """Return an agent's text for a terminal: safe, and its secrets covered."""
    return safe("\n".join(map(masked, text.split("\n"))))


def masked(text: str, cover: str = COVER) -> str:
    """Return `text` with each letter of a secret covered; its length stays what it is."""
    spans = list(secrets_in(text)) if len(text) > 3 else []
    if not spans:
        return text
    letters = list(text)
    for start, end in spans:
        letters[start:end] = cover * (end - start)
    return "".join(letters)


def secrets_in(line: str) -> Iterator[tuple[int, int]]:
    """Return where a line's secrets begin and end; they may overlap."""
    for found in _BY_SHAPE.finditer(line):
        yield found.span(found.lastindex or 0)
    if _HINT.search(line):
        for pattern in _BEFORE:
            for found in pattern.finditer(line):
                if not _is_innocent(found["secret"], line[found.end() : found.end() + 1]):
                    yield found.span("secret")
    key_line = _KEY_LINE.fullmatch(line)
    if key_line and _by_chance(key_line["secret"]):
        yield key_line.span("secret")


def _is_innocent(secret: str, behind: str) -> bool:
    """Whether what looks like a secret is a word of the language, or a name handed on in code."""
    if _INNOCENT.fullmatch(secret):
        return True
    return behind in (",", ")") and _IDENTIFIER.fullmatch(secret) is not None


def names_a_secret(name: str) -> bool:
    """Whether a field of that name holds a secret."""
    return len(name) <= 100 and _FIELD.fullmatch(name) is not None


_FIELD = re.compile(rf"(?i:{_NAMED}|{_CAMEL}|(?:set-)?cookie)")


def _by_chance(text: str) -> bool:
    """Whether letters of every kind are mixed as no path, word or alphabet mixes them."""
    kinds = (str.isupper, str.islower, str.isdigit)
    mixed = all(sum(map(kind, text)) >= 4 for kind in kinds)
    return mixed and text.count("/") < 8 and "abcdef" not in text.lower()
