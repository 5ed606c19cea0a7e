"""A table of many rows that one test reads: a test for each would cost more than what it tries."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def every_row(names: str, rows: Iterable[Any]) -> Callable[[Callable[..., None]], Any]:
    """Call a test with each of these rows, and say of all that fail which they are and why.

    It takes the place of `pytest.mark.parametrize` where a row needs no fixture of its own.
    """
    words = [name.strip() for name in names.split(",")]
    table = [(row,) if len(words) == 1 else tuple(row) for row in rows]
    if not table:
        raise ValueError(f"no row for {names}: the test would hold nothing")

    def read_by(test: Callable[..., None]) -> Any:
        def all_rows(**fixtures: Any) -> None:
            __tracebackhide__ = True
            failed: dict[str, BaseException] = {}
            for row in table:
                values = dict(zip(words, row, strict=True))
                try:
                    test(**values, **fixtures)
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - told below
                    failed[repr(values)] = error
            if failed:
                told = "\n".join(f"{row:.500}: {error}" for row, error in failed.items())
                message = f"{len(failed)} of {len(table)} rows fail:\n{told}"
                raise AssertionError(message) from next(iter(failed.values()))

        signature = inspect.signature(test)
        kept = [value for name, value in signature.parameters.items() if name not in words]
        for name in ("__name__", "__qualname__", "__module__", "__doc__"):
            setattr(all_rows, name, getattr(test, name))
        all_rows.__dict__.update(vars(test))  # marks
        all_rows.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
        return all_rows

    return read_by
