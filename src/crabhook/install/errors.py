"""Why an installation was refused."""

from crabhook.model.errors import CrabhookError


class InstallError(CrabhookError):
    """Something stands in the way; nothing was changed.  Written to be shown to a person."""
