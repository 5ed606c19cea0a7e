"""What one would use in crabhook's place, each written as favourably to itself as it can be."""
