"""The server under a service manager such as systemd: its sockets, and its notifications."""
