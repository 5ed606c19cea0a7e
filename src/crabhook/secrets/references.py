"""Whether a value is a secret itself, or only says where one is to come from."""

import re

_WORDS = (
    "none|null|nil|true|false|undefined|str|string|bytes|any|number|boolean|bool|object|int|type"
    "|secretstr|optional|required|redacted|hidden|masked|todo|tbd|yes|no|empty|default|example"
    "|flag|option|argument|parameter|value|field|is|to|for|and|or|with|from|in|as|the|a|of|must"
    "|auth|authentication|authorization|token|tokens|header|inherit|include|omit|same-origin|write|read"
)
_REFERENCE = re.compile(
    rf"(?:{_WORDS})"
    r"|[$%@!&*].*|<.*|\{.*|\(.*|\[.*|\.\.\.|…|x{3,}|\*{2,}|#.*|-+|_+"
    r"|(?:your|my|insert|enter|change|replace|add|put|some|the|fake|dummy)[-_ ].*"
    r"|[A-Za-z_][\w.:!?]*[(\[].*"  # a call, an index
    r"|(?:self|this|settings|config|conf|cfg|os|process|env|args|opts|options|request|req|ctx|var"
    r"|local|data|module|secrets|vault|std|props|state|params|body|user|event|inputs|github)\.[\w.\[\]]*"
    r"|(?:await|new|lambda|not|f|function|async|get|require|import)\b[ (].*"
    r"|id=.*|env:.*|file:.*|vault:.*|op://.*|arn:.*|ssm:.*|projects/.*"
    r"|[\w.:-]*(?:password|passwd|secret|token|key|passphrase|credential)s?",
    re.IGNORECASE | re.DOTALL,
)
_PATH = re.compile(r"(?:~|\.{1,2})?(?:/[\w.@+-]+)+/?")
_IDENTIFIER = re.compile(r"(?:[a-z]+|[A-Z]+)(?:_[a-zA-Z]+)+|[a-z]+(?:[A-Z][a-z]+)+|[A-Za-z_]+::\w+")


def is_reference(value: str) -> bool:
    """Whether a value only says where the secret is to come from, or is no value at all."""
    bare = value.strip().rstrip(",;")
    if not bare or _REFERENCE.fullmatch(bare):
        return True
    return bool(_PATH.fullmatch(bare) and len(bare) < 200) or bool(_IDENTIFIER.fullmatch(bare))
