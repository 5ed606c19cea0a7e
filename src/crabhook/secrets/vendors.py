"""Secrets that say by their shape whose they are: the table of vendors' formats.

Each is what the vendor documents or its own scanner looks for.  A format is
listed only if hardly anything else looks like it.
"""

import re
from collections.abc import Iterator

from crabhook.secrets.spans import Span

_W = "[A-Za-z0-9_-]"

# The kind, the part that tells whose it is (and is no secret), and the secret itself.  None may
# begin or end inside a word.
FORMATS = (
    ("anthropic-key", "sk-ant-", f"{_W}{{16,}}"),
    ("openrouter-key", "sk-or-", f"{_W}{{16,}}"),
    ("openai-key", "sk-(?:proj-|svcacct-|admin-|None-)?", f"{_W}{{20,}}"),
    ("stripe-key", "(?:sk|rk|pk)_(?:live|test)_", "[A-Za-z0-9]{16,}"),
    ("stripe-key", "whsec_", "[A-Za-z0-9+/]{24,}={0,2}"),
    ("github-token", "gh[pousr]_", "[A-Za-z0-9]{30,}"),
    ("github-token", "github_pat_", "[A-Za-z0-9_]{22,}"),
    ("gitlab-token", "gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct)-", f"{_W}{{18,}}"),
    ("gitlab-token", "GR1348941", f"{_W}{{18,}}"),
    ("aws-key-id", "(?:AKIA|ASIA|ABIA|ACCA)", "[A-Z0-9]{16}"),
    ("google-key", "AIza", f"{_W}{{35}}"),
    ("google-token", r"ya29\.", f"{_W}{{20,}}"),
    ("google-secret", "GOCSPX-", f"{_W}{{20,}}"),
    ("azure-secret", "", r"[A-Za-z0-9_~.]{3}\d?8Q~[A-Za-z0-9_~.-]{31,34}"),
    ("slack-token", "xox[abeoprs]-", "[A-Za-z0-9-]{10,}"),
    ("slack-token", r"xapp-\d-", "[A-Za-z0-9-]{10,}"),
    ("slack-webhook", r"hooks\.slack\.com/(?:services|workflows)/", "[A-Za-z0-9/_-]{20,}"),
    ("discord-webhook", r"discord(?:app)?\.com/api/webhooks/\d+/", f"{_W}{{20,}}"),
    ("discord-token", "", rf"[MNO][A-Za-z0-9_-]{{23,27}}\.{_W}{{6}}\.{_W}{{27,}}"),
    ("teams-webhook", r"webhook\.office\.com/webhookb2/", "[A-Za-z0-9@/-]{20,}"),
    ("telegram-token", r"\d{8,10}:AA", f"{_W}{{32,34}}"),
    ("twilio-key", "(?:SK|AC)", "[0-9a-f]{32}"),
    ("sendgrid-key", r"SG\.", rf"{_W}{{16,}}\.{_W}{{16,}}"),
    ("mailgun-key", "key-", "[0-9a-z]{32}"),
    ("mailchimp-key", "", r"[0-9a-f]{32}-us\d{1,2}"),
    ("brevo-key", "xkeysib-", "[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    ("npm-token", "npm_", "[A-Za-z0-9]{30,}"),
    ("pypi-token", "pypi-", f"{_W}{{40,}}"),
    ("rubygems-token", "rubygems_", "[0-9a-f]{48}"),
    ("crates-token", "cio", "[A-Za-z0-9]{32}"),
    ("docker-token", "dckr_(?:pat|oat)_", f"{_W}{{20,}}"),
    ("huggingface-token", "(?:hf|api_org)_", "[A-Za-z0-9]{30,}"),
    ("groq-key", "gsk_", "[A-Za-z0-9]{40,}"),
    ("xai-key", "xai-", "[A-Za-z0-9]{40,}"),
    ("perplexity-key", "pplx-", "[A-Za-z0-9]{32,}"),
    ("replicate-token", "r8_", "[A-Za-z0-9]{30,}"),
    ("fireworks-key", "fw_", "[A-Za-z0-9]{22,}"),
    ("databricks-token", "dapi", r"[0-9a-f]{32}(?:-\d)?"),
    ("digitalocean-token", "do[opr]_v1_", "[0-9a-f]{64}"),
    ("linear-key", "lin_(?:api|oauth)_", "[A-Za-z0-9]{30,}"),
    ("notion-token", "(?:secret|ntn)_", "[A-Za-z0-9]{40,}"),
    ("figma-token", "figd_", f"{_W}{{30,}}"),
    ("airtable-token", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("atlassian-token", "ATATT3", "[A-Za-z0-9_=-]{30,}"),
    ("bitbucket-token", "ATBB", "[A-Za-z0-9]{28,}"),
    ("shopify-token", "shp(?:at|ca|pa|ss)_", "[0-9a-fA-F]{32}"),
    ("square-token", "sq0(?:atp|csp)-", f"{_W}{{22,}}"),
    ("vault-token", r"hv[sbr]\.", f"{_W}{{20,}}"),
    ("terraform-token", "", rf"[A-Za-z0-9]{{14}}\.atlasv1\.{_W}{{40,}}"),
    ("doppler-token", r"dp\.(?:pt|st|ct|sa|scim|audit)\.", "[A-Za-z0-9._-]{30,}"),
    ("pulumi-token", "pul-", "[0-9a-f]{40}"),
    ("grafana-token", "gl(?:c|sa)_", "[A-Za-z0-9+/_]{30,}={0,2}"),
    ("newrelic-key", "NR(?:AK|JS|II)-", "[A-Za-z0-9-]{19,}"),
    ("datadog-key", "dd(?:api|app|p)_", "[A-Za-z0-9]{30,}"),
    ("sentry-token", "sntry[su]_", "[A-Za-z0-9+/=_-]{30,}"),
    ("postman-key", "PMAK-", "[0-9a-f]{24}-[0-9a-f]{34}"),
    ("supabase-key", "sb(?:p|_secret|_publishable)_", "[A-Za-z0-9_-]{20,}"),
    ("planetscale-token", "pscale_(?:tkn|pw|oauth)_", "[A-Za-z0-9_.-]{30,}"),
    ("tailscale-key", "tskey-[a-z]+-", "[A-Za-z0-9-]{20,}"),
    ("fly-token", "fm[12]r?_", "[A-Za-z0-9+/=,_-]{40,}"),
    ("netlify-token", "nf[pcoub]_", "[A-Za-z0-9]{36,}"),
    ("heroku-key", "HRKU-", f"{_W}{{30,}}"),
    ("cloudflare-token", r"v1\.0-", f"[0-9a-f]{{20,}}-{_W}{{20,}}"),
    ("facebook-token", "EAA", "[A-Za-z0-9]{60,}"),
    ("dropbox-token", r"sl\.", f"{_W}{{60,}}"),
    ("age-key", "AGE-SECRET-KEY-1", "[A-Z0-9]{50,}"),
    ("onepassword-token", "ops_eyJ", "[A-Za-z0-9+/=_-]{40,}"),
    ("jwt", "eyJ", rf"{_W}{{10,}}\.eyJ{_W}{{10,}}(?:\.{_W}*)?"),
    ("jwt", "eyJ", rf"{_W}{{16,}}\.{_W}*\.{_W}{{10,}}\.{_W}{{10,}}\.{_W}{{10,}}"),
)

_SHAPES = re.compile(
    "(?<![A-Za-z0-9])(?:"
    + "|".join(f"({whose}({secret}))" for _, whose, secret in FORMATS)
    + ")(?![A-Za-z0-9])"
)
_BY_GROUP = {2 * place + 1: kind for place, (kind, _, _) in enumerate(FORMATS)}


def known_in(text: str, start: int = 0, stop: int | None = None) -> Iterator[Span]:
    """Return the secrets of known shape between two places of `text`."""
    for found in _SHAPES.finditer(text, start, len(text) if stop is None else stop):
        group = found.lastindex or 0
        shown = found.start(group + 1) - found.start()
        yield Span(*found.span(), _BY_GROUP[group], shown)
