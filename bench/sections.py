"""The sections of the bench, in the order in which they are measured; each can be had alone."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from bench import deciding, desks, drawing, judging, keys, loaded, stages, starting
from bench.beside import instead_text, instead_values, posts_text
from bench.contenders import contenders
from bench.found import Found, Series, Wishes
from bench.growth import grown
from bench.results import compared, compared_values, waited, waited_values
from bench.rounds import play
from bench.serving import running_server
from bench.waiting import kill_some, let_wait
from crabhook.install.program import compile_hook

GROWTH = "growth"
GROWTH_DRAWS_ON = ("rules", "load", "screen")


def hooks(wishes: Wishes) -> Found:
    """Compare whole hook processes with their floors, and with what one would use instead."""
    compile_hook()  # as the installer does
    with running_server() as server:
        with contenders(server) as (ready, left_out):
            runs = play(ready, wishes.rounds, server.environment)
        server.told.end()
        decided, _, delivered = server.told.line("decided")
    receipts = f"The operator decided {decided} calls; {delivered} are known to have arrived."
    beside = f"{instead_text(runs, left_out)}\n{posts_text(runs)}"
    values = compared_values(runs) | instead_values(runs, left_out) | {"receipts": receipts}
    return Found(f"{receipts}\n\n{compared(runs)}\n{beside}", values)


def waiting(wishes: Wishes) -> Found:
    """Let many requests wait at a server without a record or rules, and kill hooks that wait."""
    if not wishes.waiting:
        return Found("Left out.\n", waited_values([], []))
    held, kills = [let_wait(number) for number in wishes.waiting], kill_some()
    fewer = [
        f"Note: this system's file limit lets {one.number} wait, not {wanted}.\n"
        for one, wanted in zip(held, wishes.waiting, strict=True)
        if one.number < wanted
    ]
    return Found("".join(fewer) + waited(held, kills), waited_values(held, kills))


MEASURED: Mapping[str, Callable[[Wishes], Found]] = {
    "hooks": hooks,
    "waiting": waiting,
    "start": starting.measure,
    "keys": keys.measure,
    "desks": desks.measure,
    "rules": judging.measure,
    "stages": stages.measure,
    "decisions": deciding.measure,
    "load": loaded.measure,
    "screen": drawing.measure,
}
SECTIONS = (*MEASURED, GROWTH)


def chosen(only: Collection[str]) -> Sequence[str]:
    """Return the sections to measure, all where none is named, and those that growth draws on."""
    wanted = {*(only or SECTIONS), *(GROWTH_DRAWS_ON if GROWTH in only else ())}
    return [name for name in SECTIONS if name in wanted]


def measured(names: Sequence[str], wishes: Wishes) -> Iterator[tuple[str, Found]]:
    """Measure the sections, one after the other; growth last, from what the others found."""
    series: list[Series] = []
    for name in names:
        found = grown(series) if name == GROWTH else MEASURED[name](wishes)
        series += found.series
        yield name, found
