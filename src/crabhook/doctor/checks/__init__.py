"""What the doctor looks at: each function looks at one thing and yields what it found."""
