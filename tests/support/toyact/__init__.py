"""An act that does not exist: the rows of a table, and the checks that it passes everywhere."""
