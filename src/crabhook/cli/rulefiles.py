"""The rule files in their usual place."""

from crabhook.config import config_folder, state_folder
from crabhook.rulebook.files import RuleFiles


def rule_files() -> RuleFiles:
    """Return the files where people's settings are; crabhook's own places are protected."""
    return RuleFiles(config_folder(), (str(state_folder()),))
