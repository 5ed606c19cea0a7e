"""The record in the formats of other people's systems: OCSF, CEF, OpenTelemetry.

Everything here is made from records, which have no secrets any more.
"""
