"""Floor 2: the state machine that pairs requests with decisions; told facts, it returns effects.

It never waits, has no clock and starts nothing: `server.core.runner` tells it what
happened and carries out what it asks for, in order.
"""
