"""The file with the operator's token, imported only where there is one."""

import posix

from crabhook.hook.client import decoded, words

_LARGEST = 8 << 10


def read_token(path: str) -> str:
    """Return the token in the file; raise ValueError, saying why, where there is none."""
    try:
        file = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
        try:
            token = posix.read(file, _LARGEST + 1).strip()
        finally:
            posix.close(file)
    except OSError as error:
        raise ValueError(f"cannot read the token file {path!r}: {words(error)}") from error
    if not 0 < len(token) <= _LARGEST:
        raise ValueError(f"the token file {path!r} is empty or too large")
    return decoded(token)
