"""The file with the operator's token, imported only where there is one.

A user who can write the file chooses the token that is shown, and with a wrong one a hook
asks nobody; a user who can read the file can ask in our name.  So the file is ours alone, or
it holds no token, as the server says of its own.
"""

import posix

_LARGEST = 8 << 10
_KIND, _REGULAR = 0o170000, 0o100000  # of a mode; `stat` is a module more


def read_token(path: str) -> bytes:
    """Return the token in the file.

    Raises OSError where it cannot be read, ValueError, saying why, where it may not be used.
    """
    file = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK)
    try:
        mode = posix.fstat(file).st_mode
        if mode & _KIND != _REGULAR:
            raise ValueError(f"the token file {path!r} is not a file")
        if mode & 0o077:
            raise ValueError(
                f"others can read or write the token file {path!r} (mode {mode & 0o777:o}): "
                f"chmod 600 {path}"
            )
        token = posix.read(file, _LARGEST + 1).strip()
    finally:
        posix.close(file)
    if not 0 < len(token) <= _LARGEST:
        raise ValueError(f"the token file {path!r} is empty or too large")
    return token
