"""crabhook: takes coding agents' questions to one operator."""

__version__ = "0.1.0"
