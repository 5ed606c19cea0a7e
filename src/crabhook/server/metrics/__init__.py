"""The server's metrics: counters, gauges and timings."""
