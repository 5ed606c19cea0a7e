"""The state machine that pairs requests with decisions; it takes facts, returns effects.

The broker never waits, has no clock and starts nothing: `server.core.runner` tells it what happened
and carries out its effects in order.
"""
