"""GitHub Copilot CLI in a scripted session; its model speaks OpenAI's chat completions."""

from collections.abc import Mapping
from pathlib import Path

from crabhook.platforms.chat_completions import chat_model
from crabhook.platforms.interface import ScriptedSession


def _home(project: Path, _: str) -> Mapping[str, Mapping[str, object]]:
    trusted = [str(project)]
    return {".copilot/config.json": {"trusted_folders": trusted, "trustedFolders": trusted}}


SCRIPTED_SESSION = ScriptedSession(  # Copilot 1.0.102, which asks nobody but its hooks
    _home,
    ("--allow-all-tools", "-p"),
    chat_model("bash", lambda line: {"command": line, "description": "Make a file"}),
    {
        "COPILOT_PROVIDER_BASE_URL": "{model}/v1",
        "COPILOT_OFFLINE": "true",
        "COPILOT_MODEL": "scripted",
        "COPILOT_AUTO_UPDATE": "false",
    },
)
