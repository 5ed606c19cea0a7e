"""Requests and answers as frozen values, without I/O and without a clock."""
