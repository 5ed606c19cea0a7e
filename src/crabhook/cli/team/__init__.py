"""`crabhook team`, `operators`, `machines` and `desk`: who may decide from elsewhere."""
