"""OpenCode in a scripted session; its model speaks OpenAI's chat completions."""

from collections.abc import Mapping
from pathlib import Path

from crabhook.platforms.chat_completions import chat_model
from crabhook.platforms.interface import ScriptedSession


def _home(_: Path, model: str) -> Mapping[str, Mapping[str, object]]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "scripted",
        "options": {"baseURL": f"{model}/v1", "apiKey": "no-key-at-all"},
        "models": {"m": {"name": "m", "limit": {"context": 100_000, "output": 4000}}},
    }
    settings: Mapping[str, object] = {
        "model": "scripted/m",
        "small_model": "scripted/m",
        "autoupdate": False,
        "share": "disabled",
        "provider": {"scripted": provider},
    }
    return {".config/opencode/opencode.json": settings}


SCRIPTED_SESSION = ScriptedSession(  # OpenCode 1.18, which asks nobody but our plugin
    _home,
    ("run",),
    chat_model("bash", lambda line: {"command": line, "description": "Make a file"}),
    {
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "npm_config_offline": "true",  # it would wait for its plugins' library
        "npm_config_fetch_retries": "0",
    },
)
