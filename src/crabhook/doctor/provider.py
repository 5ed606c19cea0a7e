"""The proof of the AAP provider: a marked request for approval, as a framework's adapter asks."""

import json
import os
from http import HTTPStatus
from secrets import token_hex
from time import monotonic

from crabhook import config
from crabhook.doctor.finding import Finding, make_finding
from crabhook.doctor.processes import ProgramError, posted
from crabhook.doctor.proving import WITHIN
from crabhook.model.jsontext import Value, compact
from crabhook.model.marked_call import MARK, denial
from crabhook.platforms.sending import TOKEN, export

_SHOWN = 200  # letters of an answer that no provider gives


def prove_provider(url: str) -> Finding:
    """Ask the provider at `url`, such as http://127.0.0.1:7780/aap, and return what came of it.

    The server denies a marked request before any rule, card or record.
    """
    mark = token_hex(16)
    context: dict[str, Value] = {"framework": "crabhook-prove", MARK: mark}
    asked: dict[str, Value] = {"tool": "Bash", "arguments": {"command": "true"}}
    body = compact({**asked, "timeout": "10s", "context": context}).encode("ascii")
    token = os.environ.get(TOKEN, "")
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": token_hex(16)}
    at, began = f"{url.rstrip('/')}/v1/requests", monotonic()
    try:
        status, text = posted(at, body, headers, WITHIN)
    except ProgramError as error:
        return make_finding("provider.answers", "nobody", error=error)
    took = 1000 * (monotonic() - began)
    if status == HTTPStatus.UNAUTHORIZED:
        mend = export(str(config.token_file()))
        return make_finding("prove.provider", "token", mend, url=url)
    if _is_denied(text, mark):
        return make_finding("prove.provider", "fine", "", {"took_ms": round(took, 1)}, took=took)
    printed = f"status {status}: {text.strip()[:_SHOWN]}"
    return make_finding("prove.provider", "other", url=url, printed=printed)


def _is_denied(text: str, mark: str) -> bool:
    """Whether an answer is the denial of this very request."""
    try:
        decision = json.loads(text)["decision"]
        return bool((decision["status"], decision["note"]) == ("denied", denial(mark).reason))
    except (ValueError, KeyError, TypeError):
        return False
