"""Qwen Code in a scripted session; its model speaks OpenAI's chat completions."""

from collections.abc import Mapping
from pathlib import Path

from crabhook.platforms.chat_completions import chat_model
from crabhook.platforms.interface import ScriptedSession


def _home(_: Path, __: str) -> Mapping[str, Mapping[str, object]]:
    return {
        ".qwen/settings.json": {
            "$version": 4,
            "security": {
                "auth": {"selectedType": "openai"},
                "folderTrust": {"enabled": False},
            },
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
        }
    }


SCRIPTED_SESSION = ScriptedSession(  # Qwen Code 0.24, which asks nobody but its hooks
    _home,
    ("--approval-mode", "yolo", "-p"),
    chat_model("run_shell_command", lambda line: {"command": line, "is_background": False}),
    {
        "OPENAI_BASE_URL": "{model}/v1",
        "OPENAI_API_KEY": "no-key-at-all",
        "OPENAI_MODEL": "scripted",
    },
)
