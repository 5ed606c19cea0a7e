"""Long lists of names are written as text: easier to read, to sort and to compare."""


def names(text: str) -> frozenset[str]:
    """Return the names in `text`, which blanks part."""
    return frozenset(text.split())
