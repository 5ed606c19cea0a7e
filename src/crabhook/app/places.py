"""Where the owner's rule files of this machine are, as the settings' folders say."""

from crabhook import config
from crabhook.rulebook.files import RuleFiles


def rule_files() -> RuleFiles:
    """Return the files where people's settings are; crabhook's own places are protected."""
    return RuleFiles(config.config_folder(), config.own_places(), program=config.program_places())
