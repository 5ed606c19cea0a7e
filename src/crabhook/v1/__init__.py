"""The wire, GENERATED from proto/crabhook/v1 by `make proto`; this line alone is written by hand."""
