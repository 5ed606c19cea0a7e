"""Secrets that say by their shape whose they are: the table of vendors' formats.

Each is what the vendor documents or its own scanner looks for.  A format is
listed only if hardly anything else looks like it.
"""

import re

_W = r"[A-Za-z0-9_-]"

# kind, pattern; none may begin or end inside a word (see VENDORS).
_FORMATS = (
    ("anthropic-key", rf"sk-ant-{_W}{{16,}}"),
    ("openrouter-key", rf"sk-or-{_W}{{16,}}"),
    ("openai-key", rf"sk-(?:proj-|svcacct-|admin-|None-)?{_W}{{20,}}"),
    ("stripe-key", r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("stripe-key", r"whsec_[A-Za-z0-9+/]{24,}={0,2}"),
    ("github-token", r"gh[pousr]_[A-Za-z0-9]{30,}"),
    ("github-token", r"github_pat_[A-Za-z0-9_]{22,}"),
    ("gitlab-token", rf"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct)-{_W}{{18,}}"),
    ("gitlab-token", rf"GR1348941{_W}{{18,}}"),
    ("aws-key-id", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}"),
    ("google-key", rf"AIza{_W}{{35}}"),
    ("google-token", rf"ya29\.{_W}{{20,}}"),
    ("google-secret", rf"GOCSPX-{_W}{{20,}}"),
    ("azure-secret", r"[A-Za-z0-9_~.]{3}\d?8Q~[A-Za-z0-9_~.-]{31,34}"),
    ("slack-token", r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("slack-token", r"xapp-\d-[A-Za-z0-9-]{10,}"),
    ("slack-webhook", r"hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,}"),
    ("discord-webhook", rf"discord(?:app)?\.com/api/webhooks/\d+/{_W}{{20,}}"),
    ("discord-token", rf"[MNO][A-Za-z0-9_-]{{23,27}}\.{_W}{{6}}\.{_W}{{27,}}"),
    ("teams-webhook", r"webhook\.office\.com/webhookb2/[A-Za-z0-9@/-]{20,}"),
    ("telegram-token", rf"\d{{8,10}}:AA{_W}{{32,34}}"),
    ("twilio-key", r"(?:SK|AC)[0-9a-f]{32}"),
    ("sendgrid-key", rf"SG\.{_W}{{16,}}\.{_W}{{16,}}"),
    ("mailgun-key", r"key-[0-9a-z]{32}"),
    ("mailchimp-key", r"[0-9a-f]{32}-us\d{1,2}"),
    ("brevo-key", r"xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    ("npm-token", r"npm_[A-Za-z0-9]{30,}"),
    ("pypi-token", rf"pypi-{_W}{{40,}}"),
    ("rubygems-token", r"rubygems_[0-9a-f]{48}"),
    ("crates-token", r"cio[A-Za-z0-9]{32}"),
    ("docker-token", rf"dckr_(?:pat|oat)_{_W}{{20,}}"),
    ("huggingface-token", r"(?:hf|api_org)_[A-Za-z0-9]{30,}"),
    ("groq-key", r"gsk_[A-Za-z0-9]{40,}"),
    ("xai-key", r"xai-[A-Za-z0-9]{40,}"),
    ("perplexity-key", r"pplx-[A-Za-z0-9]{32,}"),
    ("replicate-token", r"r8_[A-Za-z0-9]{30,}"),
    ("fireworks-key", r"fw_[A-Za-z0-9]{22,}"),
    ("databricks-token", r"dapi[0-9a-f]{32}(?:-\d)?"),
    ("digitalocean-token", r"do[opr]_v1_[0-9a-f]{64}"),
    ("linear-key", r"lin_(?:api|oauth)_[A-Za-z0-9]{30,}"),
    ("notion-token", r"(?:secret|ntn)_[A-Za-z0-9]{40,}"),
    ("figma-token", rf"figd_{_W}{{30,}}"),
    ("airtable-token", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("atlassian-token", r"ATATT3[A-Za-z0-9_=-]{30,}"),
    ("bitbucket-token", r"ATBB[A-Za-z0-9]{28,}"),
    ("shopify-token", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    ("square-token", rf"sq0(?:atp|csp)-{_W}{{22,}}"),
    ("vault-token", rf"hv[sbr]\.{_W}{{20,}}"),
    ("terraform-token", rf"[A-Za-z0-9]{{14}}\.atlasv1\.{_W}{{40,}}"),
    ("doppler-token", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{30,}"),
    ("pulumi-token", r"pul-[0-9a-f]{40}"),
    ("grafana-token", r"gl(?:c|sa)_[A-Za-z0-9+/_]{30,}={0,2}"),
    ("newrelic-key", r"NR(?:AK|JS|II)-[A-Za-z0-9-]{19,}"),
    ("datadog-key", r"dd(?:api|app|p)_[A-Za-z0-9]{30,}"),
    ("sentry-token", r"sntry[su]_[A-Za-z0-9+/=_-]{30,}"),
    ("postman-key", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    ("supabase-key", r"sb(?:p|_secret|_publishable)_[A-Za-z0-9_-]{20,}"),
    ("planetscale-token", r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{30,}"),
    ("tailscale-key", r"tskey-[a-z]+-[A-Za-z0-9-]{20,}"),
    ("fly-token", r"fm[12]r?_[A-Za-z0-9+/=,_-]{40,}"),
    ("netlify-token", r"nf[pcoub]_[A-Za-z0-9]{36,}"),
    ("heroku-key", rf"HRKU-{_W}{{30,}}"),
    ("cloudflare-token", rf"v1\.0-[0-9a-f]{{20,}}-{_W}{{20,}}"),
    ("facebook-token", r"EAA[A-Za-z0-9]{60,}"),
    ("dropbox-token", rf"sl\.{_W}{{60,}}"),
    ("age-key", r"AGE-SECRET-KEY-1[A-Z0-9]{50,}"),
    ("onepassword-token", r"ops_eyJ[A-Za-z0-9+/=_-]{40,}"),
    ("jwt", rf"eyJ{_W}{{10,}}\.eyJ{_W}{{10,}}(?:\.{_W}*)?"),
    ("jwt", rf"eyJ{_W}{{16,}}\.{_W}*\.{_W}{{10,}}\.{_W}{{10,}}\.{_W}{{10,}}"),
)


def _named(number: int, kind: str, pattern: str) -> str:
    return f"(?P<{kind.replace('-', '_')}__{number}>{pattern})"


VENDORS = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    + "|".join(_named(number, *one) for number, one in enumerate(_FORMATS))
    + r")(?![A-Za-z0-9])"
)


def kind_of(found: re.Match[str]) -> str:
    """Return whose secret VENDORS found."""
    return (found.lastgroup or "").partition("__")[0].replace("_", "-")
