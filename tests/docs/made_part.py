"""The part of a page that is made from the code, between two marks of the page."""


def put(made: str, page: str, begin: str, end: str) -> str:
    """Return the page's text with what was made between its marks."""
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n{made}\n{end}{after}"
