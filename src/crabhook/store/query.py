"""What somebody wants to see of the record."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Query:
    """All of these must hold; what is empty does not count.

    `since` and `until` are times as the record writes them (`until` is past
    the last); `tool` may have `*` in it; `session` may be a session's
    beginning; `last` is how many at most, the latest ones, 0 for all.
    `backwards`: the latest comes first.
    """

    since: str = ""
    until: str = ""
    tool: str = ""
    session: str = ""
    verdict: str = ""
    kinds: tuple[str, ...] = ()
    card: int | None = None
    last: int = 0
    backwards: bool = False

    def sql(self) -> tuple[str, list[object]]:
        """Return the query's clauses, and the values for their marks."""
        clauses, values = [], []
        for clause, wanted, value in self._conditions():
            if wanted:
                clauses.append(clause)
                values += value
        where = f"WHERE {' AND '.join(clauses)} " if clauses else ""
        order = "ORDER BY seq DESC" if self.backwards else "ORDER BY seq"
        if not self.last:
            return f"{where}{order}", values
        latest = f"(SELECT seq FROM record {where}ORDER BY seq DESC LIMIT ?)"  # noqa: S608 - marks
        return f"WHERE seq IN {latest} {order}", [*values, self.last]

    def _conditions(self) -> list[tuple[str, bool, list[object]]]:
        marks = ", ".join("?" * len(self.kinds))
        return [
            ("at >= ?", bool(self.since), [self.since]),
            ("at < ?", bool(self.until), [self.until]),
            ("tool GLOB ?", bool(self.tool), [_only_stars(self.tool)]),
            ("session <> '' AND session >= ? AND session < ?", bool(self.session), self._span()),
            ("verdict <> '' AND verdict = ?", bool(self.verdict), [self.verdict]),
            (f"kind IN ({marks})", bool(self.kinds), list(self.kinds)),
            ("card = ?", self.card is not None, [self.card]),
        ]

    def _span(self) -> list[object]:
        return [self.session, self.session + "\U0010ffff"]


def _only_stars(pattern: str) -> str:
    """Return a GLOB pattern in which nothing but `*` is special."""
    return pattern.replace("[", "[[]").replace("?", "[?]")
