"""What a server owes to the service manager that started it: systemd, or its like."""
