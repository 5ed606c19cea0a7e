"""Where the owner's rule files of this machine are, as the settings' folders say."""

from crabhook import config
from crabhook.rulebook.files import RuleFiles
from crabhook.rulebook.receipts import ChangeReceipts


def rule_files() -> RuleFiles:
    """Return the files where people's settings are; crabhook's own places are protected."""
    return RuleFiles(
        config.config_folder(),
        config.own_places(),
        program=config.program_places(),
        receipts=receipts(),
    )


def receipts() -> ChangeReceipts:
    """Return where desks and commands leave word of the changes that they make."""
    return ChangeReceipts(config.state_folder() / "receipts")
