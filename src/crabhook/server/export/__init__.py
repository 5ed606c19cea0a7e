"""Sends the record to a receiver elsewhere, behind the decisions and never in their way."""
