"""What the system tells of another process: the memory it takes, the processor time it took."""

import os
from pathlib import Path
from time import clock_gettime

_OF_A_PROCESS = 2  # Linux: the clock of a process's time on a processor, all threads together


def resident(process: int) -> int | None:
    """Return the bytes of memory a process takes; None where the system does not tell in /proc."""
    try:
        pages = Path(f"/proc/{process}/statm").read_text(encoding="ascii")
    except FileNotFoundError:
        return None
    return int(pages.split()[1]) * os.sysconf("SC_PAGE_SIZE")


def processor_time(process: int) -> float:
    """Return the seconds of processor time a process took; not a number where nobody tells.

    Linux makes a clock of every process's time, exact to the nanosecond,
    where /proc counts in hundredths of a second.
    """
    try:
        return clock_gettime(~process << 3 | _OF_A_PROCESS)
    except OSError:
        return float("nan")
