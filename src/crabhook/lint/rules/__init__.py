"""The rules: functions from facts to remarks, and the tables that name them."""
