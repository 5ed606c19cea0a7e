"""A receiver of an exported record, which counts what comes and keeps nothing.

Run as a process with `syslog` or `http` it takes a port, and is dead until the line `open`. It says
`port NUMBER` and `open`. To each other line it says `came RECORDS FIRST LAST GAPS DOUBLES`, and it
ends when its standard input does.
"""

import asyncio
import re
import sys
from contextlib import AsyncExitStack

from bench.process import say
from tests.support.receivers import HttpSink, SyslogSink, opened

SYSLOG, HTTP = "syslog", "http"
_NUMBERS = {
    SYSLOG: re.compile(rb'\[meta sequenceId="(\d+)"\]'),
    HTTP: re.compile(rb'"crabhook\.seq","value":\{"intValue":"(\d+)"'),
}


class Arrivals(list[bytes]):
    """The numbers of the records in what came, by a pattern: how many, and whether in order."""

    def __init__(self, pattern: re.Pattern[bytes]) -> None:
        super().__init__()
        self._pattern = pattern
        self.records = self.first = self.last = self.gaps = self.doubles = 0

    def append(self, content: bytes) -> None:
        """Take in what came at a time, of which nothing but the numbers is kept."""
        for number in map(int, self._pattern.findall(content)):
            if not self.records:
                self.first, self.last = number, number - 1
            self.records += 1
            self.gaps += number > self.last + 1
            self.doubles += number <= self.last
            self.last = max(self.last, number)


async def _receive(way: str) -> None:
    """Take a port and give it back; then do what the lines say."""
    arrivals = Arrivals(_NUMBERS[way])
    sink = SyslogSink(streams=arrivals) if way == SYSLOG else HttpSink(bodies=arrivals)
    async with opened(sink):
        pass
    say("port", sink.port)
    async with AsyncExitStack() as stack:
        while line := await asyncio.to_thread(sys.stdin.readline):
            if line == "open\n":
                await stack.enter_async_context(opened(sink))
                say("open")
                continue
            a = arrivals
            say("came", a.records, a.first, a.last, a.gaps, a.doubles)


if __name__ == "__main__":
    asyncio.run(_receive(sys.argv[1]))
